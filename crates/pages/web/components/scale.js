// Scales: where a number lies in a picture, and which round numbers an axis shows.

/**
 * @param {number} number
 * @param {number} low
 * @param {number} high
 */
export function clamp(number, low, high) {
  return Math.min(Math.max(number, low), high);
}

/**
 * A linear scale: `low` lies at `from`, `high` at `to`.
 * @param {[number, number]} domain
 * @param {[number, number]} range
 * @returns {(number: number) => number}
 */
export function linear([low, high], [from, to]) {
  const span = high - low || 1;
  return (number) => from + ((number - low) / span) * (to - from);
}

/**
 * A round step (1, 2 or 5 times a power of ten) that divides a span into at most `count` steps.
 * @param {number} span
 * @param {number} count
 */
export function roundStep(span, count) {
  const rough = Math.max(span / count, 1e-6);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5].find((size) => size * power >= rough - 1e-9) ?? 10;
  return factor * power;
}

/**
 * The multiples of a step between two numbers.
 * @param {number} low
 * @param {number} high
 * @param {number} step
 * @returns {number[]}
 */
export function ticks(low, high, step) {
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.max(0, Math.floor(high / step + 1e-9) - first + 1);
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}
