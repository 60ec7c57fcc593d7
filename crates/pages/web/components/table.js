// Tables: headings, rows, and headings that sort.

import { make } from './dom.js';

/** @typedef {{ name: string, style?: string, about?: string }} Heading */

/**
 * The head of a table.
 * @param {Heading[]} headings
 */
export function tableHead(headings) {
  const cells = headings.map(({ name, style, about }) =>
    make('th', { scope: 'col', class: style, title: about }, name),
  );
  return make('thead', {}, make('tr', {}, ...cells));
}

/**
 * @param {HTMLTableRowElement} row
 * @param {number} column
 */
function valueOf(row, column) {
  const text = row.cells[column].textContent ?? '';
  const number = Number(text.replace('−', '-'));
  return Number.isNaN(number) ? text : number;
}

/**
 * Turns the headings of a table into buttons that sort it: upwards first, downwards when pressed again.
 * @param {HTMLTableElement} table
 */
export function makeSortable(table) {
  const heads = [...(table.tHead?.rows[0].cells ?? [])];
  const body = table.tBodies[0];
  heads.forEach((head, column) => {
    const button = make('button', { type: 'button' }, ...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const sign = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
      for (const other of heads) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending');
      const rows = [...body.rows].map((row) => ({ row, value: valueOf(row, column) }));
      rows.sort(({ value: a }, { value: b }) => {
        const order = typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en');
        return sign * order;
      });
      body.append(...rows.map(({ row }) => row));
    });
  });
}
