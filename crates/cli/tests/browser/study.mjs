// A visit to a study: every agent, policy, call and column is chosen once.

import { createChecks } from './checks.mjs';

const grouped = (number) => new Intl.NumberFormat('en-US').format(number);

export async function visitStudy(page, data, width) {
  const checks = createChecks(page, width);
  const { equal, holds } = checks;
  const count = (selector) => page.$$eval(selector, (found) => found.length);

  await checks.layout();
  if (data.views.length === 0) {
    holds((await page.textContent('#headline')).includes('No session'), 'an empty study says so');
    equal(await page.isVisible('#pareto-section'), false, 'and draws nothing');
    await checks.theming();
    return checks.count();
  }
  await checks.skipLink('#table');
  await headline();
  for (let index = 0; index < data.views.length; index += 1) await viewing(index);
  await contexts();
  await sorting();
  await checks.theming();
  await checks.layout();
  return checks.count();

  async function headline() {
    const row = data.views[0].rows.find(({ policy }) => policy === 'balanced');
    const figures = await page.$$eval('.figure strong', (found) => found.map((one) => one.textContent));
    equal(figures.slice(0, 2), [`${row.cost_pct.toFixed(1)}\u00a0%`, row.miss100.toFixed(2)]);
    equal(figures.length, 4, 'four figures');
    const lead = await page.textContent('.lead');
    const calls = data.sessions.reduce((sum, session) => sum + session.calls, 0);
    holds(lead.includes(grouped(calls)), 'the headline says how many calls there are');
  }

  // All pictures of an agent.
  async function viewing(index) {
    const view = data.views[index];
    if (data.views.length > 1) {
      if (index > 0) await page.keyboard.press('ArrowRight');
      else await page.focus('#agents input');
      const checked = await page.$$eval('#agents input', (found) => found.findIndex((one) => one.checked));
      equal(checked, index, 'an arrow key chooses the next agent');
    }
    const sessions = data.sessions.filter((session) => view.agent === null || session.agent === view.agent);
    equal(await count('.point'), view.rows.length, 'a point for each policy');
    const overlaps = await page.$$eval('.point text', (labels) => {
      const boxes = labels.map((label) => label.getBBox());
      const meets = (a, b) =>
        a.x + 2 < b.x + b.width && b.x + 2 < a.x + a.width && a.y + 4 < b.y + b.height && b.y + 4 < a.y + a.height;
      return boxes.flatMap((box, at) => boxes.slice(0, at).filter((other) => meets(box, other))).length;
    });
    equal(overlaps, 0, 'no label lies on another');
    equal(await count('#pareto .key'), width < 600 ? 1 : 0, 'a narrow picture has a key');
    equal(await count('.strips tbody tr'), view.rows.length, 'a strip for each policy');
    const dots = await count('.strips tbody tr:first-child circle:not(.together)');
    equal(dots, sessions.length, 'a dot for each session');
    const costs = await page.$$eval('.strips td.number:nth-of-type(2)', (cells) => cells.map((one) => one.textContent));
    const sorted = [...view.rows].sort((a, b) => b.cost_pct - a.cost_pct).map((row) => row.cost_pct.toFixed(1));
    equal(costs, sorted, 'the most costly policy comes first');
    equal(await count('.sortable tbody tr'), view.rows.length, 'a row for each policy');
    const caption = await page.textContent('caption');
    holds(caption.includes(`${grouped(sessions.length)} session`), 'the caption counts sessions');
    equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `fits ${width} px`);
  }

  async function contexts() {
    const session = data.contexts.sessions[0];
    const reading = () => page.textContent('#reading');
    equal(await count('#contexts-chart .policy-line'), 2, 'two lines at first');
    await page.focus('#call');
    await page.keyboard.press('Home');
    holds((await reading()).startsWith(`Call 1 of ${session.calls}`), 'Home reads the first call');
    await page.keyboard.press('ArrowRight');
    holds((await reading()).startsWith('Call 2 of'), 'right moves on');
    equal(await page.getAttribute('#call', 'aria-valuetext'), await reading(), 'and is announced');
    await page.locator('#contexts-chart svg').hover({ position: { x: width / 2, y: 100 } });
    holds(!(await reading()).startsWith('Call 2 of'), 'the pointer moves the slider');
    const boxes = await page.$$('#policies input');
    equal(boxes.length, data.contexts.policies.length, 'a box for each policy');
    for (const box of boxes) await box.check();
    equal(await count('#contexts-chart .policy-line'), boxes.length, 'a line for each policy');
    equal(await count('#contexts-chart .at circle'), boxes.length, 'a dot on each line');
    for (const [index] of data.contexts.sessions.entries()) await page.selectOption('#session', { index });
    holds((await reading()).includes(`of ${data.contexts.sessions.at(-1).calls}`), 'another session');
  }

  async function sorting() {
    const cells = (column) =>
      page.$$eval(`.sortable tbody tr > :nth-child(${column + 1})`, (found) => found.map((one) => one.textContent));
    const heads = await page.$$('.sortable thead button');
    for (const [column, head] of heads.entries()) {
      for (const [order, sign] of [['ascending', 1], ['descending', -1]]) {
        await head.click();
        equal(await page.$$eval('.sortable [aria-sort]', (found) => found.map((one) => one.ariaSort)), [order]);
        if (column === 0) continue;
        const numbers = (await cells(column)).map((text) => Number(text.replace('−', '-')));
        const isSorted = numbers.every((number, at) => at === 0 || sign * (number - numbers[at - 1]) >= 0);
        holds(isSorted || numbers.some(Number.isNaN), `column ${column} is sorted, ${order}`);
      }
    }
  }
}
