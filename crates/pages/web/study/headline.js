// The headline of a study: what was found, in words and a few figures, how sure it is, and on how much it rests.

import { find, make } from '../components/dom.js';
import { counted, fixed, percent } from '../components/numbers.js';
import { brief, listed } from '../components/text.js';

/** @typedef {import('./data.js').StudyData} StudyData */
/** @typedef {import('./data.js').StudyView} StudyView */
/** @typedef {import('../components/dom.js').Child} Child */

/**
 * The row that the headline is about: that of the default policy, or of the first own one.
 * @param {StudyData} data
 * @param {StudyView} view
 */
function headlineRow(data, view) {
  const own = ['balanced', ...data.policies.filter((policy) => policy.own).map((policy) => policy.name)];
  const name = own.find((policy) => view.rows.some((row) => row.policy === policy));
  return view.rows.find((row) => row.policy === name);
}

/**
 * @param {string} name
 * @param {string} value
 * @param {Child[]} about
 * @param {string} [style]
 */
function figure(name, value, about, style) {
  const text = make('dd', {}, make('strong', { class: style }, value), make('span', {}, ...about));
  return make('div', { class: 'figure' }, make('dt', {}, name), text);
}

/**
 * How near the replay comes to what was billed.
 * @param {StudyView[]} views
 */
function accuracy(views) {
  const [whole, ...others] = views;
  if (whole.replayed_pct === null) {
    return figure('Replay without pruning', '–', ['no log says what was billed']);
  }
  const each = others.flatMap((view) => {
    const share = view.replayed_pct === null ? 'unknown' : percent(view.replayed_pct, 0);
    return [', ', make('bdi', {}, `${brief(view.agent, 40)} ${share}`)];
  });
  const about = ['of what was billed for input', ...(each.length ? [': ', ...each.slice(1)] : [])];
  return figure('Replay without pruning', percent(whole.replayed_pct, 0), about);
}

/** @param {StudyView} view */
function terms(view) {
  const sheets = view.sheets.map(({ name, about, sessions }) =>
    make('span', {}, make('b', { title: brief(about, 200) }, brief(name, 60)), ` (${counted(sessions, 'session')})`),
  );
  const compacted = view.compactions
    ? ` Without pruning, full windows were compacted ${counted(view.compactions, 'time')}.`
    : '';
  return make(
    'p',
    { class: 'terms' },
    'Prices: ',
    ...listed(sheets),
    `. Costs are input, cached input, output, and reading again what was missed, added up over sessions.${compacted} `,
    make('a', { href: '#limits' }, 'What this cannot tell.'),
  );
}

/** @param {StudyData} data */
export function showHeadline(data) {
  find('title').append(brief(data.title, 300));
  find('foot').append(`Made by ${brief(data.generator, 100)}. This file is complete and makes no network requests.`);
  const box = find('headline');
  const [view] = data.views;
  if (!view) {
    box.append(make('p', { class: 'lead' }, 'No session was long enough to be replayed.'));
    return;
  }
  const calls = data.sessions.reduce((sum, session) => sum + session.calls, 0);
  const agents = new Set(data.sessions.map((session) => session.agent)).size;
  const basis =
    `${counted(data.sessions.length, 'recorded session')} with ${counted(calls, 'model call')} ` +
    `of ${counted(agents, 'agent')}`;
  const row = headlineRow(data, view);
  const figures = make('dl', { class: 'figures' });
  if (row) {
    const [low, high] = row.cost_interval;
    const name = brief(row.policy, 60);
    box.append(
      make(
        'p',
        { class: 'lead' },
        `On ${basis}, the policy `,
        make('b', { class: 'own' }, name),
        ' would have cost ',
        make('b', {}, `${percent(row.cost_pct, 0)} of what it costs not to prune`),
        ` (${fixed(low, 0)} to ${percent(high, 0)}), with ${fixed(row.miss100, 1)} misses per 100 calls.`,
      ),
    );
    figures.append(
      figure(
        `Cost with ${name}`,
        percent(row.cost_pct, 1),
        [`of no pruning; 95 % interval over sessions ${fixed(low, 0)} to ${percent(high, 0)}`],
        'own',
      ),
      figure(
        'Misses',
        fixed(row.miss100, 2),
        [`per 100 calls, ${fixed(row.editmiss100, 2)} of them edits that would have failed`],
        'own',
      ),
    );
  } else {
    box.append(make('p', { class: 'lead' }, `Replayed: ${basis}.`));
  }
  const bound = `of no pruning; nothing without a miss is below ${percent(view.bound_pct, 1)}`;
  figures.append(figure('Best in hindsight', percent(view.best_pct, 1), [bound]), accuracy(data.views));
  box.append(figures, terms(view));
}
