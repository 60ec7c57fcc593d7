// Words and numbers as people read them, and the elements that hold them.
//
// Texts of a session come from anywhere. They only ever become text nodes, and characters that would be invisible
// or would turn the direction of what follows are shown by name.

const find = (id) => document.getElementById(id);

// An element with attributes and children; strings become text nodes.
const make = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
};

const DIGITS = new Intl.NumberFormat('en-US');
const grouped = (number) => DIGITS.format(number);

const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const compact = (number) => COMPACT.format(number).replace('K', 'k');

const counted = (number, noun) => `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;

const percent = (part, whole) => {
  if (!whole) return '0 %';
  const share = (part / whole) * 100;
  return `${share > 0 && share < 10 ? share.toFixed(1) : Math.round(share)} %`;
};

// Control characters as their pictures, directional ones by number. Line ends and tabs stay if lines are wanted.
const shown = (text, lines) =>
  String(text ?? '').replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (point) => {
      const code = point.charCodeAt(0);
      if (point === '\n' || point === '\t') return lines ? point : ' ';
      if (point === '\r') return lines ? '' : ' ';
      if (code < 0x20) return String.fromCharCode(0x2400 + code);
      if (code === 0x7f) return '\u2421';
      return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
    },
  );

// The beginning of a text, in one line, for places where more would be noise.
const brief = (text, length) => {
  const line = shown(String(text ?? '').slice(0, length + 1), false);
  return line.length > length ? `${line.slice(0, length)}…` : line;
};

const moment = (time) => {
  const date = new Date(time ?? NaN);
  if (Number.isNaN(date.getTime())) return '';
  const two = (number) => String(number).padStart(2, '0');
  return (
    `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}`
  );
};

const NAMES = {
  system: 'System',
  user: 'User',
  user_meta: 'Added to the user’s words',
  assistant: 'Assistant',
  reasoning: 'Reasoning',
  tool_call: 'Tool calls',
  tool_result: 'Tool results',
  summary: 'Summaries',
  media: 'Media',
};

const KINDS = ['text', 'reasoning', 'signature', 'call', 'result', 'media', 'compaction', 'other'];
const VERDICTS = ['cut', 'trimmed', 'kept', 'gone'];

const FATE = {
  cut: 'A placeholder takes its place',
  trimmed: 'Its middle goes, its ends stay',
  kept: 'It stays as it is',
  gone: 'It is no longer in the context',
};

const clamp = (number, low, high) => Math.min(Math.max(number, low), high);
