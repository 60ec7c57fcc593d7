// Where the tokens are: every part side by side, as wide as it is large, above the bands of the plan. Below it, on
// the same scale, what is left with the profile.

const strip = (() => {
  const box = find('strip');
  const live = find('strip-live');
  const choice = find('strip-span');
  const before = make('canvas', { class: 'before' });
  const after = make('canvas', { class: 'after' });
  const bands = make('div', { class: 'bands', 'aria-hidden': 'true' });
  const cursor = make('span', { class: 'mark', hidden: '' });
  const pick = make('span', { class: 'mark pick', hidden: '' });
  const names = [make('p', { class: 'name' }), make('p', { class: 'name' })];

  let order = [];
  let starts = [];
  let total = 0;
  let at = null;
  let picked = null;
  let onPick = () => {};

  const spans = [{ name: 'the whole session', holds: () => true }];
  if (parts.some((part) => part.verdict === 'gone')) {
    spans.push({ name: 'what is in the context', holds: (index) => parts[index].verdict !== 'gone' });
  }
  for (const zone of data.zones.slice(0, 40)) {
    const holds = (index) => index >= zone.first_part && index <= zone.last_part;
    spans.push({ name: `only: ${brief(zone.name, 40)}`, holds });
  }

  function arrange() {
    const span = spans[choice.selectedIndex] ?? spans[0];
    order = [];
    starts = [];
    total = 0;
    parts.forEach((part, index) => {
      if (!span.holds(index)) return;
      order.push(index);
      starts.push(total);
      total += part.size;
    });
    at = null;
    cursor.hidden = true;
    redraw();
  }

  const share = (position) => (total ? (starts[position] ?? total) / total : 0);

  // The position of the part that covers a share of the strip.
  function covering(where) {
    let low = 0;
    let high = order.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (share(middle) <= where) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  const placeOf = (index) => {
    const position = firstFrom(index);
    return order[position] === index ? position : null;
  };

  // The first position whose part is not before the one named.
  function firstFrom(index) {
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (order[middle] < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function hatch(pen, ratio, paper) {
    const tile = document.createElement('canvas');
    const side = Math.round(7 * ratio);
    tile.width = tile.height = side;
    const ink = tile.getContext('2d');
    ink.strokeStyle = paper;
    ink.lineWidth = 2.6 * ratio;
    ink.beginPath();
    for (const shift of [-side, 0, side]) {
      ink.moveTo(shift - 2, side + 2);
      ink.lineTo(shift + side + 2, -2);
    }
    ink.stroke();
    return pen.createPattern(tile, 'repeat');
  }

  // Edges lie on whole dots, so that parts narrower than a dot neither blur nor hide what follows.
  function paint(canvas, sizeOf, fade) {
    const ratio = devicePixelRatio || 1;
    const width = Math.max(1, Math.round(box.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext('2d');
    const paper = theme.colour('--panel');
    const colours = Object.fromEntries(KINDS.map((kind) => [kind, theme.colour(kindColour(kind))]));
    const stripes = hatch(pen, ratio, paper);
    let sum = 0;
    for (const index of order) {
      const part = parts[index];
      const left = Math.round((sum / (total || 1)) * width);
      sum += sizeOf(part);
      const right = Math.round((sum / (total || 1)) * width);
      if (right <= left) continue;
      const gap = right - left > 5 * ratio ? Math.max(1, Math.round(ratio / 2)) : 0;
      pen.globalAlpha = fade(part);
      pen.fillStyle = colours[part.kind] ?? colours.other;
      pen.fillRect(left, 0, right - left - gap, height);
      pen.globalAlpha = 1;
      if (canvas === after || (part.verdict !== 'cut' && part.verdict !== 'trimmed')) continue;
      const lost = Math.round((right - left) * clamp(1 - part.after / (part.size || 1), 0, 1));
      pen.fillStyle = stripes;
      pen.fillRect(right - lost, 0, lost, height);
    }
  }

  function redraw() {
    paint(before, (part) => part.size, (part) => (part.verdict === 'gone' ? 0.35 : 1));
    const left = (part) => (part.verdict === 'gone' ? 0 : part.after);
    paint(after, left, () => 1);
    const rest = order.reduce((sum, index) => sum + left(parts[index]), 0);
    names[0].textContent = `${counted(order.length, 'part')}, ${counted(total, 'token')}`;
    names[1].textContent = `${counted(rest, 'token')} left with the profile`;
    bands.replaceChildren(
      ...data.zones.flatMap((zone) => {
        const first = share(firstFrom(zone.first_part));
        const width = share(firstFrom(zone.last_part + 1)) - first;
        if (!(width > 0)) return [];
        const band = make('span', {}, brief(zone.name, 40));
        band.style.left = `${first * 100}%`;
        band.style.width = `${width * 100}%`;
        band.style.backgroundColor = `var(${zoneColour(zone)})`;
        return [band];
      }),
    );
    mark(pick, picked === null ? null : placeOf(picked));
    if (at !== null) mark(cursor, at);
  }

  function mark(element, position) {
    element.hidden = position === null;
    if (position === null) return;
    element.style.left = `${share(position) * 100}%`;
    element.style.width = `${(share(position + 1) - share(position)) * 100}%`;
  }

  function move(position) {
    at = clamp(position, 0, order.length - 1);
    mark(cursor, at);
    const about = aboutPart(order[at]);
    const frame = before.getBoundingClientRect();
    const middle = (share(at) + share(at + 1)) / 2;
    tip.show(
      [
        make('b', {}, make('bdi', {}, about.name)),
        make('span', {}, about.size),
        make('span', { class: 'dim' }, make('bdi', {}, about.reason)),
      ],
      frame.left + middle * frame.width,
      frame.top,
    );
    return about;
  }

  function leave() {
    at = null;
    cursor.hidden = true;
    tip.hide();
  }

  function press(event) {
    const now = at ?? (picked === null ? null : placeOf(picked)) ?? 0;
    const page = Math.max(10, Math.round(order.length / 20));
    const targets = {
      ArrowLeft: at === null ? now : now - 1,
      ArrowRight: at === null ? now : now + 1,
      PageUp: now - page,
      PageDown: now + page,
      Home: 0,
      End: order.length - 1,
    };
    if (event.altKey || event.ctrlKey || event.metaKey || order.length === 0) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      onPick(order[now]);
    } else if (event.key in targets) {
      event.preventDefault();
      const about = move(targets[event.key]);
      live.textContent = `${about.name}. ${about.size}. ${about.reason}.`;
    }
  }

  const positionUnder = (event) => {
    const frame = before.getBoundingClientRect();
    return covering(clamp((event.clientX - frame.left) / frame.width, 0, 1));
  };

  function legends() {
    const swatch = (colour, style) => {
      const element = make('i', { class: `swatch ${style ?? ''}`, 'aria-hidden': 'true' });
      element.style.backgroundColor = `var(${colour})`;
      return element;
    };
    const present = KINDS.filter((kind) => parts.some((part) => part.kind === kind));
    const entries = present.map((kind) => make('li', {}, swatch(kindColour(kind)), kind));
    if (parts.some((part) => part.verdict === 'cut' || part.verdict === 'trimmed')) {
      entries.push(make('li', {}, swatch('--kind-result', 'hatched'), 'cut'));
    }
    if (parts.some((part) => part.verdict === 'gone')) {
      entries.push(make('li', {}, swatch('--kind-result', 'faded'), 'no longer in the context'));
    }
    find('strip-legend').append(...entries);
    find('zones').append(
      ...data.zones.slice(0, 40).map((zone) => {
        const name = make('b', {}, brief(zone.name, 60));
        const count = Math.max(0, zone.last_part - zone.first_part + 1);
        const text = make('span', {}, name, ` ${counted(count, 'part')}. ${brief(zone.about, 200)}`);
        return make('li', {}, swatch(zoneColour(zone)), text);
      }),
    );
  }

  function show(pickPart) {
    if (parts.length === 0) {
      box.replaceChildren(make('p', { class: 'nothing' }, 'The session has no parts.'));
      for (const name of ['role', 'tabindex', 'aria-describedby']) box.removeAttribute(name);
      find('strip-keys').hidden = true;
      choice.parentElement.hidden = true;
      return;
    }
    onPick = pickPart;
    choice.append(...spans.map(({ name }) => make('option', {}, name)));
    choice.parentElement.hidden = spans.length < 2;
    box.append(names[0], make('div', { class: 'stack' }, before, bands, pick, cursor), after, names[1]);
    legends();
    choice.addEventListener('change', arrange);
    const stack = before.parentElement;
    stack.addEventListener('pointermove', (event) => order.length && move(positionUnder(event)));
    stack.addEventListener('pointerleave', leave);
    stack.addEventListener('click', (event) => order.length && onPick(order[positionUnder(event)]));
    box.addEventListener('blur', leave);
    box.addEventListener('keydown', press);
    theme.onChange(redraw);
    arrange();
    new ResizeObserver(redraw).observe(box);
  }

  function select(index) {
    picked = index;
    if (parts.length) mark(pick, index === null ? null : placeOf(index));
  }

  return { show, select, leave };
})();
