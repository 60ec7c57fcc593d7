// Two bars in one: the pale one shows a size before, the full one after.

import { make } from './dom.js';
import { clamp } from './scale.js';

/**
 * @param {number} before
 * @param {number} after
 * @param {number} whole the size that takes the full width
 */
export function beforeAfterBars(before, after, whole) {
  const bar = (/** @type {number} */ size) => {
    const element = make('i');
    element.style.width = `${whole ? clamp((size / whole) * 100, size > 0 ? 0.5 : 0, 100) : 0}%`;
    return element;
  };
  return make('span', { class: 'bars', 'aria-hidden': 'true' }, bar(before), bar(after));
}
