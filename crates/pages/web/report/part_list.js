// The list of all parts. Only the rows in sight exist, so that it opens as fast with twenty thousand parts as with
// twenty. One more row always exists: the one that has or would get the focus, or the keyboard would lose its place
// when the list is scrolled away from it.

import { beforeAfterBars } from '../components/bars.js';
import { find, findAs, make } from '../components/dom.js';
import { counted, grouped } from '../components/numbers.js';
import { clamp } from '../components/scale.js';
import { brief } from '../components/text.js';
import { kindColour, sizeText } from './model.js';
import { createPartDetail, verdictBadge } from './part_detail.js';
import { createPartFilter } from './part_filter.js';

// How many rows exist beyond those in sight.
const BEYOND = 8;

/**
 * The list `#grid` with its filter and detail. `onSelect` is called with the part that is selected, or null.
 * @param {import('./model.js').ReportModel} model
 * @param {(index: number | null) => void} onSelect
 */
export function createPartList(model, onSelect) {
  const { parts } = model;
  const rows = find('rows');
  const space = find('space');
  const grid = find('grid');
  const largest = parts.reduce((top, part) => Math.max(top, part.size), 0);
  const filter = createPartFilter(model, refresh);
  const detail = createPartDetail(model, back);

  /** @type {number[]} */
  let found = [];
  let active = 0;
  /** @type {number | null} */
  let chosen = null;
  let height = 40;
  /** The rows that exist, by position. @type {Map<number, HTMLElement>} */
  const made = new Map();

  /** @param {number} position */
  function row(position) {
    const index = found[position];
    const part = parts[index];
    const subject = part.subject ? ` ${brief(part.subject, 200)}` : null;
    // Parts without a tool are told apart by how they begin.
    const about =
      part.tool || part.subject
        ? [part.tool ? make('b', {}, brief(part.tool, 60)) : null, subject]
        : [make('span', { class: 'begins' }, brief(part.preview, 120))];
    /** @type {(style: string, ...children: import('../components/dom.js').Child[]) => HTMLElement} */
    const cell = (style, ...children) => make('span', { role: 'gridcell', class: style }, ...children);
    const dot = make('i', { class: 'swatch', 'aria-hidden': 'true' });
    dot.style.backgroundColor = `var(${kindColour(part.kind)})`;
    const left = part.verdict === 'gone' ? 0 : part.after;
    const element = make(
      'div',
      { class: 'row', role: 'row', 'aria-rowindex': position + 2, 'data-index': index, 'data-position': position },
      cell('number', String(index)),
      cell('kind', dot, `${model.roleOf(part)} `, make('b', {}, part.kind)),
      cell('about', make('bdi', {}, ...about)),
      cell('size', make('span', {}, sizeText(part)), beforeAfterBars(part.size, left, largest)),
      cell('verdict', verdictBadge(part.verdict)),
      cell('reason', make('bdi', {}, brief(part.reason, 200))),
    );
    element.style.top = `${position * height}px`;
    return element;
  }

  /** Makes the rows in sight and removes the others. */
  function render() {
    const first = Math.max(0, Math.floor(rows.scrollTop / height) - BEYOND);
    const last = Math.min(found.length - 1, Math.ceil((rows.scrollTop + rows.clientHeight) / height) + BEYOND);
    for (const [position, element] of made) {
      if ((position >= first && position <= last) || position === active) continue;
      element.remove();
      made.delete(position);
    }
    const add = (/** @type {number} */ position) => {
      if (made.has(position) || position >= found.length) return;
      const element = row(position);
      made.set(position, element);
      space.append(element);
    };
    for (let position = first; position <= last; position += 1) add(position);
    add(active);
    for (const [position, element] of made) {
      element.tabIndex = position === active ? 0 : -1;
      element.setAttribute('aria-selected', String(found[position] === chosen));
    }
  }

  function refresh() {
    found = filter.found();
    const place = chosen === null ? -1 : found.indexOf(chosen);
    active = Math.max(0, place);
    for (const element of made.values()) element.remove();
    made.clear();
    measure();
    rows.scrollTop = place > 0 ? place * height - rows.clientHeight / 2 : 0;
    const size = found.reduce((sum, index) => sum + parts[index].size, 0);
    const shown = found.length === parts.length ? '' : `${grouped(found.length)} of `;
    find('count').textContent = `${shown}${counted(parts.length, 'part')}, ${counted(size, 'token')}`;
    grid.setAttribute('aria-rowcount', String(found.length + 1));
    findAs('clear', HTMLButtonElement).disabled = !filter.isSet();
    const nothing = find('nothing');
    nothing.hidden = found.length > 0;
    nothing.textContent = parts.length ? 'No part matches. Escape clears the search.' : 'The session has no parts.';
    rows.hidden = found.length === 0;
    const order = filter.order();
    markSorted('.number', { order: 'ascending', newest: 'descending' }[order]);
    markSorted('.size', { largest: 'descending', smallest: 'ascending' }[order]);
    render();
  }

  /** @type {(column: string, sorted: string | undefined) => void} */
  function markSorted(column, sorted) {
    grid.querySelector(`.titles ${column}`)?.setAttribute('aria-sort', sorted ?? 'none');
  }

  function measure() {
    height = parseFloat(getComputedStyle(rows).getPropertyValue('--row')) || 40;
    space.style.height = `${found.length * height}px`;
    for (const [position, element] of made) element.style.top = `${position * height}px`;
  }

  /** @param {number} position */
  function bringIntoSight(position) {
    const top = position * height;
    if (top < rows.scrollTop) rows.scrollTop = top;
    else if (top + height > rows.scrollTop + rows.clientHeight) rows.scrollTop = top + height - rows.clientHeight;
  }

  /** @param {number | null} index */
  function choose(index) {
    chosen = index;
    detail.show(index);
    onSelect(index);
    render();
  }

  /** @param {number} position */
  function moveTo(position) {
    active = clamp(position, 0, found.length - 1);
    bringIntoSight(active);
    choose(found[active]);
    made.get(active)?.focus({ preventScroll: true });
    uncover();
  }

  /** On a narrow page the detail lies over the end of the list; the row with the focus must not be under it. */
  function uncover() {
    const focused = made.get(active)?.getBoundingClientRect();
    const sheet = detail.bounds();
    if (!focused || sheet.left >= focused.right || sheet.top >= focused.bottom) return;
    scrollBy(0, focused.bottom - sheet.top + 8);
  }

  /**
   * Selects a part that is named elsewhere on the page, even if the filter hides it.
   * @param {number} index
   */
  function reveal(index) {
    if (!found.includes(index)) filter.clear();
    const position = found.indexOf(index);
    if (position < 0) return;
    rows.scrollTop = position * height - rows.clientHeight / 2;
    moveTo(position);
    made.get(active)?.scrollIntoView({ block: 'nearest' });
    uncover();
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || found.length === 0) return;
    const page = Math.max(1, Math.floor(rows.clientHeight / height) - 1);
    /** @type {Record<string, number>} */
    const targets = {
      ArrowUp: active - 1,
      ArrowDown: active + 1,
      PageUp: active - page,
      PageDown: active + page,
      Home: 0,
      End: found.length - 1,
      ' ': active,
      Enter: active,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    moveTo(targets[event.key]);
    if (event.key === 'Enter') detail.focus();
  }

  function back() {
    choose(null);
    made.get(active)?.focus({ preventScroll: true });
  }

  detail.show(null);
  let due = 0;
  rows.addEventListener('scroll', () => {
    due ||= requestAnimationFrame(() => {
      due = 0;
      render();
    });
  }, { passive: true });
  rows.addEventListener('keydown', press);
  rows.addEventListener('click', (event) => {
    const element = event.target instanceof Element ? event.target.closest('.row') : null;
    if (element instanceof HTMLElement) moveTo(Number(element.dataset.position));
  });
  refresh();
  new ResizeObserver(() => {
    measure();
    render();
  }).observe(rows);

  return { reveal, back, detail, filter, found: () => found };
}
