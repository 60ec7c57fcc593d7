// The page on paper: light, without what cannot be pressed there, and with a plain table of the first parts of the
// list, since a list that only holds what is in sight has nothing for paper.

{
  const MANY = 200;
  const box = find('printed');

  function before() {
    theme.force('light');
    const found = list.found();
    const row = (index) => {
      const part = parts[index];
      const what = [part.tool, part.subject].filter(Boolean).join(' ');
      const size = part.after === part.size ? grouped(part.size) : `${grouped(part.size)} → ${grouped(part.after)}`;
      const cells = [String(index), `${roleOf(part)} ${part.kind}`, brief(what, 120), size, part.verdict];
      return make('tr', {}, ...[...cells, brief(part.reason, 120)].map((text) => make('td', {}, text)));
    };
    const titles = ['#', 'Role, kind', 'Tool, subject', 'Tokens', 'Verdict', 'Reason'];
    box.replaceChildren(
      make(
        'table',
        {},
        make('thead', {}, make('tr', {}, ...titles.map((name) => make('th', { scope: 'col' }, name)))),
        make('tbody', {}, ...found.slice(0, MANY).map(row)),
      ),
    );
    if (found.length > MANY) {
      box.append(make('p', {}, `These are the first ${MANY} of ${grouped(found.length)} parts.`));
    }
  }

  function after() {
    box.replaceChildren();
    theme.force(null);
  }

  addEventListener('beforeprint', before);
  addEventListener('afterprint', after);
}
