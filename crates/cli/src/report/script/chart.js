// Context over time: one point a call of the model, three lines, the window, and what happened in between.

const chart = (() => {
  const box = find('chart');
  const live = find('chart-live');
  const { calls, compactions, totals } = data;
  const SERIES = [
    { key: 'estimated', name: 'without pruning' },
    { key: 'pruned', name: 'with the profile' },
    { key: 'recorded', name: 'recorded by the provider' },
  ].filter((series) => calls.some((call) => call[series.key] !== null));
  const edge = { top: 22, right: 14, bottom: 30, left: 50 };
  const HEIGHT = 280;

  let at = null;
  let scale = null;
  let cursor = null;

  // The first call that already sees a compaction's summary.
  const marks = compactions.map((compaction) => {
    const index = calls.findIndex((call) => call.message >= compaction.message);
    return { ...compaction, index: index < 0 ? calls.length - 1 : index };
  });

  const peak = calls.reduce((top, call) => Math.max(top, call.estimated, call.pruned, call.recorded ?? 0), 1);
  // A window many times larger would press the lines flat; then it is only named.
  const near = totals.window !== null && totals.window <= peak * 2.5;

  function ticks(top) {
    const rough = top / 5;
    const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
    const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    return Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step);
  }

  function measure() {
    const width = Math.max(200, box.clientWidth);
    const top = Math.max(peak, near ? totals.window : 0) * 1.06;
    const inner = width - edge.left - edge.right;
    const last = Math.max(1, calls.length - 1);
    const floor = HEIGHT - edge.bottom;
    return {
      width,
      top,
      floor,
      x: (index) => edge.left + (calls.length === 1 ? inner / 2 : (index / last) * inner),
      y: (size) => floor - (size / top) * (floor - edge.top),
      index: (x) => clamp(Math.round(((x - edge.left) / inner) * last), 0, calls.length - 1),
    };
  }

  // A line that breaks off where nothing is known.
  function line(key) {
    let path = '';
    let pen = 'M';
    calls.forEach((call, index) => {
      const size = call[key];
      if (size === null) {
        pen = 'M';
        return;
      }
      path += `${pen}${scale.x(index).toFixed(1)} ${scale.y(size).toFixed(1)}`;
      pen = 'L';
    });
    return path;
  }

  function between() {
    const there = calls.map((c, i) => `${scale.x(i).toFixed(1)} ${scale.y(c.estimated).toFixed(1)}`);
    const back = calls.map((c, i) => `${scale.x(i).toFixed(1)} ${scale.y(c.pruned).toFixed(1)}`).reverse();
    return `M${there.concat(back).join('L')}Z`;
  }

  function axes() {
    const right = scale.width - edge.right;
    const group = draw('g', { class: 'axes' });
    for (const size of ticks(scale.top)) {
      const y = scale.y(size);
      group.append(
        draw('line', { x1: edge.left, x2: right, y1: y, y2: y }),
        draw('text', { x: edge.left - 8, y: y + 4, 'text-anchor': 'end' }, compact(size)),
      );
    }
    const ends = [[0, 'start'], [calls.length - 1, 'end']];
    for (const [index, anchor] of calls.length > 1 ? ends : [[0, 'middle']]) {
      const when = moment(calls[index].time);
      const name = `call ${grouped(index + 1)}${when && scale.width > 520 ? ` · ${when}` : ''}`;
      const x = scale.x(index);
      group.append(draw('text', { x, y: HEIGHT - 8, 'text-anchor': anchor }, name));
    }
    return group;
  }

  function limit() {
    if (totals.window === null) return null;
    const right = scale.width - edge.right;
    const name = `window ${compact(totals.window)}`;
    if (!near) return draw('text', { class: 'limit', x: right, y: 12, 'text-anchor': 'end' }, `${name}, far above`);
    const y = scale.y(totals.window);
    return draw(
      'g',
      { class: 'limit' },
      draw('line', { x1: edge.left, x2: right, y1: y, y2: y }),
      draw('text', { x: right, y: y - 6, 'text-anchor': 'end' }, name),
    );
  }

  function happenings() {
    const group = draw('g');
    const cold = calls.flatMap((call, index) => (call.cold ? [scale.x(index)] : []));
    const path = cold.map((x) => `M${x.toFixed(1)} ${scale.floor + 3}l4 7h-8z`).join('');
    group.append(draw('path', { class: 'cold', d: path }));
    for (const mark of marks) {
      const x = scale.x(mark.index);
      group.append(draw('line', { class: 'compaction', x1: x, x2: x, y1: edge.top, y2: scale.floor }));
      group.append(draw('path', { class: 'compaction', d: `M${x} ${edge.top - 9}l5 5-5 5-5-5z` }));
    }
    return group;
  }

  function redraw() {
    if (calls.length === 0) return;
    scale = measure();
    const picture = draw('svg', {
      width: scale.width,
      height: HEIGHT,
      viewBox: `0 0 ${scale.width} ${HEIGHT}`,
      'aria-hidden': 'true',
    });
    cursor = draw('g', { class: 'cursor' });
    picture.append(axes(), draw('path', { class: 'saved', d: between() }), happenings());
    for (const { key } of SERIES) {
      picture.append(draw('path', { class: `series ${key}`, d: line(key) }));
      if (calls.length > 40) continue;
      calls.forEach((call, index) => {
        if (call[key] === null) return;
        const place = { cx: scale.x(index), cy: scale.y(call[key]), r: 2.5 };
        picture.append(draw('circle', { class: `dot ${key}`, ...place }));
      });
    }
    picture.append(...[limit(), cursor].filter(Boolean));
    box.replaceChildren(picture);
    if (at !== null) place();
  }

  function place() {
    const x = scale.x(at);
    const dots = SERIES.filter(({ key }) => calls[at][key] !== null).map(({ key }) =>
      draw('circle', { class: `dot ${key}`, cx: x, cy: scale.y(calls[at][key]), r: 4 }),
    );
    cursor.replaceChildren(draw('line', { x1: x, x2: x, y1: edge.top, y2: scale.floor }), ...dots);
  }

  function lines(call) {
    const found = SERIES.filter(({ key }) => call[key] !== null).map(({ key, name }) => [name, call[key]]);
    if (call.cached !== null) found.push(['from the cache', call.cached]);
    return found;
  }

  function notes(index) {
    const found = calls[index].cold ? ['the provider’s cache had gone cold'] : [];
    for (const mark of marks.filter((mark) => mark.index === index)) {
      found.push(mark.before === null ? 'after a compaction' : `after a compaction at ${compact(mark.before)}`);
    }
    return found;
  }

  function move(index) {
    at = clamp(index, 0, calls.length - 1);
    place();
    const call = calls[at];
    const name = `Call ${grouped(at + 1)} of ${grouped(calls.length)}`;
    const when = [moment(call.time), `message ${grouped(call.message + 1)}`].filter(Boolean).join(', ');
    const frame = box.getBoundingClientRect();
    tip.show(
      [
        make('b', {}, name),
        make('span', { class: 'dim' }, when),
        ...lines(call).map(([what, size]) => make('span', { class: 'two' }, what, make('b', {}, grouped(size)))),
        ...notes(at).map((note) => make('span', { class: 'dim' }, note)),
      ],
      frame.left + scale.x(at),
      frame.top + scale.y(call.estimated),
    );
    return [name, when, ...lines(call).map(([what, size]) => `${counted(size, 'token')} ${what}`), ...notes(at)];
  }

  function leave() {
    at = null;
    cursor?.replaceChildren();
    tip.hide();
  }

  function press(event) {
    const now = at ?? calls.length - 1;
    const page = Math.max(10, Math.round(calls.length / 20));
    const targets = {
      ArrowLeft: at === null ? now : now - 1,
      ArrowRight: at === null ? now : now + 1,
      PageUp: now - page,
      PageDown: now + page,
      Home: 0,
      End: calls.length - 1,
    };
    if (event.altKey || event.ctrlKey || event.metaKey || !(event.key in targets)) return;
    event.preventDefault();
    live.textContent = `${move(targets[event.key]).join(', ')}.`;
  }

  function legend() {
    const entry = (style, name) => {
      const swatch = draw('svg', { width: 22, height: 10, 'aria-hidden': 'true' });
      if (style === 'cold') swatch.append(draw('path', { class: 'cold', d: 'M11 1l4.5 8h-9z' }));
      else if (style === 'compaction') swatch.append(draw('path', { class: style, d: 'M11 0l5 5-5 5-5-5z' }));
      else swatch.append(draw('path', { class: `series ${style}`, d: 'M1 5h20' }));
      return make('li', {}, swatch, name);
    };
    const entries = SERIES.map(({ key, name }) => entry(key, name));
    if (marks.length) entries.push(entry('compaction', counted(marks.length, 'compaction')));
    const cold = calls.filter((call) => call.cold).length;
    if (cold) entries.push(entry('cold', `${counted(cold, 'call')} with a cold cache`));
    find('chart-legend').append(...entries);
  }

  function show() {
    if (calls.length === 0) {
      box.replaceChildren(make('p', { class: 'nothing' }, 'The session records no calls of a model.'));
      for (const name of ['role', 'tabindex', 'aria-describedby']) box.removeAttribute(name);
      find('chart-keys').hidden = true;
      return;
    }
    legend();
    new ResizeObserver(redraw).observe(box);
    box.addEventListener('pointermove', (event) => {
      move(scale.index(event.clientX - box.getBoundingClientRect().left));
    });
    box.addEventListener('pointerleave', leave);
    box.addEventListener('blur', leave);
    box.addEventListener('keydown', press);
    redraw();
  }

  return { show, leave };
})();
