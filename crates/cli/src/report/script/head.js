// The head of the page: what the session is, and the promise in numbers.

const head = (() => {
  const { totals, profile } = data;

  function facts() {
    const list = [
      data.file,
      data.format,
      data.agent_version && `agent ${data.agent_version}`,
      data.model,
      counted(totals.messages, 'message'),
      counted(totals.parts, 'part'),
      counted(totals.tool_calls, 'tool call'),
      counted(totals.tool_results, 'result'),
    ];
    return list.filter(Boolean).map((text) => make('span', {}, make('bdi', {}, brief(text, 120))));
  }

  function figure(name, value, note, extra) {
    return make(
      'div',
      { class: `figure ${extra ?? ''}` },
      make('dt', {}, name),
      make('dd', {}, make('strong', {}, value), note ? make('span', {}, note) : null),
    );
  }

  function figures() {
    const less = totals.before - totals.after;
    const list = make('dl', { class: 'figures' });
    list.append(
      figure('Without pruning', grouped(totals.before), 'tokens'),
      figure(`With ${brief(profile.name, 40)}`, grouped(totals.after), 'tokens', 'after'),
      less >= 0
        ? figure('Saved', percent(less, totals.before), counted(less, 'token'), 'saved')
        : figure('Added', percent(-less, totals.before), counted(-less, 'token')),
    );
    return list;
  }

  // One bar a state, as long as its share of the window, or of the larger state if no window is known.
  function bars() {
    const whole = totals.window ?? Math.max(totals.before, totals.after, totals.recorded_peak ?? 0);
    const rows = [
      ['without pruning', totals.before, 'before'],
      ['with the profile', totals.after, 'after'],
    ];
    if (totals.recorded_peak) rows.push(['recorded peak', totals.recorded_peak, 'peak']);
    return make(
      'div',
      { class: 'fill' },
      make(
        'p',
        {},
        totals.window
          ? `How full a window of ${counted(totals.window, 'token')} gets`
          : 'The size of the model’s window is not known',
      ),
      ...rows.map(([name, size, style]) => {
        const bar = make('span', { class: `bar ${style}${size > whole ? ' over' : ''}` });
        bar.style.width = `${clamp(whole ? (size / whole) * 100 : 0, 0, 100)}%`;
        return make(
          'div',
          { class: 'gauge' },
          make('span', { class: 'name' }, name),
          make('span', { class: 'track' }, bar),
          make('span', { class: 'value' }, totals.window ? percent(size, whole) : compact(size)),
        );
      }),
    );
  }

  function show() {
    find('title').append(make('bdi', {}, brief(data.title, 300) || 'A session'));
    find('facts').append(...facts());
    const about = profile.about ? make('p', { class: 'about' }, brief(profile.about, 400)) : null;
    find('promise').append(...[make('div', {}, figures(), about ?? ''), bars()]);
    find('foot').append(`Made by ${brief(data.generator, 100)}. This file holds all it shows and asks no network.`);
    const warnings = find('warnings');
    warnings.hidden = data.warnings.length === 0;
    const listed = data.warnings.slice(0, 100).map((text) => make('li', {}, brief(text, 1000)));
    const more = data.warnings.length - listed.length;
    if (more > 0) listed.push(make('li', {}, `and ${counted(more, 'further warning')}`));
    warnings.querySelector('ul').append(...listed);
  }

  return { show };
})();
