// A visit to a report: everything that can be pressed is pressed, once by mouse and once by keyboard.

import { createChecks } from './checks.mjs';

const grouped = (number) => new Intl.NumberFormat('en-US').format(number);

export async function visitReport(page, data, width) {
  const { parts } = data;
  const checks = createChecks(page, width);
  const { equal, holds, focused } = checks;

  const rowCount = async () => Number(await page.getAttribute('#grid', 'aria-rowcount')) - 1;
  const topRows = (many) =>
    page.$$eval(
      '#rows [data-index]',
      (rows, limit) =>
        rows
          .map((row) => [Number(row.dataset.position), Number(row.dataset.index)])
          .sort((a, b) => a[0] - b[0])
          .slice(0, limit)
          .map(([, index]) => index),
      many,
    );
  const expectParts = async (wanted, what) => {
    equal(await rowCount(), wanted.length, what);
    equal(await topRows(8), wanted.slice(0, 8), `${what}, first rows`);
    equal(await page.isVisible('#nothing'), wanted.length === 0, `${what}, word of nothing`);
  };
  const indices = (keep) => parts.flatMap((part, index) => (keep(part, index) ? [index] : []));
  const all = indices(() => true);
  const selected = () =>
    page.$$eval('#rows [aria-selected="true"]', (rows) => rows.map((row) => Number(row.dataset.index)));
  const uncovered = () =>
    page.evaluate(() => {
      const { left, top, height } = document.activeElement.getBoundingClientRect();
      const hit = document.elementFromPoint(left + 20, top + height / 2);
      return document.activeElement.contains(hit);
    });
  const detail = async (index) => {
    equal(await selected(), [index], 'the selected row');
    equal(await page.textContent('#detail h3'), `Part ${index}: ${parts[index].kind}`, 'the detail');
    equal(await page.textContent('#detail .badge'), parts[index].verdict, 'the verdict in the detail');
  };

  await checks.layout();
  equal(await page.textContent('#promise .figure strong'), grouped(data.totals.before), 'the promise');
  await expectParts(all, 'at the beginning');
  equal(await page.$$eval('#rows [data-index]', (rows) => rows.length <= 80), true, 'only rows in sight exist');
  await checks.skipLink('#parts');
  if (parts.length) {
    await searching();
    await filtering();
    await sorting();
    await selecting();
    await stripping();
  }
  if (data.calls.length) await charting();
  await tabling();
  await checks.theming();
  await printing();
  await checks.layout();
  return checks.count();

  async function searching() {
    const text = ({ tool, subject, reason, preview }) =>
      [tool, subject, reason, preview].filter(Boolean).join('\n').toLowerCase();
    const sample = parts.map((part) => part.subject).find(Boolean) ?? parts[0].reason;
    const words = (sample.match(/[A-Za-z]{3,12}/g) ?? ['the']).slice(0, 2);
    await page.keyboard.press('/');
    holds(await focused('#search'), 'a slash leads to the search');
    await page.keyboard.type(words.join(' ').toUpperCase());
    const fits = (part) => words.every((word) => text(part).includes(word.toLowerCase()));
    await expectParts(indices(fits), `search for ${words}`);
    await page.fill('#search', 'nothing holds these words, surely');
    await expectParts([], 'search in vain');
    await page.keyboard.press('Escape');
    await expectParts(all, 'after Escape');
    equal(await page.inputValue('#search'), '');
  }

  async function filtering() {
    const { verdict, kind } = parts[parts.length >> 1];
    await page.selectOption('#filter-verdict', `=${verdict}`);
    await expectParts(indices((part) => part.verdict === verdict), `verdict ${verdict}`);
    await page.selectOption('#filter-kind', `=${kind}`);
    await expectParts(indices((part) => part.verdict === verdict && part.kind === kind), `and kind ${kind}`);
    await page.click('#clear');
    const tool = parts.find((part) => part.tool)?.tool;
    if (tool) {
      await page.selectOption('#filter-tool', { index: 1 });
      const chosen = await page.$eval('#filter-tool', (choice) => choice.value.slice(1));
      await expectParts(indices((part) => (part.tool ?? '') === chosen), `tool ${chosen}`);
      await page.click('#clear');
    }
    if (data.zones.length) {
      const zone = data.zones[data.zones.length - 1];
      await page.selectOption('#filter-zone', { index: data.zones.length });
      await expectParts(indices((_, index) => index >= zone.first_part && index <= zone.last_part), 'zone');
      await page.click('#clear');
    }
    await expectParts(all, 'filters cleared');
  }

  async function sorting() {
    await page.selectOption('#sort', 'largest');
    await expectParts([...all].sort((a, b) => parts[b].size - parts[a].size || a - b), 'largest first');
    equal(await page.getAttribute('.titles .size', 'aria-sort'), 'descending');
    await page.selectOption('#sort', 'newest');
    await expectParts([...all].reverse(), 'newest first');
    await page.selectOption('#sort', 'order');
    await expectParts(all, 'in order');
  }

  async function selecting() {
    const last = parts.length - 1;
    await page.click('#rows [data-index="1"], #rows [data-index="0"]');
    const start = (await selected())[0];
    await detail(start);
    const keys = [['ArrowDown', Math.min(start + 1, last)], ['End', last], ['Home', 0]];
    for (const [key, wanted] of keys) {
      await page.keyboard.press(key);
      await detail(wanted);
      holds(await focused(`#rows [data-index="${wanted}"][tabindex="0"]`), `${key} moves the focus`);
      holds(await uncovered(), `after ${key} nothing covers the row`);
    }
    await page.keyboard.press('PageDown');
    holds((await selected())[0] > 0 || last === 0, 'Page Down moves on');
    equal(await page.$$eval('#rows [tabindex="0"]', (rows) => rows.length), 1, 'one row takes the focus');
    const kept = (await selected())[0];
    await page.$eval('#rows', (rows) => rows.scrollTo(0, rows.scrollHeight));
    await page.waitForSelector(`#rows [data-index="${last}"]`);
    holds(await focused(`#rows [data-index="${kept}"]`), 'scrolling away does not lose the focus');
    await page.keyboard.press('Enter');
    holds(await focused('#detail h3'), 'Enter leads to the detail');
    await page.keyboard.press('Escape');
    equal(await selected(), [], 'Escape closes the detail');
    holds(await focused(`#rows [data-index="${kept}"]`), 'and leads back');
  }

  async function stripping() {
    await page.focus('#strip');
    await page.keyboard.press('End');
    const last = parts.length - 1;
    holds((await page.textContent('#strip-live')).startsWith(`Part ${last}:`), 'the strip is announced');
    await page.keyboard.press('ArrowLeft');
    const wanted = Math.max(0, last - 1);
    holds((await page.textContent('#strip-live')).startsWith(`Part ${wanted}:`), 'left moves back');
    await page.keyboard.press('Enter');
    await detail(wanted);
    holds(await focused(`#rows [data-index="${wanted}"]`), 'Enter leads to the row');
    await page.locator('#strip .before').click({ position: { x: width / 8, y: 20 } });
    equal((await selected()).length, 1, 'a click on the strip selects a part');
    const painted = await page.$eval('#strip .before', (canvas) => {
      const dots = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      return dots.some((value) => value > 0);
    });
    holds(painted || parts.every((part) => part.size === 0), 'the strip is painted');
    const spans = await page.$$eval('#strip-span option', (options) => options.length);
    for (let index = spans - 1; index >= 0; index -= 1) await page.selectOption('#strip-span', { index });
    await page.click('#detail button');
    equal(await selected(), [], 'the detail closes');
  }

  async function charting() {
    const count = data.calls.length;
    const call = (number) => `Call ${grouped(number)} of ${grouped(count)},`;
    const live = () => page.textContent('#chart-live');
    await page.focus('#chart');
    await page.keyboard.press('Home');
    holds((await live()).startsWith(call(1)), 'the chart is announced');
    await page.keyboard.press('ArrowRight');
    const second = Math.min(2, count);
    holds((await live()).startsWith(call(second)), 'right moves on');
    holds((await live()).includes(grouped(data.calls[second - 1].pruned)), 'with its numbers');
    await page.keyboard.press('ArrowLeft');
    holds((await live()).startsWith(call(1)), 'left moves back');
    holds(await page.isVisible('#tip'), 'the tip shows');
    await page.keyboard.press('Escape');
    holds(!(await page.isVisible('#tip')), 'Escape sends it away');
    await page.locator('#chart svg').hover({ position: { x: width / 3, y: 120 } });
    holds(await page.isVisible('#tip'), 'the pointer brings it back');
    equal(await page.$$eval('#chart .cursor path', (found) => found.length), 1, 'the cursor is drawn');
    await page.mouse.move(2, 2);
  }

  async function tabling() {
    const bars = await page.$$eval('#categories tbody tr', (rows) => rows.length);
    equal(bars, data.categories.filter((row) => row.before || row.after).length, 'a row for each origin');
    if (await page.isVisible('#all-tools')) await page.click('#all-tools');
    if (!data.tools.length) return;
    equal(await page.$$eval('#tools tbody tr', (rows) => rows.length), data.tools.length, 'a row for each tool');
    const named = [...data.tools].sort((a, b) => b.before - a.before)[0].name;
    await page.locator('#tools tbody button').first().click();
    const wanted = indices((part) => part.tool === named);
    if (wanted.length) await expectParts(wanted, `the tool ${named.slice(0, 40)}`);
    await page.click('#clear:not(:disabled)', { timeout: 1000 }).catch(() => {});
    await expectParts(all, 'all tools again');
  }

  async function printing() {
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const printed = await page.$$eval('#printed tbody tr', (rows) => rows.length);
    equal(printed, Math.min(200, parts.length), 'paper gets a plain table');
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    equal(await page.$$eval('#printed *', (found) => found.length), 0, 'which goes again');
  }
}
