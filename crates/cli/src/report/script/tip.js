// The tip: a few lines beside the pointer or the cursor of a picture. Escape sends it away.

const tip = (() => {
  const box = find('tip');

  // `x` and `y` are in the window; the tip stays inside of it.
  const show = (lines, x, y) => {
    box.replaceChildren(...lines);
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = x + 14 + width > innerWidth - 8 ? x - 14 - width : x + 14;
    box.style.left = `${clamp(left, 8, Math.max(8, innerWidth - width - 8))}px`;
    box.style.top = `${clamp(y - height - 10, 8, Math.max(8, innerHeight - height - 8))}px`;
  };
  const hide = () => {
    box.hidden = true;
  };
  addEventListener('scroll', hide, { passive: true });
  return { show, hide, isShown: () => !box.hidden };
})();
