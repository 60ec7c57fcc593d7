// Cost against misses. Low cost is easy if misses do not count, so neither is shown without the other, and the line
// through the policies that no other beats in both says which ones are worth a look.
//
// Most policies miss little, and what differs among those is what matters. So misses have a square-root scale.

import { floorMarks, frame, gridLines } from '../components/chart.js';
import { draw, find, make } from '../components/dom.js';
import { createLabels } from '../components/labels.js';
import { fixed, percent } from '../components/numbers.js';
import { linear, roundStep, ticks } from '../components/scale.js';
import { brief } from '../components/text.js';
import { viewName } from './data.js';

/** @typedef {import('./data.js').StudyRow} StudyRow */
/** @typedef {import('../components/chart.js').Point} Point */

const EDGE = { left: 46, right: 14, top: 28, bottom: 44 };
// Narrower pictures have numbers for names, and a list below says which is which.
const LEAST_WIDTH = 560;
// How wide a letter is and how high a line, on average.
const LETTER = 7.2;
const LINE = 15;
// Points that are nearer than this share a label.
const SAME_PLACE = 2.5;
// The misses that may be marked on the axis.
const MISSES = [0, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 15, 25, 50, 100];

/**
 * The rows that no other beats in both, the one with the fewest misses first.
 * @param {StudyRow[]} rows
 */
export function paretoFront(rows) {
  let best = Infinity;
  const order = [...rows].sort((a, b) => a.miss100 - b.miss100 || a.cost_pct - b.cost_pct);
  return order.filter((row) => {
    if (row.cost_pct >= best) return false;
    best = row.cost_pct;
    return true;
  });
}

/**
 * Draws the picture of a view into `#pareto`.
 * @param {import('./data.js').StudyView} view
 * @param {Set<string>} own the names of Secateur's own policies
 */
export function drawPareto(view, own) {
  const box = find('pareto');
  const { rows } = view;
  const front = paretoFront(rows);
  const width = Math.max(260, box.clientWidth);
  const hasNames = width >= LEAST_WIDTH;
  const height = hasNames ? Math.min(580, Math.max(480, width / 2)) : 400;
  const right = width - EDGE.right;
  const floor = height - EDGE.bottom;

  const costs = [...rows.map((row) => row.cost_pct), 100].filter(Number.isFinite);
  /** @type {[string, number | null][]} */
  const hindsight = [
    [hasNames ? 'best schedule in hindsight' : 'best in hindsight', view.best_pct],
    ['lower bound', view.bound_pct],
  ];
  const lowest = Math.min(...costs, ...hindsight.flatMap(([, cost]) => cost ?? []));
  const highest = Math.max(...costs);
  const [low, high] = [Math.max(0, lowest - Math.max(3, (highest - lowest) * 0.06)), highest + 5];
  const mostMisses = Math.max(1, ...rows.map((row) => row.miss100)) * 1.04;
  const y = linear([low, high], [floor, EDGE.top]);
  const x = (/** @type {number} */ misses) =>
    EDGE.left + Math.sqrt(Math.max(0, misses / mostMisses)) * (right - EDGE.left);
  /** @type {(row: StudyRow) => Point} */
  const placeOf = (row) => [x(row.miss100), y(row.cost_pct)];

  const labels = createLabels({
    x: EDGE.left + 3,
    y: EDGE.top - 14,
    width: width - EDGE.left - EDGE.right + 8,
    height: height - EDGE.top - EDGE.bottom + 12,
  });

  function axes() {
    let before = -Infinity;
    const misses = MISSES.filter((tick) => {
      if (tick > mostMisses || x(tick) < before + 26) return false;
      before = x(tick);
      return true;
    });
    const costTicks = ticks(low, high, roundStep(high - low, hasNames ? 9 : 7));
    return [
      gridLines(costTicks, y, { ...EDGE, right }, (tick) => fixed(tick, 0)),
      floorMarks(misses, x, floor, String),
      draw(
        'g',
        { class: 'axes' },
        draw('path', { class: 'axis', d: `M${EDGE.left} ${EDGE.top}V${floor}H${right}` }),
        draw('text', { class: 'title', x: 2, y: 12 }, 'Cost, % of no pruning ↓ cheaper'),
        draw('text', { class: 'title end', x: right, y: height - 5 }, 'safer ← misses per 100 calls, square-root scale'),
      ),
    ];
  }

  /** Between two policies of the front there is no other, so the line goes in steps. */
  function frontLine() {
    /** @type {Point | null} */
    let last = null;
    let path = '';
    for (const row of front) {
      const [px, py] = placeOf(row);
      if (last) {
        labels.avoidLine(last, [px, last[1]]);
        labels.avoidLine([px, last[1]], [px, py]);
        path += `H${px.toFixed(1)}V${py.toFixed(1)}`;
      } else {
        path += `M${px.toFixed(1)} ${EDGE.top}V${py.toFixed(1)}`;
      }
      last = [px, py];
    }
    if (!last) return null;
    labels.avoidLine(last, [right, last[1]]);
    return draw('path', { class: 'front', d: `${path}H${right}` });
  }

  function unprunedLine() {
    const text = 'no pruning = 100 %';
    const space = { x: right - text.length * LETTER, y: y(100) - 18, width: text.length * LETTER, height: 20 };
    // It is at the right end, unless points lie there.
    const isTaken = rows.some((row) => {
      const [px, py] = placeOf(row);
      return px > space.x - 6 && Math.abs(py - space.y - 10) < 16;
    });
    if (isTaken) space.x = EDGE.left + 4;
    labels.avoidSpace(space);
    labels.avoidLine([EDGE.left, y(100)], [right, y(100)]);
    const place = { class: isTaken ? 'start' : 'end', x: isTaken ? space.x : right, y: y(100) - 5 };
    return draw(
      'g',
      { class: 'unpruned' },
      draw('path', { d: `M${EDGE.left} ${y(100).toFixed(1)}H${right}` }),
      draw('text', place, text),
    );
  }

  /** What hindsight could reach, on the axis of no misses. */
  function hindsightMarks() {
    let above = -Infinity;
    return hindsight.flatMap(([name, cost]) => {
      if (cost === null) return [];
      const base = Math.max(y(cost) + 4, above + LINE);
      above = base;
      const text = `${name}, ${percent(cost, 1)}`;
      labels.avoidSpace({ x: EDGE.left, y: base - 12, width: text.length * LETTER + 18, height: LINE });
      return [
        draw(
          'g',
          { class: 'hindsight' },
          draw('path', { d: `M${EDGE.left} ${y(cost).toFixed(1)}l10 -5v10z` }),
          draw('text', { x: EDGE.left + 15, y: base }, text),
        ),
      ];
    });
  }

  /** @param {StudyRow} row */
  function styleOf(row) {
    if (own.has(row.policy)) return 'own';
    if (row.policy === 'none') return 'none';
    return front.includes(row) ? 'unbeaten' : 'beaten';
  }

  function points() {
    for (const row of rows) labels.avoidPoint(placeOf(row), 5);
    // Own policies and those of the front are labelled first, but drawn last, above the others.
    const ranks = ['own', 'unbeaten'];
    const rank = (/** @type {StudyRow} */ row) => (ranks.includes(styleOf(row)) ? ranks.indexOf(styleOf(row)) : 2);
    const order = [...rows].sort((a, b) => rank(a) - rank(b));
    const labelled = new Set();
    const groups = order.map((row) => {
      const [cx, cy] = placeOf(row);
      const title =
        `${brief(row.policy, 60)}: ${percent(row.cost_pct, 1)} of the cost, ` +
        `${fixed(row.miss100, 2)} misses per 100 calls`;
      const group = draw('g', { class: `point ${styleOf(row)}` }, draw('title', {}, title));
      if (!labelled.has(row)) {
        const isNear = (/** @type {StudyRow} */ other) =>
          Math.hypot(placeOf(other)[0] - cx, placeOf(other)[1] - cy) < SAME_PLACE;
        const shared = order.filter(
          (other) => other === row || (!labelled.has(other) && !own.has(other.policy) && isNear(other)),
        );
        for (const other of shared) labelled.add(other);
        group.append(...label(row, shared));
      }
      group.append(draw('circle', { cx, cy, r: own.has(row.policy) ? 6 : 4.5 }));
      return group;
    });
    return groups.reverse();
  }

  /**
   * @param {StudyRow} row
   * @param {StudyRow[]} shared
   */
  function label(row, shared) {
    const text = shared
      .map((other) => (hasNames ? brief(other.policy, 60) : String(rows.indexOf(other) + 1)))
      .join(', ');
    const [px, py] = placeOf(row);
    // Below the front and to the left of it there is nothing else.
    const side = front.includes(row) ? 'left' : 'right';
    const { space, x: at, anchor, line } = labels.place([px, py], { width: text.length * LETTER, height: LINE, side });
    const lead = line ? [draw('path', { d: `M${px.toFixed(1)} ${py.toFixed(1)}L${line[0]} ${line[1]}` })] : [];
    return [...lead, draw('text', { class: anchor, x: at, y: space.y + 11.5 }, text)];
  }

  const unbeaten = front.map(
    (row) => `${brief(row.policy, 60)} ${percent(row.cost_pct, 0)} at ${fixed(row.miss100, 1)} misses`,
  );
  const picture = frame(width, height, {
    class: 'pareto',
    role: 'img',
    'aria-label':
      `Cost against misses per 100 calls, ${brief(viewName(view), 60)}. No other policy beats these in both: ` +
      `${unbeaten.join('; ')}. The table below has all numbers.`,
  });
  for (const element of [...axes(), frontLine(), unprunedLine(), ...hindsightMarks(), ...points()]) {
    if (element) picture.append(element);
  }
  const names = rows.map((row) => make('li', { class: own.has(row.policy) ? 'own' : '' }, brief(row.policy, 60)));
  const key = make('ol', { class: 'key', 'aria-hidden': 'true' }, ...names);
  box.replaceChildren(picture, ...(hasNames ? [] : [key]));
}
