// Which parts the list shows, and in which order.

import { find, findAs, make } from '../components/dom.js';
import { grouped } from '../components/numbers.js';
import { brief } from '../components/text.js';
import { KINDS, VERDICTS } from './data.js';
import { savedBy, zoneSize } from './model.js';

/** @typedef {import('./data.js').ReportPart} ReportPart */
/** @typedef {ReturnType<typeof createPartFilter>} PartFilter */

/**
 * Offers choices. An option's value is the key behind a sign, so that no key is mistaken for "all".
 * @template {string | number} Key
 * @param {string} id
 * @param {Key[]} keys
 * @param {Map<Key, number>} counts
 * @param {(key: Key) => string} nameOf
 */
function offer(id, keys, counts, nameOf) {
  const choice = findAs(id, HTMLSelectElement);
  const options = keys.map((key) =>
    make('option', { value: `=${key}` }, `${brief(nameOf(key), 50)} (${grouped(counts.get(key) ?? 0)})`),
  );
  choice.append(make('option', { value: '' }, 'all'), ...options);
  return choice;
}

/**
 * The form `#filters`. `onChange` is called whenever something else is to be shown.
 * @param {import('./model.js').ReportModel} model
 * @param {() => void} onChange
 */
export function createPartFilter({ parts, zones }, onChange) {
  const search = findAs('search', HTMLInputElement);
  const sort = findAs('sort', HTMLSelectElement);
  /** @type {string[] | null} */
  let texts = null;

  /** @param {(part: ReportPart) => string} keyOf */
  const count = (keyOf) => {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const part of parts) counts.set(keyOf(part), (counts.get(keyOf(part)) ?? 0) + 1);
    return counts;
  };
  const same = (/** @type {string} */ key) => key;
  const kinds = count((part) => part.kind);
  const kind = offer('filter-kind', KINDS.filter((key) => kinds.has(key)), kinds, same);
  const verdicts = count((part) => part.verdict);
  const verdict = offer('filter-verdict', VERDICTS.filter((key) => verdicts.has(key)), verdicts, same);
  const tools = count((part) => part.tool ?? '');
  const tool = offer('filter-tool', [...tools.keys()].sort(), tools, (key) => key || 'no tool');
  const sizes = new Map(zones.map((zone, index) => [index, zoneSize(zone)]));
  const zone = offer('filter-zone', [...sizes.keys()], sizes, (index) => zones[index].name);
  const choices = [kind, verdict, tool, zone];

  /** Lower case is made at the first search, not while the page opens. @param {number} index */
  const textOf = (index) => {
    texts ??= parts.map((part) =>
      [part.tool, part.subject, part.reason, part.preview].filter(Boolean).join('\n').toLowerCase(),
    );
    return texts[index];
  };

  /** @type {Record<string, (a: number, b: number) => number>} */
  const orders = {
    newest: (a, b) => b - a,
    largest: (a, b) => parts[b].size - parts[a].size || a - b,
    smallest: (a, b) => parts[a].size - parts[b].size || a - b,
    saved: (a, b) => savedBy(parts[b]) - savedBy(parts[a]) || a - b,
  };

  function found() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const band = zone.value ? zones[Number(zone.value.slice(1))] : null;
    /** @type {number[]} */
    const indices = [];
    parts.forEach((part, index) => {
      if (kind.value && part.kind !== kind.value.slice(1)) return;
      if (verdict.value && part.verdict !== verdict.value.slice(1)) return;
      if (tool.value && (part.tool ?? '') !== tool.value.slice(1)) return;
      if (band && (index < band.first_part || index > band.last_part)) return;
      if (words.length && !words.every((word) => textOf(index).includes(word))) return;
      indices.push(index);
    });
    const order = orders[sort.value];
    return order ? indices.sort(order) : indices;
  }

  function clear() {
    search.value = '';
    for (const choice of choices) choice.value = '';
    onChange();
  }

  find('filters').addEventListener('submit', (event) => event.preventDefault());
  search.addEventListener('input', onChange);
  for (const choice of [...choices, sort]) choice.addEventListener('change', onChange);
  find('clear').addEventListener('click', clear);

  return {
    found,
    clear,
    isSet: () => Boolean(search.value) || choices.some((choice) => choice.value),
    order: () => sort.value,
    /** Shows the parts of one tool only. @param {string} name */
    onlyTool(name) {
      search.value = '';
      for (const choice of choices) choice.value = choice === tool ? `=${name}` : '';
      onChange();
    },
    focus() {
      search.focus();
      search.select();
    },
  };
}
