// Where the tokens are: all parts side by side, each as wide as it is large, above the zones of the plan. Below it, on
// the same scale, what is left with the profile.

import { cursorTarget } from '../components/chart.js';
import { find, findAs, make } from '../components/dom.js';
import { counted } from '../components/numbers.js';
import { clamp } from '../components/scale.js';
import { brief } from '../components/text.js';
import { KINDS } from './data.js';
import { kindColour, zoneSize } from './model.js';

/** @typedef {import('./data.js').ReportPart} ReportPart */

// More zones than this would not be told apart.
const MOST_ZONES = 40;

/** @param {ReportPart} part */
const isCut = (part) => part.verdict === 'cut' || part.verdict === 'trimmed';

/**
 * A pattern of oblique stripes in the colour of the paper.
 * @param {CanvasRenderingContext2D} pen
 * @param {number} ratio
 * @param {string} paper
 */
function hatch(pen, ratio, paper) {
  const tile = document.createElement('canvas');
  const side = Math.round(7 * ratio);
  tile.width = tile.height = side;
  const ink = tile.getContext('2d');
  if (!ink) return paper;
  ink.strokeStyle = paper;
  ink.lineWidth = 2.6 * ratio;
  ink.beginPath();
  for (const shift of [-side, 0, side]) {
    ink.moveTo(shift - 2, side + 2);
    ink.lineTo(shift + side + 2, -2);
  }
  ink.stroke();
  return pen.createPattern(tile, 'repeat') ?? paper;
}

/**
 * @param {string} colour
 * @param {string} [style]
 */
function swatch(colour, style = '') {
  const element = make('i', { class: `swatch ${style}`, 'aria-hidden': 'true' });
  element.style.backgroundColor = `var(${colour})`;
  return element;
}

/**
 * Draws the strip into `#strip`. `onPick` is called with the number of a part that is pressed.
 * @param {import('./model.js').ReportModel} model
 * @param {{ theme: import('../components/theme.js').Theme, tip: import('../components/tip.js').Tip }} page
 * @param {(index: number) => void} onPick
 */
export function createTokenStrip(model, { theme, tip }, onPick) {
  const { parts, zones } = model;
  const box = find('strip');
  const live = find('strip-live');
  const choice = findAs('strip-span', HTMLSelectElement);
  if (parts.length === 0) {
    box.replaceChildren(make('p', { class: 'nothing' }, 'The session has no parts.'));
    for (const name of ['role', 'tabindex', 'aria-describedby']) box.removeAttribute(name);
    find('strip-keys').hidden = true;
    find('strip-choice').hidden = true;
    return { select() {}, leave() {} };
  }
  const before = make('canvas', { class: 'before' });
  const after = make('canvas', { class: 'after' });
  const bands = make('div', { class: 'bands', 'aria-hidden': 'true' });
  const cursor = make('span', { class: 'mark', hidden: '' });
  const pick = make('span', { class: 'mark pick', hidden: '' });
  const stack = make('div', { class: 'stack' }, before, bands, pick, cursor);
  const names = [make('p', { class: 'name' }), make('p', { class: 'name' })];

  /** The parts that are shown. @type {number[]} */
  let order = [];
  /** The tokens before each of them. @type {number[]} */
  let starts = [];
  let total = 0;
  /** @type {number | null} */
  let at = null;
  /** @type {number | null} */
  let picked = null;

  /** @type {{ name: string, holds: (index: number) => boolean }[]} */
  const spans = [{ name: 'the whole session', holds: () => true }];
  if (parts.some((part) => part.verdict === 'gone')) {
    spans.push({ name: 'what is in the context', holds: (index) => parts[index].verdict !== 'gone' });
  }
  for (const zone of zones.slice(0, MOST_ZONES)) {
    const holds = (/** @type {number} */ index) => index >= zone.first_part && index <= zone.last_part;
    spans.push({ name: `only: ${brief(zone.name, 40)}`, holds });
  }

  function arrange() {
    const span = spans[choice.selectedIndex] ?? spans[0];
    order = [];
    starts = [];
    total = 0;
    parts.forEach((part, index) => {
      if (!span.holds(index)) return;
      order.push(index);
      starts.push(total);
      total += part.size;
    });
    at = null;
    cursor.hidden = true;
    redraw();
  }

  const share = (/** @type {number} */ position) => (total ? (starts[position] ?? total) / total : 0);

  /**
   * The first position from `low` on for which `isBehind` holds, if it holds for all after it.
   * @param {(position: number) => boolean} isBehind
   */
  function search(isBehind) {
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBehind(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The position of the part that covers a share of the strip. @param {number} where */
  const covering = (where) => Math.max(0, search((position) => share(position) > where) - 1);

  /** The first position whose part is not before the one named. @param {number} index */
  const firstFrom = (index) => search((position) => order[position] >= index);

  /** @param {number | null} index */
  function placeOf(index) {
    if (index === null) return null;
    const position = firstFrom(index);
    return order[position] === index ? position : null;
  }

  /**
   * Edges lie on whole dots, so that parts narrower than a dot neither blur nor hide what follows.
   * @param {HTMLCanvasElement} canvas
   * @param {(part: ReportPart) => number} sizeOf
   */
  function paint(canvas, sizeOf) {
    const ratio = devicePixelRatio || 1;
    const width = Math.max(1, Math.round(box.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext('2d');
    if (!pen) return;
    const colours = Object.fromEntries(KINDS.map((kind) => [kind, theme.colour(kindColour(kind))]));
    const stripes = hatch(pen, ratio, theme.colour('--panel'));
    let sum = 0;
    for (const index of order) {
      const part = parts[index];
      const left = Math.round((sum / (total || 1)) * width);
      sum += sizeOf(part);
      const right = Math.round((sum / (total || 1)) * width);
      if (right <= left) continue;
      const gap = right - left > 5 * ratio ? Math.max(1, Math.round(ratio / 2)) : 0;
      pen.globalAlpha = part.verdict === 'gone' ? 0.35 : 1;
      pen.fillStyle = colours[part.kind] ?? colours.other;
      pen.fillRect(left, 0, right - left - gap, height);
      pen.globalAlpha = 1;
      if (canvas === after || !isCut(part)) continue;
      const lost = Math.round((right - left) * clamp(1 - part.after / (part.size || 1), 0, 1));
      pen.fillStyle = stripes;
      pen.fillRect(right - lost, 0, lost, height);
    }
  }

  function redraw() {
    const left = (/** @type {ReportPart} */ part) => (part.verdict === 'gone' ? 0 : part.after);
    paint(before, (part) => part.size);
    paint(after, left);
    const rest = order.reduce((sum, index) => sum + left(parts[index]), 0);
    names[0].textContent = `${counted(order.length, 'part')}, ${counted(total, 'token')}`;
    names[1].textContent = `${counted(rest, 'token')} left with the profile`;
    bands.replaceChildren(
      ...zones.flatMap((zone) => {
        const first = share(firstFrom(zone.first_part));
        const width = share(firstFrom(zone.last_part + 1)) - first;
        if (!(width > 0)) return [];
        const band = make('span', {}, brief(zone.name, 40));
        band.style.left = `${first * 100}%`;
        band.style.width = `${width * 100}%`;
        band.style.backgroundColor = `var(${model.zoneColour(zone)})`;
        return [band];
      }),
    );
    mark(pick, placeOf(picked));
    if (at !== null) mark(cursor, at);
  }

  /**
   * @param {HTMLElement} element
   * @param {number | null} position
   */
  function mark(element, position) {
    element.hidden = position === null;
    if (position === null) return;
    element.style.left = `${share(position) * 100}%`;
    element.style.width = `${(share(position + 1) - share(position)) * 100}%`;
  }

  /** @param {number} position */
  function move(position) {
    at = clamp(position, 0, order.length - 1);
    mark(cursor, at);
    const about = model.describe(order[at]);
    const frame = before.getBoundingClientRect();
    const middle = (share(at) + share(at + 1)) / 2;
    tip.show(
      [
        make('b', {}, make('bdi', {}, about.name)),
        make('span', {}, about.size),
        make('span', { class: 'dim' }, make('bdi', {}, about.reason)),
      ],
      frame.left + middle * frame.width,
      frame.top,
    );
    return about;
  }

  function leave() {
    at = null;
    cursor.hidden = true;
    tip.hide();
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    const start = placeOf(picked) ?? 0;
    const target = cursorTarget(event, { at, start, count: order.length });
    if (target !== null) {
      event.preventDefault();
      const about = move(target);
      live.textContent = `${about.name}. ${about.size}. ${about.reason}.`;
    } else if ((event.key === 'Enter' || event.key === ' ') && order.length) {
      event.preventDefault();
      onPick(order[at ?? start]);
    }
  }

  /** @param {MouseEvent} event */
  const positionUnder = (event) => {
    const frame = before.getBoundingClientRect();
    return covering(clamp((event.clientX - frame.left) / frame.width, 0, 1));
  };

  function legends() {
    const present = KINDS.filter((kind) => parts.some((part) => part.kind === kind));
    const entries = present.map((kind) => make('li', {}, swatch(kindColour(kind)), kind));
    if (parts.some(isCut)) entries.push(make('li', {}, swatch('--kind-result', 'hatched'), 'cut'));
    if (parts.some((part) => part.verdict === 'gone')) {
      entries.push(make('li', {}, swatch('--kind-result', 'faded'), 'no longer in the context'));
    }
    find('strip-legend').append(...entries);
    find('zones').append(
      ...zones.slice(0, MOST_ZONES).map((zone) => {
        const name = make('b', {}, brief(zone.name, 60));
        const text = make('span', {}, name, ` ${counted(zoneSize(zone), 'part')}. ${brief(zone.about, 200)}`);
        return make('li', {}, swatch(model.zoneColour(zone)), text);
      }),
    );
  }

  choice.append(...spans.map(({ name }) => make('option', {}, name)));
  find('strip-choice').hidden = spans.length < 2;
  box.append(names[0], stack, after, names[1]);
  legends();
  choice.addEventListener('change', arrange);
  stack.addEventListener('pointermove', (event) => order.length && move(positionUnder(event)));
  stack.addEventListener('pointerleave', leave);
  stack.addEventListener('click', (event) => order.length && onPick(order[positionUnder(event)]));
  box.addEventListener('blur', leave);
  box.addEventListener('keydown', press);
  theme.onChange(redraw);
  arrange();
  new ResizeObserver(redraw).observe(box);

  return {
    /** Marks a part, or none. @param {number | null} index */
    select(index) {
      picked = index;
      mark(pick, placeOf(index));
    },
    leave,
  };
}
