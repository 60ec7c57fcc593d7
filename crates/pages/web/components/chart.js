// What all charts are drawn with: the frame, axes, lines, areas and the keys that move a cursor.

import { draw } from './dom.js';

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Edges */
/** @typedef {[number, number]} Point */

/**
 * An empty picture that is drawn dot by dot, without scaling.
 * @param {number} width
 * @param {number} height
 * @param {import('./dom.js').Attributes} [attributes]
 */
export function frame(width, height, attributes = {}) {
  return draw('svg', { width, height, viewBox: `0 0 ${width} ${height}`, ...attributes });
}

/**
 * Horizontal grid lines with their labels to the left.
 * @param {number[]} ticks
 * @param {(tick: number) => number} y
 * @param {Edges} edges the places of the left and right ends
 * @param {(tick: number) => string} label
 */
export function gridLines(ticks, y, { left, right }, label) {
  const lines = ticks.map((tick) => draw('path', { d: `M${left} ${y(tick).toFixed(1)}H${right}` }));
  const labels = ticks.map((tick) => draw('text', { class: 'end', x: left - 8, y: y(tick) + 4 }, label(tick)));
  return draw('g', { class: 'axes' }, ...lines, ...labels);
}

/**
 * Marks below the floor of a chart with their labels.
 * @param {number[]} ticks
 * @param {(tick: number) => number} x
 * @param {number} floor
 * @param {(tick: number) => string} label
 */
export function floorMarks(ticks, x, floor, label) {
  const marks = ticks.map((tick) => draw('path', { d: `M${x(tick).toFixed(1)} ${floor}v5` }));
  const labels = ticks.map((tick) => draw('text', { class: 'mid', x: x(tick), y: floor + 18 }, label(tick)));
  return draw('g', { class: 'axes' }, ...marks, ...labels);
}

/**
 * The path of a line. It breaks off where a point is missing.
 * @param {(Point | null)[]} points
 */
export function linePath(points) {
  let path = '';
  let pen = 'M';
  for (const point of points) {
    if (point) path += `${pen}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
    pen = point ? 'L' : 'M';
  }
  return path;
}

/**
 * The path of the area between two lines.
 * @param {Point[]} upper
 * @param {Point[]} lower
 */
export function areaPath(upper, lower) {
  const around = [...upper, ...[...lower].reverse()];
  return around.length ? `${linePath(around)}Z` : '';
}

/**
 * Moves labels apart that would lie on one another, and none below the limit.
 * @template {{ at: number }} T
 * @param {T[]} labels
 * @param {number} gap
 * @param {number} limit
 */
export function pushApart(labels, gap, limit) {
  labels.sort((a, b) => a.at - b.at);
  labels.forEach((label, index) => {
    if (index > 0) label.at = Math.max(label.at, labels[index - 1].at + gap);
  });
  let lowest = limit;
  for (const label of [...labels].reverse()) {
    label.at = Math.min(label.at, lowest);
    lowest = label.at - gap;
  }
}

/**
 * Where a key moves the cursor of a picture; null if it is not such a key. The first press only shows the cursor.
 * @param {KeyboardEvent} event
 * @param {{ at: number | null, start: number, count: number }} cursor
 * @returns {number | null}
 */
export function cursorTarget(event, { at, start, count }) {
  if (event.altKey || event.ctrlKey || event.metaKey || count === 0) return null;
  const now = at ?? start;
  const page = Math.max(10, Math.round(count / 20));
  const step = at === null ? 0 : 1;
  switch (event.key) {
    case 'ArrowLeft': return now - step;
    case 'ArrowRight': return now + step;
    case 'PageUp': return now - page;
    case 'PageDown': return now + page;
    case 'Home': return 0;
    case 'End': return count - 1;
    default: return null;
  }
}
