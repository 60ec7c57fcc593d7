// Texts of sessions come from anywhere. Characters that are invisible or that change the direction of what follows
// are shown by name.

const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * A text with every character visible, in one line.
 * @param {unknown} text
 * @returns {string}
 */
export function visible(text) {
  return String(text ?? '').replace(INVISIBLE, (point) => ('\n\t\r'.includes(point) ? ' ' : nameOf(point)));
}

/**
 * A text with every character visible that keeps its lines and tabs.
 * @param {unknown} text
 * @returns {string}
 */
export function visibleLines(text) {
  return String(text ?? '').replace(INVISIBLE, (point) => {
    if (point === '\r') return '';
    return point === '\n' || point === '\t' ? point : nameOf(point);
  });
}

/**
 * Control characters have pictures of their own, all others a number.
 * @param {string} point
 */
function nameOf(point) {
  const code = point.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/**
 * The beginning of a text, in one line.
 * @param {unknown} text
 * @param {number} length
 * @returns {string}
 */
export function brief(text, length) {
  const line = visible(String(text ?? '').slice(0, length + 1));
  return line.length > length ? `${line.slice(0, length)}…` : line;
}

/**
 * Items one after the other, the last after an "and".
 * @template T
 * @param {T[]} items
 * @returns {(T | string)[]}
 */
export function listed(items) {
  return items.flatMap((item, index) => {
    if (index === 0) return [item];
    return [index === items.length - 1 ? ' and ' : ', ', item];
  });
}
