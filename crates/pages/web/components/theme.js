// The theme: the system's, until the button chooses another. Paper is always light.

import { find, make } from './dom.js';

const KEY = 'secateur-theme';

/** A browser may deny pages from files a memory. */
function recall() {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'dark' || kept === 'light' ? kept : null;
  } catch {
    return null;
  }
}

/** @param {string} theme */
function remember(theme) {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Then it has to be chosen again next time.
  }
}

/** @typedef {ReturnType<typeof createTheme>} Theme */

/** Makes the button `#theme` work. */
export function createTheme() {
  const root = document.documentElement;
  const button = find('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  /** @type {(() => void)[]} */
  const listeners = [];
  let chosen = recall();
  let isPrinting = false;

  const current = () => (isPrinting ? 'light' : (chosen ?? (system.matches ? 'dark' : 'light')));

  function apply() {
    root.dataset.theme = current();
    const other = current() === 'dark' ? 'Light' : 'Dark';
    button.textContent = other;
    button.setAttribute('aria-label', `${other} theme`);
    for (const listener of listeners) listener();
  }

  /** @param {boolean} is */
  function setPrinting(is) {
    isPrinting = is;
    apply();
  }

  button.addEventListener('click', () => {
    chosen = current() === 'dark' ? 'light' : 'dark';
    remember(chosen);
    apply();
  });
  system.addEventListener('change', apply);
  addEventListener('beforeprint', () => setPrinting(true));
  addEventListener('afterprint', () => setPrinting(false));

  // A canvas needs computed colours, so an element computes them.
  const probe = root.appendChild(make('span', { hidden: '' }));
  apply();
  return {
    /** @param {string} name a custom property, such as `--accent` */
    colour(name) {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    },
    /** @param {() => void} listener */
    onChange(listener) {
      listeners.push(listener);
    },
  };
}
