// The tables: what the context is made of, by origin and by tool.

const tables = (() => {
  const FEW = 9;

  // Two bars in one: pale as long as before, full as long as after.
  function bars(before, after, whole) {
    const box = make('span', { class: 'bars', 'aria-hidden': 'true' }, make('i'), make('i'));
    const width = (size) => `${whole ? clamp((size / whole) * 100, size > 0 ? 0.5 : 0, 100) : 0}%`;
    box.children[0].style.width = width(before);
    box.children[1].style.width = width(after);
    return box;
  }

  const titles = (...names) =>
    make(
      'thead',
      {},
      make('tr', {}, ...names.map(([name, style]) => make('th', { scope: 'col', class: style }, name))),
    );

  const numbers = ({ before, after }) => [
    make('td', { class: 'number' }, grouped(before)),
    make('td', { class: 'number' }, grouped(after)),
  ];

  const largest = (rows) => rows.reduce((top, row) => Math.max(top, row.before, row.after), 0);

  function categories() {
    const rows = data.categories.filter((row) => row.before || row.after).sort((a, b) => b.before - a.before);
    const whole = largest(rows);
    const body = rows.map((row) =>
      make(
        'tr',
        {},
        make('th', { scope: 'row' }, NAMES[row.name] ?? brief(row.name, 60)),
        ...numbers(row),
        make('td', { class: 'chart' }, bars(row.before, row.after, whole)),
      ),
    );
    find('categories').append(
      titles(['Origin', ''], ['Before', 'number'], ['After', 'number'], ['', 'chart']),
      make('tbody', {}, ...body),
    );
  }

  function tools(pickTool) {
    const rows = [...data.tools].sort((a, b) => b.before - a.before);
    const whole = largest(rows);
    const row = (tool) => {
      const label = `Show the parts of ${brief(tool.name, 60)}`;
      const button = make('button', { type: 'button', class: 'link', title: label }, brief(tool.name, 60));
      button.addEventListener('click', () => pickTool(tool.name));
      return make(
        'tr',
        {},
        make('th', { scope: 'row' }, make('bdi', {}, button), make('small', {}, brief(tool.class, 40))),
        make('td', { class: 'number few' }, grouped(tool.calls)),
        ...numbers(tool),
        make('td', { class: 'chart' }, bars(tool.before, tool.after, whole)),
      );
    };
    const body = make('tbody', {}, ...rows.slice(0, FEW).map(row));
    if (rows.length === 0) body.append(make('tr', {}, make('td', { colspan: 5 }, 'No tool was called.')));
    find('tools').append(
      titles(['Tool', ''], ['Calls', 'number few'], ['Before', 'number'], ['After', 'number'], ['', 'chart']),
      body,
    );
    const more = find('all-tools');
    more.hidden = rows.length <= FEW;
    more.textContent = `Show all ${grouped(rows.length)} tools`;
    more.addEventListener('click', () => {
      body.append(...rows.slice(FEW).map(row));
      more.hidden = true;
      body.rows[FEW].querySelector('button').focus();
    });
  }

  return {
    show: (pickTool) => {
      categories();
      tools(pickTool);
    },
    bars,
  };
})();
