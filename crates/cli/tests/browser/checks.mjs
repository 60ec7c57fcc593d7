// What holds for every page.

import assert from 'node:assert/strict';
import { faint } from './contrast.mjs';

// Counts the checks of one page.
export function createChecks(page, width) {
  let count = 0;
  const equal = (got, wanted, what) => {
    assert.deepEqual(got, wanted, what);
    count += 1;
  };
  const holds = (value, what) => {
    assert.ok(value, what);
    count += 1;
  };
  const focused = (selector) => page.evaluate((wanted) => document.activeElement?.matches(wanted), selector);

  // Nothing sticks out, hostile texts stayed texts, and controls have names.
  async function layout() {
    equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `fits ${width} px`);
    equal(await page.title().then((title) => title.endsWith('Secateur')), true, 'the title is ours');
    equal(await page.$$eval('script, style', (found) => found.length), 3, 'no element was smuggled in');
    equal(await page.$$eval('img, iframe, object, embed, link, a[href^="java"]', (found) => found.length), 0);
    const nameless = await page.$$eval('button, select, input', (found) =>
      found
        .filter((one) => !one.closest('[hidden]'))
        .filter((one) => !(one.ariaLabel || one.textContent.trim() || one.labels?.[0]?.textContent.trim()))
        .map((one) => one.outerHTML.slice(0, 80)),
    );
    equal(nameless, [], 'every control has a name');
  }

  async function skipLink(target) {
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press('Tab');
    holds(await focused('.skip'), 'the first stop is the skip link');
    await page.keyboard.press('Enter');
    holds(await focused(target), `the skip link leads to ${target}`);
  }

  async function theming() {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await paper();
    equal(await page.evaluate(faint), [], 'no light text is faint');
    await page.click('#theme');
    const dark = await paper();
    equal(await page.evaluate(faint), [], 'no dark text is faint');
    holds(light !== dark, 'the theme changes');
    equal(await page.getAttribute('#theme', 'aria-label'), 'Light theme');
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    equal(await paper(), light, 'paper is light');
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    equal(await paper(), dark, 'and the screen dark again');
    await page.focus('#theme');
    await page.keyboard.press('Enter');
    equal(await paper(), light, 'and back');
  }

  return { equal, holds, focused, layout, skipLink, theming, count: () => count };
}
