// Numbers as people read them. All pages format them here.

const DIGITS = new Intl.NumberFormat('en-US');
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/**
 * A whole number in groups of three digits: `1,234,567`.
 * @param {number} number
 */
export function grouped(number) {
  return DIGITS.format(number);
}

/**
 * A large number in short: `12.3k`.
 * @param {number} number
 */
export function compact(number) {
  return COMPACT.format(number).replace('K', 'k');
}

/**
 * A count with its noun.
 * @param {number} number
 * @param {string} noun
 */
export function counted(number, noun) {
  return `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
}

/**
 * A share of a whole in percent, with a decimal if it is small.
 * @param {number} part
 * @param {number} whole
 */
export function shareOf(part, whole) {
  if (!whole) return '0 %';
  const share = (part / whole) * 100;
  return `${share > 0 && share < 10 ? share.toFixed(1) : Math.round(share)} %`;
}

/**
 * A number with a fixed count of decimals; a dash if it is unknown.
 * @param {number | null} number
 * @param {number} places
 */
export function fixed(number, places) {
  if (number === null || !Number.isFinite(number)) return '–';
  const text = number.toFixed(places);
  if (!text.startsWith('-')) return text;
  // There is no minus before zero.
  return Number(text) === 0 ? text.slice(1) : `−${text.slice(1)}`;
}

/**
 * A number that is in percent already, with a fixed count of decimals and no line break before its sign.
 * @param {number | null} number
 * @param {number} places
 */
export function percent(number, places) {
  return `${fixed(number, places)}\u00a0%`;
}

/**
 * A moment in milliseconds since 1970 as a local date and time; empty if it is unknown or impossible.
 * @param {number | null | undefined} time
 */
export function dateTime(time) {
  const date = new Date(time ?? NaN);
  if (Number.isNaN(date.getTime())) return '';
  const two = (/** @type {number} */ number) => String(number).padStart(2, '0');
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}`
  );
}

/**
 * The middle of some numbers; null if there are none.
 * @param {number[]} numbers
 * @returns {number | null}
 */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
