// The tip: a few lines beside the pointer or the cursor of a picture.

import { make } from './dom.js';
import { clamp } from './scale.js';

/** @typedef {ReturnType<typeof createTip>} Tip */

/** Adds the tip to the page. */
export function createTip() {
  const box = make('div', { class: 'tip', id: 'tip', role: 'presentation', hidden: '' });
  document.body.append(box);

  /**
   * Shows lines beside a place in the viewport.
   * @param {Node[]} lines
   * @param {number} x
   * @param {number} y
   */
  function show(lines, x, y) {
    box.replaceChildren(...lines);
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = x + 14 + width > innerWidth - 8 ? x - 14 - width : x + 14;
    box.style.left = `${clamp(left, 8, Math.max(8, innerWidth - width - 8))}px`;
    box.style.top = `${clamp(y - height - 10, 8, Math.max(8, innerHeight - height - 8))}px`;
  }

  function hide() {
    box.hidden = true;
  }

  addEventListener('scroll', hide, { passive: true });
  return { show, hide, isShown: () => !box.hidden };
}
