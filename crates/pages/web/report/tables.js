// What the context is made of, by origin and by tool.

import { beforeAfterBars } from '../components/bars.js';
import { find, make } from '../components/dom.js';
import { grouped } from '../components/numbers.js';
import { tableHead } from '../components/table.js';
import { brief } from '../components/text.js';

/** @typedef {{ before: number, after: number }} Sizes */

// How many tools are shown at first.
const FEW = 9;

/** @type {Record<string, string>} */
const ORIGINS = {
  system: 'System',
  user: 'User',
  user_meta: 'Added to the user’s words',
  assistant: 'Assistant',
  reasoning: 'Reasoning',
  tool_call: 'Tool calls',
  tool_result: 'Tool results',
  summary: 'Summaries',
  media: 'Media',
};

/** @param {Sizes[]} rows */
const largest = (rows) => rows.reduce((top, row) => Math.max(top, row.before, row.after), 0);

/**
 * The cells with sizes.
 * @param {Sizes} row
 * @param {number} whole
 */
const sizeCells = ({ before, after }, whole) => [
  make('td', { class: 'number' }, grouped(before)),
  make('td', { class: 'number' }, grouped(after)),
  make('td', { class: 'chart' }, beforeAfterBars(before, after, whole)),
];

const SIZE_HEADINGS = [
  { name: 'Before', style: 'number' },
  { name: 'After', style: 'number' },
  { name: '', style: 'chart' },
];

/** @param {import('./data.js').ReportCategory[]} categories */
function showOrigins(categories) {
  const rows = categories.filter((row) => row.before || row.after).sort((a, b) => b.before - a.before);
  const whole = largest(rows);
  const body = rows.map((row) => {
    const name = make('th', { scope: 'row' }, ORIGINS[row.name] ?? brief(row.name, 60));
    return make('tr', {}, name, ...sizeCells(row, whole));
  });
  find('categories').append(tableHead([{ name: 'Origin' }, ...SIZE_HEADINGS]), make('tbody', {}, ...body));
}

/**
 * @param {import('./data.js').ReportTool[]} tools
 * @param {(name: string) => void} onPick
 */
function showTools(tools, onPick) {
  const rows = [...tools].sort((a, b) => b.before - a.before);
  const whole = largest(rows);
  const row = (/** @type {import('./data.js').ReportTool} */ tool) => {
    const label = `Show the parts of ${brief(tool.name, 60)}`;
    const button = make('button', { type: 'button', class: 'link', title: label }, brief(tool.name, 60));
    button.addEventListener('click', () => onPick(tool.name));
    return make(
      'tr',
      {},
      make('th', { scope: 'row' }, make('bdi', {}, button), make('small', {}, brief(tool.class, 40))),
      make('td', { class: 'number few' }, grouped(tool.calls)),
      ...sizeCells(tool, whole),
    );
  };
  const body = make('tbody', {}, ...rows.slice(0, FEW).map(row));
  if (rows.length === 0) body.append(make('tr', {}, make('td', { colspan: 5 }, 'No tool was called.')));
  const headings = [{ name: 'Tool' }, { name: 'Calls', style: 'number few' }, ...SIZE_HEADINGS];
  find('tools').append(tableHead(headings), body);
  const more = find('all-tools');
  more.hidden = rows.length <= FEW;
  more.textContent = `Show all ${grouped(rows.length)} tools`;
  more.addEventListener('click', () => {
    body.append(...rows.slice(FEW).map(row));
    more.hidden = true;
    body.rows[FEW].querySelector('button')?.focus();
  });
}

/**
 * Fills the tables `#categories` and `#tools`. `onPickTool` is called with the name of a tool that is pressed.
 * @param {import('./data.js').ReportData} data
 * @param {(name: string) => void} onPickTool
 */
export function showTables(data, onPickTool) {
  showOrigins(data.categories);
  showTools(data.tools, onPickTool);
}
