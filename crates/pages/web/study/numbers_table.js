// All numbers of a view, to check or to sort.

import { find, make } from '../components/dom.js';
import { counted, fixed } from '../components/numbers.js';
import { makeSortable, tableHead } from '../components/table.js';
import { brief } from '../components/text.js';
import { viewName } from './data.js';

/** @typedef {import('./data.js').StudyRow} StudyRow */
/** @typedef {{ name: string, about: string, value: (row: StudyRow) => number | null, places: number }} Column */

/** @type {Column[]} */
const COLUMNS = [
  { name: 'Cost %', about: 'All costs, in percent of those without pruning', value: (row) => row.cost_pct, places: 1 },
  { name: 'from', about: 'Lower end of the 95 % interval of the cost', value: (row) => row.cost_interval[0], places: 1 },
  { name: 'to', about: 'Upper end of the 95 % interval of the cost', value: (row) => row.cost_interval[1], places: 1 },
  {
    name: 'Tokens %',
    about: 'Input tokens of all requests, in percent of those without pruning',
    value: (row) => row.tokens_pct,
    places: 1,
  },
  {
    name: 'Misses',
    about: 'Actions that did not find what they needed, per 100 calls',
    value: (row) => row.miss100,
    places: 2,
  },
  { name: 'of edits', about: 'Misses that were edits, per 100 calls', value: (row) => row.editmiss100, places: 2 },
  {
    name: 'Flushes',
    about: 'Cuts that invalidated a warm cache, per 100 calls',
    value: (row) => row.breaks100,
    places: 1,
  },
  {
    name: 'Unseen',
    about: 'Results that were cut or shortened before any call had seen them, per 100 calls',
    value: (row) => row.unseen100,
    places: 1,
  },
  {
    name: 'over best %',
    about: 'How much more it costs than the best schedule in hindsight',
    value: (row) => row.pct_over_optimum,
    places: 1,
  },
  {
    name: 'over bound %',
    about: 'How much more it costs than the lower bound',
    value: (row) => row.pct_over_bound,
    places: 1,
  },
];

/** @type {Column} */
const COMPACTIONS = {
  name: 'Compactions',
  about: 'How often sessions were compacted',
  value: (row) => row.compactions,
  places: 0,
};

/**
 * Draws the table of a view into `#numbers`.
 * @param {import('./data.js').StudyView} view
 * @param {import('./data.js').StudySession[]} sessions those of the view
 * @param {Set<string>} own the names of Secateur's own policies
 */
export function drawNumbers(view, sessions, own) {
  const columns = view.rows.some((row) => row.compactions > 0) ? [...COLUMNS, COMPACTIONS] : COLUMNS;
  const calls = sessions.reduce((sum, session) => sum + session.calls, 0);
  const name = brief(viewName(view), 60);
  const rows = view.rows.map((row) =>
    make(
      'tr',
      { class: own.has(row.policy) ? 'own' : null },
      make('th', { scope: 'row' }, brief(row.policy, 60)),
      ...columns.map(({ value, places }) => make('td', { class: 'number' }, fixed(value(row), places))),
    ),
  );
  const caption = `${view.agent === null ? 'All agents' : name}: ${counted(sessions.length, 'session')}, ${counted(calls, 'call')}`;
  const table = make(
    'table',
    { class: 'sortable' },
    make('caption', {}, caption),
    tableHead([{ name: 'Policy' }, ...columns.map((column) => ({ ...column, style: 'number' }))]),
    make('tbody', {}, ...rows),
  );
  makeSortable(table);
  const box = { class: 'scroll', role: 'region', tabindex: 0, 'aria-label': `All numbers of ${name}` };
  find('numbers').replaceChildren(make('div', box, table));
}
