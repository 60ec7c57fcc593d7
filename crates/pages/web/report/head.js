// The head of a report: what the session is, and how much smaller the profile makes it.

import { find, make } from '../components/dom.js';
import { compact, counted, grouped, shareOf } from '../components/numbers.js';
import { clamp } from '../components/scale.js';
import { brief } from '../components/text.js';

/** @typedef {import('./data.js').ReportData} ReportData */

/** @param {ReportData} data */
function facts(data) {
  const { totals } = data;
  const list = [
    data.file,
    data.format,
    data.agent_version && `agent ${data.agent_version}`,
    data.model,
    counted(totals.messages, 'message'),
    counted(totals.parts, 'part'),
    counted(totals.tool_calls, 'tool call'),
    counted(totals.tool_results, 'result'),
  ];
  return list.filter(Boolean).map((text) => make('span', {}, make('bdi', {}, brief(text, 120))));
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string} note
 * @param {string} [style]
 */
function figure(name, value, note, style = '') {
  const text = make('dd', {}, make('strong', {}, value), make('span', {}, note));
  return make('div', { class: `figure ${style}` }, make('dt', {}, name), text);
}

/** @param {ReportData} data */
function figures({ totals, profile }) {
  const less = totals.before - totals.after;
  return make(
    'dl',
    { class: 'figures' },
    figure('Without pruning', grouped(totals.before), 'tokens'),
    figure(`With ${brief(profile.name, 40)}`, grouped(totals.after), 'tokens', 'after'),
    less >= 0
      ? figure('Saved', shareOf(less, totals.before), counted(less, 'token'), 'saved')
      : figure('Added', shareOf(-less, totals.before), counted(-less, 'token')),
  );
}

/**
 * One bar for each state: its share of the window, or of the largest state if no window is known.
 * @param {ReportData} data
 */
function gauges({ totals }) {
  const whole = totals.window ?? Math.max(totals.before, totals.after, totals.recorded_peak ?? 0);
  /** @type {[string, number, string][]} */
  const rows = [
    ['without pruning', totals.before, 'before'],
    ['with the profile', totals.after, 'after'],
  ];
  if (totals.recorded_peak) rows.push(['recorded peak', totals.recorded_peak, 'peak']);
  const title = totals.window
    ? `Share of the model’s window of ${counted(totals.window, 'token')}`
    : 'The size of the model’s window is not known';
  return make(
    'div',
    { class: 'fill' },
    make('p', {}, title),
    ...rows.map(([name, size, style]) => {
      const bar = make('span', { class: `bar ${style}${size > whole ? ' over' : ''}` });
      bar.style.width = `${clamp(whole ? (size / whole) * 100 : 0, 0, 100)}%`;
      return make(
        'div',
        { class: 'gauge' },
        make('span', { class: 'name' }, name),
        make('span', { class: 'track' }, bar),
        make('span', { class: 'value' }, totals.window ? shareOf(size, whole) : compact(size)),
      );
    }),
  );
}

/** @param {string[]} warnings */
function showWarnings(warnings) {
  const box = find('warnings');
  box.hidden = warnings.length === 0;
  const listed = warnings.slice(0, 100).map((text) => make('li', {}, brief(text, 1000)));
  const more = warnings.length - listed.length;
  if (more > 0) listed.push(make('li', {}, `and ${counted(more, 'further warning')}`));
  box.append(make('ul', {}, ...listed));
}

/** @param {ReportData} data */
export function showHead(data) {
  find('title').append(make('bdi', {}, brief(data.title, 300) || 'A session'));
  find('facts').append(...facts(data));
  const about = data.profile.about ? make('p', { class: 'about' }, brief(data.profile.about, 400)) : null;
  find('promise').append(make('div', {}, figures(data), about), gauges(data));
  find('foot').append(`Made by ${brief(data.generator, 100)}. This file is complete and makes no network requests.`);
  showWarnings(data.warnings);
}
