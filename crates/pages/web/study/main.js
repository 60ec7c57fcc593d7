// The page of a study: what policies would have cost on recorded sessions, and what they would have missed.

import { find, make, onWidth, readData } from '../components/dom.js';
import { createTheme } from '../components/theme.js';
import { brief } from '../components/text.js';
import { createContexts } from './contexts.js';
import { showHeadline } from './headline.js';
import { drawNumbers } from './numbers_table.js';
import { drawPareto } from './pareto.js';
import { drawStrips } from './strips.js';

/** @typedef {import('./data.js').StudyView} StudyView */

/** @param {import('./data.js').StudyData} data */
function showStudy(data) {
  createTheme();
  showHeadline(data);
  createContexts(data.contexts, data.sessions.length);
  const own = new Set(data.policies.filter((policy) => policy.own).map((policy) => policy.name));
  const sessionsOf = (/** @type {StudyView} */ view) =>
    data.sessions.filter((session) => view.agent === null || session.agent === view.agent);
  let view = data.views[0];
  if (!view) {
    for (const id of ['pareto-section', 'strips-section', 'table', 'contexts-section']) find(id).hidden = true;
    return;
  }

  function showView() {
    drawPareto(view, own);
    drawStrips(view, sessionsOf(view), own);
    drawNumbers(view, sessionsOf(view), own);
  }

  /** @param {StudyView} each */
  function choice(each) {
    const radio = make('input', { type: 'radio', name: 'agent', autocomplete: 'off' });
    radio.checked = each === view;
    radio.addEventListener('change', () => {
      view = each;
      showView();
    });
    const name = each.agent === null ? 'all' : brief(each.agent, 40);
    const count = make('small', {}, String(sessionsOf(each).length));
    return make('label', {}, radio, make('span', {}, name, ' ', count));
  }

  if (data.views.length > 1) {
    const choices = data.views.map(choice);
    find('agents').append(make('fieldset', { class: 'switch' }, make('legend', {}, 'Agent'), ...choices));
  }
  showView();
  onWidth(find('pareto'), () => drawPareto(view, own));
}

showStudy(readData());
document.documentElement.dataset.ready = 'yes';
