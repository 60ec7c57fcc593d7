// Opens each page named on the command line in Chromium, at two widths, and clicks through all of it. What must come
// out is computed from the page's own data, so any report or study will do, from a sample or from real sessions.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { visitReport } from './report.mjs';
import { visitStudy } from './study.mjs';

const { chromium } = createRequire(import.meta.url)(process.env.SECATEUR_PLAYWRIGHT ?? 'playwright-core');

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const WIDTHS = [1280, 360];
// Opening may take longer the more there is, but not out of proportion: time to the first row against the same page
// without any data, which also pays for the browser and the machine. The floor keeps a quick machine from being
// judged by its noise.
const SLOWER = 20;
const FLOOR_MS = 60;
const PER_PART_MS = 0.05;

const DATA = /(<script type="application\/json" id="data">)([^<]*)(<\/script>)/;

const folder = mkdtempSync(join(tmpdir(), 'secateur-browser-'));
let failed = 0;

// The same report with nothing in it; the hashes of the page's policy do not cover the data.
function emptied(html) {
  const data = JSON.parse(html.match(DATA)[2]);
  const lists = ['categories', 'tools', 'calls', 'compactions', 'zones', 'messages', 'parts', 'warnings'];
  for (const name of lists) data[name] = [];
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return html.replace(DATA, (_, open, __, close) => open + json + close);
}

async function inBrowser(width, work) {
  const profile = mkdtempSync(join(folder, 'profile-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
    viewport: { width, height: 800 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  try {
    return await work(context);
  } finally {
    await context.close();
  }
}

// Opens a page, and counts everything that a quiet page does not do.
async function open(context, url) {
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('popup', () => complaints.push('popup'));
  page.on('request', (request) => {
    if (request.url() !== url) complaints.push(`request: ${request.url()}`);
  });
  // The clock stops when the first row, or the headline, has been painted.
  await page.addInitScript(() => {
    const look = () => {
      const shown = document.querySelector('#nothing:not([hidden]), #rows [data-index], .lead');
      if (!shown) return requestAnimationFrame(look);
      requestAnimationFrame(() => setTimeout(() => (window.firstRow = performance.now())));
    };
    requestAnimationFrame(look);
  });
  await page.goto(url);
  await page.waitForFunction(() => window.firstRow && document.documentElement.dataset.ready);
  return { page, complaints, time: await page.evaluate(() => window.firstRow) };
}

const middle = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

async function timed(context, url) {
  const times = [];
  for (let round = 0; round < 3; round += 1) {
    const { page, time } = await open(context, url);
    times.push(time);
    await page.close();
  }
  return middle(times);
}

async function check(file) {
  const html = readFileSync(file, 'utf8');
  const data = JSON.parse(html.match(DATA)[2]);
  const url = pathToFileURL(resolve(file)).href;
  for (const width of WIDTHS) {
    await inBrowser(width, async (context) => {
      const { page, complaints } = await open(context, url);
      const checks = await (data.views ? visitStudy : visitReport)(page, data, width);
      if (complaints.length) throw new Error(complaints.slice(0, 5).join('\n'));
      await page.close();
      console.log(`${file} at ${width} px: ${checks} checks passed`);
    });
  }
  if (data.views) return;
  const bare = join(folder, 'emptied.html');
  writeFileSync(bare, emptied(html));
  await inBrowser(WIDTHS[0], async (context) => {
    const base = await timed(context, pathToFileURL(bare).href);
    const time = await timed(context, url);
    const [parts, shown, nothing] = [data.parts.length, time.toFixed(0), base.toFixed(0)];
    console.log(`${file}: ${parts} parts, first row after ${shown} ms; the same page without data ${nothing} ms`);
    const limit = SLOWER * Math.max(base, FLOOR_MS) + PER_PART_MS * Math.max(0, parts - 5000);
    if (time > limit) throw new Error(`the first row took ${shown} ms, more than ${limit.toFixed(0)}`);
  });
}

const files = process.argv.slice(2);
if (files.length === 0) {
  console.error('usage: pages.mjs PAGE.html…');
  process.exit(2);
}
for (const file of files) {
  try {
    await check(file);
  } catch (error) {
    failed += 1;
    console.error(`${file}: FAILED: ${error.stack ?? error}`);
  }
}
rmSync(folder, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
