// The theme: the system's, until the button says otherwise. Pictures on a canvas ask here for colours.

const theme = (() => {
  const root = document.documentElement;
  const button = find('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const listeners = [];
  let chosen = recall();
  let forced = null;

  // A browser may deny pages from files a memory.
  function recall() {
    try {
      const kept = localStorage.getItem('secateur-theme');
      return kept === 'dark' || kept === 'light' ? kept : null;
    } catch {
      return null;
    }
  }

  function remember() {
    try {
      localStorage.setItem('secateur-theme', chosen);
    } catch {
      // Then it is chosen again next time.
    }
  }

  const current = () => forced ?? chosen ?? (system.matches ? 'dark' : 'light');

  function apply() {
    root.dataset.theme = current();
    const other = current() === 'dark' ? 'Light' : 'Dark';
    button.textContent = other;
    button.setAttribute('aria-label', `${other} theme`);
    for (const listener of listeners) listener();
  }

  button.addEventListener('click', () => {
    chosen = current() === 'dark' ? 'light' : 'dark';
    remember();
    apply();
  });
  system.addEventListener('change', apply);

  // A canvas wants finished colours, so an element works them out.
  const probe = root.appendChild(make('span', { hidden: '' }));
  const colour = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };

  apply();
  return {
    colour,
    onChange: (listener) => listeners.push(listener),
    force: (name) => {
      forced = name;
      apply();
    },
  };
})();
