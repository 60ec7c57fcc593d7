// One part: what happens to it, why, and how it begins.

import { find, make } from '../components/dom.js';
import { dateTime, grouped, shareOf } from '../components/numbers.js';
import { brief, visible, visibleLines } from '../components/text.js';
import { VERDICTS } from './data.js';
import { savedBy } from './model.js';

/** @typedef {import('./data.js').ReportPart} ReportPart */

/** @type {Record<ReportPart['verdict'], string>} */
const MEANING = {
  cut: 'Replaced by a placeholder',
  trimmed: 'Its middle is removed, its ends stay',
  kept: 'Stays as it is',
  gone: 'No longer in the context',
};

/** @param {ReportPart['verdict']} verdict */
export function verdictBadge(verdict) {
  return make('span', { class: `badge ${VERDICTS.includes(verdict) ? verdict : ''}` }, verdict);
}

/**
 * A reason is a clause; here it becomes the end of a sentence.
 * @param {ReportPart} part
 */
function sentence(part) {
  const reason = visible(part.reason).trim().replace(/\.$/, '');
  return `${MEANING[part.verdict] ?? part.verdict}${reason ? `: ${reason}` : ''}.`;
}

/** @param {ReportPart} part */
function preview(part) {
  if (!part.preview) return [make('p', { class: 'dim' }, 'There is no text to show.')];
  const text = make('pre', { tabindex: 0, dir: 'auto', 'aria-label': 'Preview' }, visibleLines(part.preview));
  return part.clipped ? [text, make('p', { class: 'dim' }, 'The text goes on in the session.')] : [text];
}

/**
 * The box `#detail`. `onClose` is called when its button is pressed.
 * @param {import('./model.js').ReportModel} model
 * @param {() => void} onClose
 */
export function createPartDetail(model, onClose) {
  const { data, parts } = model;
  const box = find('detail');

  /** @param {number} index */
  function facts(index) {
    const part = parts[index];
    const message = data.messages[part.message];
    const zone = model.zoneOf(index);
    const place = `${grouped(part.message + 1)} of ${grouped(data.messages.length)}, ${model.roleOf(part)}`;
    const less = savedBy(part);
    const change = `${grouped(part.size)} → ${grouped(part.after)}, ${shareOf(less, part.size)} saved`;
    const list = [
      ['Tokens', less ? change : grouped(part.size)],
      ['Message', message?.summary ? `${place}, a summary` : place],
      ['Time', dateTime(message?.time)],
      ['Status', brief(part.status, 80)],
      ['Zone', zone ? `${brief(zone.name, 60)}. ${brief(zone.about, 200)}` : ''],
    ];
    return list.filter(([, value]) => value);
  }

  return {
    /** Shows a part, or none. @param {number | null} index */
    show(index) {
      box.classList.toggle('empty', index === null);
      if (index === null) {
        const hint = 'Select a part to see how it begins and why it is kept or cut.';
        box.replaceChildren(make('p', { class: 'dim' }, hint));
        return;
      }
      const part = parts[index];
      const close = make('button', { type: 'button', class: 'quiet', 'aria-label': 'Close the detail' }, '✕');
      close.addEventListener('click', onClose);
      const subject = [part.tool, part.subject].filter(Boolean).map((text) => make('bdi', {}, brief(text, 400)));
      box.replaceChildren(
        make('div', { class: 'line' }, make('h3', { tabindex: -1 }, `Part ${index}: ${part.kind}`), close),
        ...(subject.length ? [make('p', { class: 'subject' }, ...subject.flatMap((each) => [each, ' ']))] : []),
        make('p', { class: 'sentence' }, verdictBadge(part.verdict), ' ', sentence(part)),
        make('dl', {}, ...facts(index).flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)])),
        ...preview(part),
      );
      box.scrollTop = 0;
    },
    focus: () => box.querySelector('h3')?.focus(),
    /** @param {EventTarget | null} target */
    holds: (target) => target instanceof Node && box.contains(target),
    bounds: () => box.getBoundingClientRect(),
  };
}
