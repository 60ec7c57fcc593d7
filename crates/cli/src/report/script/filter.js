// The filter: which parts the list shows, and in which order.

const filter = (() => {
  const search = find('search');
  const sort = find('sort');
  let texts = null;
  let onChange = () => {};

  const count = (keyOf) => {
    const counts = new Map();
    for (const part of parts) counts.set(keyOf(part), (counts.get(keyOf(part)) ?? 0) + 1);
    return counts;
  };

  // An option's value is the key behind a sign, so that no key is taken for "all".
  function offer(id, all, keys, counts, name = (key) => key) {
    const options = keys.map((key) =>
      make('option', { value: `=${key}` }, `${brief(name(key), 50)} (${grouped(counts.get(key) ?? 0)})`),
    );
    find(id).append(make('option', { value: '' }, all), ...options);
    return find(id);
  }

  const kinds = count((part) => part.kind);
  const kind = offer('filter-kind', 'all', KINDS.filter((key) => kinds.has(key)), kinds);
  const verdicts = count((part) => part.verdict);
  const verdict = offer('filter-verdict', 'all', VERDICTS.filter((key) => verdicts.has(key)), verdicts);
  const tools = count((part) => part.tool ?? '');
  const tool = offer('filter-tool', 'all', [...tools.keys()].sort(), tools, (key) => key || 'no tool');
  const zones = new Map(data.zones.map((zone, at) => [at, Math.max(0, zone.last_part - zone.first_part + 1)]));
  const zone = offer('filter-zone', 'all', [...zones.keys()], zones, (at) => data.zones[at].name);
  const choices = [kind, verdict, tool, zone];

  // Lower case is made when somebody first searches, not while the page opens.
  const textOf = (index) => {
    texts ??= parts.map((part) =>
      [part.tool, part.subject, part.reason, part.preview].filter(Boolean).join('\n').toLowerCase(),
    );
    return texts[index];
  };

  const ORDERS = {
    newest: (a, b) => b - a,
    largest: (a, b) => parts[b].size - parts[a].size || a - b,
    smallest: (a, b) => parts[a].size - parts[b].size || a - b,
    saved: (a, b) => savedBy(parts[b]) - savedBy(parts[a]) || a - b,
  };

  function found() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const band = zone.value ? data.zones[Number(zone.value.slice(1))] : null;
    const indices = [];
    parts.forEach((part, index) => {
      if (kind.value && part.kind !== kind.value.slice(1)) return;
      if (verdict.value && part.verdict !== verdict.value.slice(1)) return;
      if (tool.value && (part.tool ?? '') !== tool.value.slice(1)) return;
      if (band && (index < band.first_part || index > band.last_part)) return;
      if (words.length && !words.every((word) => textOf(index).includes(word))) return;
      indices.push(index);
    });
    return ORDERS[sort.value] ? indices.sort(ORDERS[sort.value]) : indices;
  }

  const isSet = () => Boolean(search.value) || choices.some((choice) => choice.value);

  function clear() {
    search.value = '';
    for (const choice of choices) choice.value = '';
    onChange();
  }

  find('filters').addEventListener('submit', (event) => event.preventDefault());
  search.addEventListener('input', () => onChange());
  for (const choice of [...choices, sort]) choice.addEventListener('change', () => onChange());
  find('clear').addEventListener('click', clear);

  return {
    found,
    isSet,
    clear,
    order: () => sort.value,
    only: (name) => {
      search.value = '';
      for (const choice of choices) choice.value = choice === tool ? `=${name}` : '';
      onChange();
    },
    onChange: (listener) => {
      onChange = listener;
    },
  };
})();
