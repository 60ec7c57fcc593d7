// The list of all parts. Only the rows in sight exist, so that it opens as fast with twenty thousand parts as with
// twenty. One row more always exists: the one that has the focus or would get it, or the keyboard would lose its
// place when somebody scrolls away from it.

const list = (() => {
  const rows = find('rows');
  const space = find('space');
  const grid = find('grid');
  const largest = parts.reduce((top, part) => Math.max(top, part.size), 0);
  const BEYOND = 8;

  let found = [];
  let active = 0;
  let chosen = null;
  let height = 40;
  const made = new Map();

  function row(position) {
    const index = found[position];
    const part = parts[index];
    const subject = [part.tool && make('b', {}, brief(part.tool, 60)), part.subject && ` ${brief(part.subject, 200)}`];
    // What no tool names is told apart by how it begins.
    const begins = make('span', { class: 'begins' }, brief(part.preview, 120));
    const size = part.after === part.size || part.verdict === 'gone'
      ? grouped(part.size)
      : `${grouped(part.size)} → ${grouped(part.after)}`;
    const cell = (style, ...children) => make('span', { role: 'gridcell', class: style }, ...children);
    const dot = make('i', { class: 'swatch', 'aria-hidden': 'true' });
    dot.style.backgroundColor = `var(${kindColour(part.kind)})`;
    const element = make(
      'div',
      { class: 'row', role: 'row', 'aria-rowindex': position + 2, 'data-index': index, 'data-position': position },
      cell('number', String(index)),
      cell('kind', dot, `${roleOf(part)} `, make('b', {}, part.kind)),
      cell('about', make('bdi', {}, ...(part.tool || part.subject ? subject.filter(Boolean) : [begins]))),
      cell('size', make('span', {}, size), tables.bars(part.size, part.verdict === 'gone' ? 0 : part.after, largest)),
      cell('verdict', detail.badge(part.verdict)),
      cell('reason', make('bdi', {}, brief(part.reason, 200))),
    );
    element.style.top = `${position * height}px`;
    return element;
  }

  // Brings the rows that exist in line with what is in sight.
  function render() {
    const first = Math.max(0, Math.floor(rows.scrollTop / height) - BEYOND);
    const last = Math.min(found.length - 1, Math.ceil((rows.scrollTop + rows.clientHeight) / height) + BEYOND);
    const wanted = (position) => (position >= first && position <= last) || position === active;
    for (const [position, element] of made) {
      if (wanted(position)) continue;
      element.remove();
      made.delete(position);
    }
    const fresh = [];
    for (let position = first; position <= last; position += 1) {
      if (!made.has(position)) fresh.push(position);
    }
    if (active < found.length && !made.has(active) && !fresh.includes(active)) fresh.push(active);
    for (const position of fresh) {
      const element = row(position);
      made.set(position, element);
      space.append(element);
    }
    for (const [position, element] of made) {
      element.tabIndex = position === active ? 0 : -1;
      element.setAttribute('aria-selected', String(found[position] === chosen));
    }
  }

  function refresh() {
    found = filter.found();
    const place = chosen === null ? -1 : found.indexOf(chosen);
    active = Math.max(0, place);
    for (const element of made.values()) element.remove();
    made.clear();
    measure();
    rows.scrollTop = place > 0 ? place * height - rows.clientHeight / 2 : 0;
    const size = found.reduce((sum, index) => sum + parts[index].size, 0);
    const all = found.length === parts.length;
    find('count').textContent =
      `${all ? '' : `${grouped(found.length)} of `}${counted(parts.length, 'part')}, ${counted(size, 'token')}`;
    grid.setAttribute('aria-rowcount', found.length + 1);
    find('clear').disabled = !filter.isSet();
    const nothing = find('nothing');
    nothing.hidden = found.length > 0;
    nothing.textContent = parts.length ? 'No part fits. Escape clears the search.' : 'The session has no parts.';
    rows.hidden = found.length === 0;
    const order = filter.order();
    const sorted = { order: 'ascending', newest: 'descending' }[order];
    set('.number', sorted);
    set('.size', { largest: 'descending', smallest: 'ascending' }[order]);
    render();
  }

  function set(column, sorted) {
    grid.querySelector(`.titles ${column}`).setAttribute('aria-sort', sorted ?? 'none');
  }

  function measure() {
    height = parseFloat(getComputedStyle(rows).getPropertyValue('--row')) || 40;
    space.style.height = `${found.length * height}px`;
    for (const [position, element] of made) element.style.top = `${position * height}px`;
  }

  function bringIntoSight(position) {
    const top = position * height;
    if (top < rows.scrollTop) rows.scrollTop = top;
    else if (top + height > rows.scrollTop + rows.clientHeight) rows.scrollTop = top + height - rows.clientHeight;
  }

  function choose(index) {
    chosen = index;
    detail.show(index);
    strip.select(index);
    render();
  }

  function moveTo(position) {
    active = clamp(position, 0, found.length - 1);
    bringIntoSight(active);
    choose(found[active]);
    made.get(active)?.focus({ preventScroll: true });
    uncover();
  }

  // On a narrow page the detail lies over the end of the list; the row that has the focus must not be under it.
  function uncover() {
    const focused = made.get(active)?.getBoundingClientRect();
    const sheet = find('detail').getBoundingClientRect();
    if (!focused || sheet.left >= focused.right || sheet.top >= focused.bottom) return;
    scrollBy(0, focused.bottom - sheet.top + 8);
  }

  // Selects a part named elsewhere on the page, even if the filter hides it at the moment.
  function reveal(index) {
    if (!found.includes(index)) filter.clear();
    const position = found.indexOf(index);
    if (position < 0) return;
    rows.scrollTop = position * height - rows.clientHeight / 2;
    moveTo(position);
    made.get(active)?.scrollIntoView({ block: 'nearest' });
    uncover();
  }

  function press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || found.length === 0) return;
    const page = Math.max(1, Math.floor(rows.clientHeight / height) - 1);
    const targets = {
      ArrowUp: active - 1,
      ArrowDown: active + 1,
      PageUp: active - page,
      PageDown: active + page,
      Home: 0,
      End: found.length - 1,
      ' ': active,
    };
    if (event.key === 'Enter') {
      moveTo(active);
      detail.focus();
    } else if (event.key in targets) moveTo(targets[event.key]);
    else return;
    event.preventDefault();
  }

  function back() {
    choose(null);
    made.get(active)?.focus({ preventScroll: true });
  }

  function show() {
    detail.show(null);
    detail.onClose(back);
    filter.onChange(refresh);
    let due = 0;
    rows.addEventListener('scroll', () => {
      due ||= requestAnimationFrame(() => {
        due = 0;
        render();
      });
    }, { passive: true });
    rows.addEventListener('keydown', press);
    rows.addEventListener('click', (event) => {
      const element = event.target.closest('.row');
      if (element) moveTo(Number(element.dataset.position));
    });
    refresh();
    new ResizeObserver(() => {
      measure();
      render();
    }).observe(rows);
  }

  return { show, reveal, back, found: () => found };
})();
