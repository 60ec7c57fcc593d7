// Opens each report named on the command line in Chromium, at two widths, and clicks through all of it. What must
// come out is worked out from the report's own data, so any report will do, from a sample or from a real session.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { visit } from './visit.mjs';

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

// The same page with nothing in it; the data are not part of what the page's policy vouches for.
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
  // The clock stops when the first row, or the word that there is none, has been painted.
  await page.addInitScript(() => {
    const look = () => {
      const empty = document.querySelector('#nothing:not([hidden])');
      if (!empty && !document.querySelector('#rows [data-index]')) return requestAnimationFrame(look);
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
  const bare = join(folder, 'emptied.html');
  writeFileSync(bare, emptied(html));
  for (const width of WIDTHS) {
    await inBrowser(width, async (context) => {
      const { page, complaints } = await open(context, url);
      const checks = await visit(page, data, width);
      if (complaints.length) throw new Error(complaints.slice(0, 5).join('\n'));
      await page.close();
      console.log(`${file} at ${width} px: ${checks} checks passed`);
    });
  }
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
  console.error('usage: reports.mjs REPORT.html…');
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
