// Context over time: one point for each model call, up to three lines, the window, and what happened in between.

import { areaPath, cursorTarget, frame, gridLines, linePath } from '../components/chart.js';
import { draw, find, make, onWidth } from '../components/dom.js';
import { compact, counted, dateTime, grouped } from '../components/numbers.js';
import { clamp, linear, roundStep, ticks } from '../components/scale.js';

/** @typedef {import('./data.js').ReportCall} ReportCall */
/** @typedef {'estimated' | 'pruned' | 'recorded'} SeriesKey */

const EDGE = { top: 22, right: 14, bottom: 30, left: 50 };
const HEIGHT = 280;
// With more calls, single points would only blur the lines.
const MOST_DOTS = 40;

/** @type {{ key: SeriesKey, name: string }[]} */
const SERIES = [
  { key: 'estimated', name: 'without pruning' },
  { key: 'pruned', name: 'with the profile' },
  { key: 'recorded', name: 'recorded by the provider' },
];

/**
 * Draws the chart into `#chart`.
 * @param {import('./data.js').ReportData} data
 * @param {import('../components/tip.js').Tip} tip
 */
export function createContextChart({ calls, compactions, totals }, tip) {
  const box = find('chart');
  const live = find('chart-live');
  if (calls.length === 0) {
    box.replaceChildren(make('p', { class: 'nothing' }, 'The session records no model calls.'));
    for (const name of ['role', 'tabindex', 'aria-describedby']) box.removeAttribute(name);
    find('chart-keys').hidden = true;
    return { leave() {} };
  }
  const series = SERIES.filter(({ key }) => calls.some((call) => call[key] !== null));
  // The first call that sees a compaction's summary.
  const marks = compactions.map((compaction) => {
    const index = calls.findIndex((call) => call.message >= compaction.message);
    return { ...compaction, index: index < 0 ? calls.length - 1 : index };
  });
  const peak = calls.reduce((top, call) => Math.max(top, call.estimated, call.pruned, call.recorded ?? 0), 1);
  // A window many times larger would press the lines flat; then it is only named.
  const shownWindow = totals.window !== null && totals.window <= peak * 2.5 ? totals.window : null;
  const top = Math.max(peak, shownWindow ?? 0) * 1.06;
  const last = Math.max(1, calls.length - 1);
  const floor = HEIGHT - EDGE.bottom;
  const y = linear([0, top], [floor, EDGE.top]);

  /** @type {number | null} */
  let at = null;
  let width = 0;
  let cursor = draw('g', { class: 'cursor' });
  const inner = () => width - EDGE.left - EDGE.right;
  const x = (/** @type {number} */ index) =>
    EDGE.left + (calls.length === 1 ? inner() / 2 : (index / last) * inner());

  /** @type {(key: SeriesKey) => ([number, number] | null)[]} */
  const pointsOf = (key) =>
    calls.map((call, index) => {
      const size = call[key];
      return size === null ? null : [x(index), y(size)];
    });
  const known = (/** @type {SeriesKey} */ key) => pointsOf(key).filter((point) => point !== null);

  function axes() {
    const group = gridLines(
      ticks(0, top, roundStep(top, 5)),
      y,
      { ...EDGE, right: width - EDGE.right },
      compact,
    );
    /** @type {[number, string][]} */
    const ends = calls.length > 1 ? [[0, 'start'], [calls.length - 1, 'end']] : [[0, 'mid']];
    for (const [index, anchor] of ends) {
      const when = dateTime(calls[index].time);
      const name = `call ${grouped(index + 1)}${when && width > 520 ? ` · ${when}` : ''}`;
      group.append(draw('text', { class: anchor, x: x(index), y: HEIGHT - 8 }, name));
    }
    return group;
  }

  function limit() {
    if (totals.window === null) return null;
    const right = width - EDGE.right;
    const name = `window ${compact(totals.window)}`;
    if (shownWindow === null) return draw('text', { class: 'limit end', x: right, y: 12 }, `${name}, far above`);
    const height = y(shownWindow);
    return draw(
      'g',
      { class: 'limit' },
      draw('path', { d: `M${EDGE.left} ${height}H${right}` }),
      draw('text', { class: 'end', x: right, y: height - 6 }, name),
    );
  }

  function events() {
    const cold = calls.flatMap((call, index) => (call.cold ? [x(index)] : []));
    const path = cold.map((place) => `M${place.toFixed(1)} ${floor + 3}l4 7h-8z`).join('');
    const group = draw('g', {}, draw('path', { class: 'cold', d: path }));
    for (const mark of marks) {
      const place = x(mark.index);
      group.append(
        draw('path', { class: 'compaction-line', d: `M${place} ${EDGE.top}V${floor}` }),
        draw('path', { class: 'compaction', d: `M${place} ${EDGE.top - 9}l5 5-5 5-5-5z` }),
      );
    }
    return group;
  }

  function redraw() {
    width = Math.max(200, box.clientWidth);
    const picture = frame(width, HEIGHT, { 'aria-hidden': 'true' });
    cursor = draw('g', { class: 'cursor' });
    picture.append(
      axes(),
      draw('path', { class: 'saved-area', d: areaPath(known('estimated'), known('pruned')) }),
      events(),
    );
    for (const { key } of series) {
      picture.append(draw('path', { class: `series ${key}`, d: linePath(pointsOf(key)) }));
      if (calls.length > MOST_DOTS) continue;
      picture.append(...known(key).map(([cx, cy]) => draw('circle', { class: `dot ${key}`, cx, cy, r: 2.5 })));
    }
    const window = limit();
    if (window) picture.append(window);
    picture.append(cursor);
    box.replaceChildren(picture);
    if (at !== null) placeCursor(at);
  }

  /** @param {number} index */
  function placeCursor(index) {
    const place = x(index);
    const dots = series.flatMap(({ key }) => {
      const size = calls[index][key];
      return size === null ? [] : [draw('circle', { class: `dot ${key}`, cx: place, cy: y(size), r: 4 })];
    });
    cursor.replaceChildren(draw('path', { d: `M${place} ${EDGE.top}V${floor}` }), ...dots);
  }

  /** @param {ReportCall} call */
  function sizes(call) {
    /** @type {[string, number][]} */
    const found = [];
    for (const { key, name } of series) {
      const size = call[key];
      if (size !== null) found.push([name, size]);
    }
    if (call.cached !== null) found.push(['from the cache', call.cached]);
    return found;
  }

  /** @param {number} index */
  function notes(index) {
    const found = calls[index].cold ? ['the provider’s cache had expired'] : [];
    for (const mark of marks.filter((mark) => mark.index === index)) {
      found.push(mark.before === null ? 'after a compaction' : `after a compaction at ${compact(mark.before)}`);
    }
    return found;
  }

  /** @param {number} index */
  function move(index) {
    at = clamp(index, 0, calls.length - 1);
    placeCursor(at);
    const call = calls[at];
    const name = `Call ${grouped(at + 1)} of ${grouped(calls.length)}`;
    const when = [dateTime(call.time), `message ${grouped(call.message + 1)}`].filter(Boolean).join(', ');
    const place = box.getBoundingClientRect();
    tip.show(
      [
        make('b', {}, name),
        make('span', { class: 'dim' }, when),
        ...sizes(call).map(([what, size]) => make('span', { class: 'two' }, what, make('b', {}, grouped(size)))),
        ...notes(at).map((note) => make('span', { class: 'dim' }, note)),
      ],
      place.left + x(at),
      place.top + y(call.estimated),
    );
    return [name, when, ...sizes(call).map(([what, size]) => `${counted(size, 'token')} ${what}`), ...notes(at)];
  }

  function leave() {
    at = null;
    cursor.replaceChildren();
    tip.hide();
  }

  function legend() {
    const entry = (/** @type {string} */ style, /** @type {string} */ name) => {
      const d = { cold: 'M11 1l4.5 8h-9z', compaction: 'M11 0l5 5-5 5-5-5z' }[style];
      const shape = d ? draw('path', { class: style, d }) : draw('path', { class: `series ${style}`, d: 'M1 5h20' });
      return make('li', {}, draw('svg', { width: 22, height: 10, 'aria-hidden': 'true' }, shape), name);
    };
    const entries = series.map(({ key, name }) => entry(key, name));
    if (marks.length) entries.push(entry('compaction', counted(marks.length, 'compaction')));
    const cold = calls.filter((call) => call.cold).length;
    if (cold) entries.push(entry('cold', `${counted(cold, 'call')} with a cold cache`));
    find('chart-legend').append(...entries);
  }

  legend();
  onWidth(box, redraw);
  box.addEventListener('pointermove', (event) => {
    const place = event.clientX - box.getBoundingClientRect().left;
    move(Math.round(((place - EDGE.left) / inner()) * last));
  });
  box.addEventListener('pointerleave', leave);
  box.addEventListener('blur', leave);
  box.addEventListener('keydown', (event) => {
    const target = cursorTarget(event, { at, start: calls.length - 1, count: calls.length });
    if (target === null) return;
    event.preventDefault();
    live.textContent = `${move(target).join(', ')}.`;
  });
  return { leave };
}
