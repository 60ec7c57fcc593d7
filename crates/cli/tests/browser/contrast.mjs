// Contrast as the Web Content Accessibility Guidelines measure it.

// Runs in the page: the texts whose contrast with what lies behind them is below 4.5 to 1, each with its ratio.
// Transitions are over or switched off by then; texts of disabled controls are exempt.
export function faint() {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [red, green, blue] = numbers(colour).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if ((numbers(colour)[3] ?? 1) === 1) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const found = new Map();
  for (const element of document.querySelectorAll('body *')) {
    const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!says || element.matches('script, noscript, :disabled') || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const drawn = element.namespaceURI.endsWith('svg');
    const pair = [light(drawn ? style.fill : style.color), light(behind(element))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < 4.5) found.set(`${element.tagName} ${element.getAttribute('class')}`, ratio.toFixed(2));
  }
  return [...found].map(([name, ratio]) => `${name}: ${ratio}`);
}
