// What each policy costs in every session. A sum over sessions hides that a policy may be fine in most of them and
// costly in a few. Places are shares of the width, so a strip fits any column.

import { draw, find, make } from '../components/dom.js';
import { fixed, median, percent } from '../components/numbers.js';
import { clamp, roundStep, ticks } from '../components/scale.js';
import { tableHead } from '../components/table.js';
import { brief } from '../components/text.js';

/** @typedef {import('./data.js').StudySession} StudySession */

// Beyond these, dots are at the edge: a few extremes would press all others together.
const LOWEST = 40;
const HIGHEST = 180;
// The smallest dot, and what the most costly session gets on top.
const SMALLEST = 1.8;
const LARGER = 4.2;

/**
 * Draws the strips of a view into `#strips`.
 * @param {import('./data.js').StudyView} view
 * @param {StudySession[]} sessions those of the view
 * @param {Set<string>} own the names of Secateur's own policies
 */
export function drawStrips(view, sessions, own) {
  const strips = view.rows.map((row, policy) => ({
    row,
    shares: sessions.map((session) => session.cost_pct[policy] ?? null),
  }));
  const known = strips.flatMap(({ shares }) => shares).filter((share) => share !== null);
  const low = clamp(Math.floor(Math.min(100, ...known) / 10) * 10, LOWEST, 90);
  const high = clamp(Math.ceil(Math.max(100, ...known) / 10) * 10, 110, HIGHEST);
  const at = (/** @type {number} */ share) => 2 + 96 * clamp((share - low) / (high - low), 0, 1);
  const marks = ticks(low, high, Math.max(10, roundStep(high - low, 8)));
  const largest = Math.max(1, ...sessions.map((session) => session.unpruned_cost));

  function scale() {
    const labels = marks.map((tick) => {
      const style = (tick - 100) % 40 === 0 ? 'mid' : 'mid extra';
      const text = `${fixed(tick, 0)}${tick === 100 ? ' %' : ''}`;
      return draw('text', { class: style, x: `${at(tick).toFixed(2)}%`, y: 14 }, text);
    });
    return draw('svg', { class: 'scale', 'aria-hidden': 'true' }, ...labels);
  }

  /** @type {(style: string, share: number, top: string, bottom: string) => SVGLineElement} */
  const upright = (style, share, top, bottom) => {
    const place = `${at(share).toFixed(2)}%`;
    return draw('line', { class: style, x1: place, x2: place, y1: top, y2: bottom });
  };

  /** One dot for each session; neighbours stand at different heights. @param {(number | null)[]} shares */
  function dots(shares) {
    return sessions.flatMap((session, index) => {
      const share = shares[index];
      if (share === null) return [];
      const radius = SMALLEST + LARGER * Math.sqrt(session.unpruned_cost / largest);
      const place = { cx: `${at(share).toFixed(2)}%`, cy: 12 + (((index * 7) % 5) - 2) * 2, r: radius.toFixed(1) };
      const style = share < LOWEST || share > HIGHEST ? 'beyond' : null;
      const title = draw('title', {}, `${brief(session.name, 120)}: ${percent(share, 1)}`);
      return [draw('circle', { class: style, ...place }, title)];
    });
  }

  /** @param {(typeof strips)[number]} strip */
  function line({ row, shares }) {
    const numbers = shares.filter((share) => share !== null);
    const [from, to] = row.cost_interval;
    const middle = median(numbers);
    const picture = draw(
      'svg',
      {
        role: 'img',
        'aria-label':
          `${numbers.length} sessions from ${percent(Math.min(...numbers), 0)} to ${percent(Math.max(...numbers), 0)}`,
      },
      ...marks.map((tick) => upright(tick === 100 ? 'whole' : 'tick', tick, '0', '100%')),
      ...dots(shares),
      middle === null ? null : upright('median', middle, '3', '21'),
    );
    if (from !== null && to !== null) {
      const width = Math.max(0.2, at(to) - at(from)).toFixed(2);
      picture.append(
        draw('rect', { class: 'interval', x: `${at(from).toFixed(2)}%`, width: `${width}%`, y: 26.5, height: 3 }),
        draw('circle', { class: 'together', cx: `${at(row.cost_pct).toFixed(2)}%`, cy: 28, r: 4 }),
      );
    }
    return make(
      'tr',
      { class: own.has(row.policy) ? 'own' : null },
      make('th', { scope: 'row' }, brief(row.policy, 60)),
      make('td', { class: 'strip' }, picture),
      make('td', { class: 'number' }, fixed(row.cost_pct, 1)),
      make('td', { class: 'number extra' }, `${fixed(from, 1)} – ${fixed(to, 1)}`),
      make('td', { class: 'number extra' }, fixed(middle, 1)),
    );
  }

  const head = tableHead([
    { name: 'Policy' },
    { name: '', style: 'strip' },
    { name: 'Together', style: 'number' },
    { name: '95 % interval', style: 'number extra' },
    { name: 'Median', style: 'number extra' },
  ]);
  head.querySelector('.strip')?.append(make('span', { class: 'hidden' }, 'Sessions'), scale());
  const rows = [...strips].sort((a, b) => b.row.cost_pct - a.row.cost_pct).map(line);
  find('strips').replaceChildren(make('table', { class: 'strips' }, head, make('tbody', {}, ...rows)));
}
