// The report of a session. The list comes first, since it is what people wait for, then the pictures.

import { find, readData } from '../components/dom.js';
import { createTheme } from '../components/theme.js';
import { createTip } from '../components/tip.js';
import { createContextChart } from './context_chart.js';
import { showHead } from './head.js';
import { createModel } from './model.js';
import { createPartList } from './part_list.js';
import { printParts } from './print.js';
import { showTables } from './tables.js';
import { createTokenStrip } from './token_strip.js';

/** @param {import('./data.js').ReportData} data */
function showReport(data) {
  const model = createModel(data);
  const page = { theme: createTheme(), tip: createTip() };
  /** @type {ReturnType<typeof createTokenStrip> | null} */
  let strip = null;
  showHead(data);
  const list = createPartList(model, (index) => strip?.select(index));
  showTables(data, (name) => {
    list.filter.onlyTool(name);
    find('parts').scrollIntoView();
    list.filter.focus();
  });
  strip = createTokenStrip(model, page, list.reveal);
  const chart = createContextChart(data, page.tip);
  printParts(model, list.found);

  addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const isField = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === '/' && !isField) {
      event.preventDefault();
      list.filter.focus();
    } else if (event.key === 'Escape') {
      if (page.tip.isShown()) {
        chart.leave();
        strip?.leave();
      } else if (list.detail.holds(event.target)) {
        list.back();
      } else if (list.filter.isSet()) {
        list.filter.clear();
      }
    }
  });
}

showReport(readData());
document.documentElement.dataset.ready = 'yes';
