// Context over time: one line for each policy that is ticked. A slider under the picture moves from call to call, so
// that keys, fingers and screen readers get the numbers too; a pointer over the picture moves the slider.

import { floorMarks, frame, gridLines, linePath, pushApart } from '../components/chart.js';
import { draw, find, findAs, make, onWidth } from '../components/dom.js';
import { compact } from '../components/numbers.js';
import { clamp, linear, roundStep, ticks } from '../components/scale.js';
import { brief } from '../components/text.js';

/** @typedef {import('./data.js').ContextSession} ContextSession */

// Own policies share the accent and differ by dashes; others have one of six colours, then the same with dashes.
const DASHES = ['', '7 3', '2 2.5', '9 3 2 3'];
const COLOURS = 6;

/** @param {import('./data.js').StudyPolicy[]} policies */
function styled(policies) {
  let [owned, others] = [0, 0];
  return policies.map((policy, index) => {
    const name = brief(policy.name, 60);
    if (index === 0) return { name, own: false, style: 'line-none', dash: '' };
    if (policy.own) {
      const dash = policy.name === 'balanced' ? '' : DASHES[1 + (owned++ % 3)];
      return { name, own: true, style: 'line-own', dash };
    }
    const number = others++;
    return { name, own: false, style: `line-${number % COLOURS}`, dash: DASHES[Math.floor(number / COLOURS) % 4] };
  });
}

/**
 * The tokens of each request under each policy.
 * @param {ContextSession} session
 * @param {number} unit
 */
function unpack({ lines }, unit) {
  /** @type {number[][]} */
  const whole = [];
  for (const line of lines) {
    let sum = 0;
    whole.push(Array.isArray(line) ? line.map((grown) => (sum += grown) * unit) : whole[line]);
  }
  return whole;
}

/**
 * Draws the chart into `#contexts`.
 * @param {import('./data.js').ContextLines} data
 * @param {number} all how many sessions there are
 */
export function createContexts(data, all) {
  if (data.sessions.length === 0) return;
  const box = find('contexts-chart');
  const slider = findAs('call', HTMLInputElement);
  const select = findAs('session', HTMLSelectElement);
  const policies = styled(data.policies);
  const ticked = policies.map((policy, index) => index === 0 || policy.name === 'balanced');
  let session = data.sessions[0];
  let lines = unpack(session, data.unit);
  let cursor = draw('g');
  let x = linear([0, 1], [0, 1]);
  let y = linear([0, 1], [0, 1]);
  let plot = { left: 0, right: 1, top: 14, floor: 1 };

  const shownPolicies = () => policies.map((_, index) => index).filter((index) => ticked[index]);

  /** The flushes of each policy, in rows below the chart. @type {(flushed: number[], top: number, isWide: boolean) => SVGElement[]} */
  function flushes(flushed, top, isWide) {
    return flushed.flatMap((index, row) => {
      const start = top + row * (isWide ? 15 : 28) + (isWide ? 0 : 14);
      const d = session.broke[index].map((call) => `M${x(call).toFixed(1)} ${start}v9`).join('');
      const name = isWide ? { x: plot.right + 9, y: start + 9 } : { x: plot.left, y: start - 3 };
      const text = `${policies[index].name}: ${session.broke[index].length}`;
      return [
        draw('path', { class: 'rail', d: `M${plot.left} ${start + 9}H${plot.right}` }),
        draw('path', { class: `flush ${policies[index].style}`, d }),
        draw('text', { ...name, class: policies[index].own ? 'own' : '' }, isWide ? text : `flushes of ${text}`),
      ];
    });
  }

  /** Names at the ends of lines. @param {number[]} shown */
  function endNames(shown) {
    const names = shown.map((index) => ({ index, at: y(lines[index].at(-1) ?? 0) + 4 }));
    pushApart(names, 14, plot.floor + 4);
    return names.map(({ index, at }) =>
      draw('text', { class: `name ${policies[index].style}`, x: plot.right + 9, y: at }, policies[index].name),
    );
  }

  function redraw() {
    const width = Math.max(240, box.clientWidth);
    const isWide = width >= 700;
    const shown = shownPolicies();
    const flushed = shown.filter((index) => session.broke[index].length > 0);
    plot = { left: 46, right: width - (isWide ? 132 : 10), top: 14, floor: isWide ? 334 : 254 };
    const most = shown.reduce((top, index) => lines[index].reduce((a, b) => Math.max(a, b), top), 1) * 1.04;
    x = linear([0, Math.max(session.calls - 1, 1)], [plot.left, plot.right]);
    y = linear([0, most], [plot.floor, plot.top]);
    const rug = plot.floor + 34;
    const picture = frame(width, rug + flushed.length * (isWide ? 15 : 28) + 4, {
      role: 'img',
      'aria-labelledby': 'contexts-title contexts-about',
    });
    find('slider').style.paddingInlineEnd = `${width - plot.right - 8}px`;
    const marks = ticks(0, session.calls, roundStep(session.calls, isWide ? 10 : 5)).map((tick) => Math.max(tick, 1));
    const cold = session.cold.map((call) => `M${x(call).toFixed(1)} ${plot.top}V${plot.floor}`).join('');
    // Own policies lie above the others.
    const order = [...shown].sort((a, b) => Number(policies[a].own) - Number(policies[b].own) || a - b);
    cursor = draw('g', { class: 'at' });
    picture.append(
      gridLines(ticks(0, most, roundStep(most, 6)), y, { ...plot, bottom: 0 }, compact),
      floorMarks(marks, (call) => x(call - 1), plot.floor, String),
      draw('path', { class: 'cold-call', d: cold }),
      ...order.map((index) => {
        const { style, dash } = policies[index];
        const d = linePath(lines[index].map((count, call) => [x(call), y(count)]));
        return draw('path', { class: `policy-line ${style}`, 'stroke-dasharray': dash || 'none', d });
      }),
      ...(isWide ? endNames(shown) : []),
      ...flushes(flushed, rug, isWide),
      cursor,
    );
    if (isWide && flushed.length) picture.append(draw('text', { class: 'end', x: plot.left - 7, y: rug + 9 }, 'flush'));
    box.replaceChildren(picture);
    readCall();
  }

  /** Shows the numbers of the call that the slider is at. */
  function readCall() {
    const call = Number(slider.value) - 1;
    const shown = shownPolicies();
    cursor.replaceChildren(
      draw('path', { d: `M${x(call)} ${plot.floor}V${plot.top}` }),
      ...shown.map((index) =>
        draw('circle', { class: policies[index].style, cx: x(call), cy: y(lines[index][call]), r: 3.5 }),
      ),
    );
    const facts = shown.map((index) => {
      const flush = session.broke[index].includes(call) ? ', flushed' : '';
      return `${policies[index].name} ${compact(lines[index][call])}${flush}`;
    });
    const state = session.cold.includes(call) ? ' (cold cache)' : '';
    const text = `Call ${call + 1} of ${session.calls}${state}: ${facts.join(' · ')}`;
    find('reading').textContent = text;
    slider.setAttribute('aria-valuetext', text);
  }

  /** @param {number} index */
  function choose(index) {
    session = data.sessions[index];
    lines = unpack(session, data.unit);
    slider.max = String(session.calls);
    slider.value = slider.max;
    redraw();
  }

  /** @param {number} index */
  function tickBox(index) {
    const policy = policies[index];
    const tick = make('input', { type: 'checkbox', autocomplete: 'off' });
    tick.checked = ticked[index];
    tick.addEventListener('change', () => {
      ticked[index] = tick.checked;
      redraw();
    });
    const sample = draw('path', { class: `policy-line ${policy.style}`, 'stroke-dasharray': policy.dash || 'none', d: 'M0 5H26' });
    return make(
      'label',
      { class: policy.own ? 'own' : null },
      tick,
      draw('svg', { width: 26, height: 10, 'aria-hidden': 'true' }, sample),
      make('span', {}, policy.name),
    );
  }

  select.append(
    ...data.sessions.map(({ name, agent, calls }, index) =>
      make('option', { value: index }, `${brief(agent, 40)}: ${brief(name, 80)} (${calls} calls)`),
    ),
  );
  if (all > data.sessions.length) {
    find('contexts-about').append(` Shown are the ${data.sessions.length} most costly of ${all} sessions.`);
  }
  find('policies').append(...policies.map((_, index) => tickBox(index)));
  select.addEventListener('change', () => choose(Number(select.value)));
  slider.addEventListener('input', readCall);
  box.addEventListener('pointermove', (event) => {
    const place = event.clientX - box.getBoundingClientRect().left;
    const call = Math.round(((place - plot.left) / (plot.right - plot.left)) * Math.max(session.calls - 1, 1));
    slider.value = String(clamp(call, 0, session.calls - 1) + 1);
    readCall();
  });
  find('contexts').hidden = false;
  slider.max = String(session.calls);
  slider.value = slider.max;
  onWidth(box, redraw);
}
