// On paper, a plain table with the first parts stands for the list, which only holds the rows in sight.

import { find, make } from '../components/dom.js';
import { grouped } from '../components/numbers.js';
import { tableHead } from '../components/table.js';
import { brief } from '../components/text.js';
import { sizeText } from './model.js';

// How many parts are printed.
const MOST = 200;

/**
 * @param {import('./model.js').ReportModel} model
 * @param {() => number[]} found the parts that the list shows
 */
export function printParts({ parts, roleOf }, found) {
  const box = find('printed');

  addEventListener('beforeprint', () => {
    const row = (/** @type {number} */ index) => {
      const part = parts[index];
      const what = [part.tool, part.subject].filter(Boolean).join(' ');
      const cells = [String(index), `${roleOf(part)} ${part.kind}`, brief(what, 120), sizeText(part), part.verdict];
      return make('tr', {}, ...[...cells, brief(part.reason, 120)].map((text) => make('td', {}, text)));
    };
    const titles = ['#', 'Role, kind', 'Tool, subject', 'Tokens', 'Verdict', 'Reason'];
    const body = make('tbody', {}, ...found().slice(0, MOST).map(row));
    box.replaceChildren(make('table', {}, tableHead(titles.map((name) => ({ name }))), body));
    if (found().length > MOST) {
      box.append(make('p', {}, `These are the first ${MOST} of ${grouped(found().length)} parts.`));
    }
  });
  addEventListener('afterprint', () => box.replaceChildren());
}
