// The detail: one part, what becomes of it, why, and how it begins.

const detail = (() => {
  const box = find('detail');
  let onClose = () => {};

  const badge = (verdict) => make('span', { class: `badge ${VERDICTS.includes(verdict) ? verdict : ''}` }, verdict);

  // A reason is a clause; here it becomes the end of a sentence.
  function sentence(part) {
    const reason = shown(part.reason, false).trim().replace(/\.$/, '');
    return `${FATE[part.verdict] ?? part.verdict}${reason ? `: ${reason}` : ''}.`;
  }

  function facts(index) {
    const part = parts[index];
    const message = data.messages[part.message];
    const zone = zoneOf(index);
    const place = `${grouped(part.message + 1)} of ${grouped(data.messages.length)}, ${roleOf(part)}`;
    const less = savedBy(part);
    const change = `${grouped(part.size)} → ${grouped(part.after)}, ${percent(less, part.size)} saved`;
    return [
      ['Tokens', less ? change : grouped(part.size)],
      ['Message', message?.summary ? `${place}, a summary` : place],
      ['Time', moment(message?.time)],
      ['Status', brief(part.status, 80)],
      ['Zone', zone && `${brief(zone.name, 60)}. ${brief(zone.about, 200)}`],
    ].filter(([, value]) => value);
  }

  function preview(part) {
    if (!part.preview) return [make('p', { class: 'dim' }, 'There is no text to show.')];
    const text = make('pre', { tabindex: 0, dir: 'auto', 'aria-label': 'Preview' }, shown(part.preview, true));
    return [text, part.clipped ? make('p', { class: 'dim' }, 'The text goes on in the session.') : null];
  }

  function show(index) {
    box.classList.toggle('empty', index === null);
    if (index === null) {
      box.replaceChildren(make('p', { class: 'dim' }, 'Select a part to see how it begins and why it is kept or cut.'));
      return;
    }
    const part = parts[index];
    const close = make('button', { type: 'button', class: 'quiet', 'aria-label': 'Close the detail' }, '✕');
    close.addEventListener('click', () => onClose());
    const subject = [part.tool, part.subject].filter(Boolean).map((text) => make('bdi', {}, brief(text, 400)));
    box.replaceChildren(
      make('div', { class: 'line' }, make('h3', { tabindex: -1 }, `Part ${index}: ${part.kind}`), close),
      ...(subject.length ? [make('p', { class: 'subject' }, ...subject.flatMap((each) => [each, ' ']))] : []),
      make('p', { class: 'sentence' }, badge(part.verdict), ' ', sentence(part)),
      make('dl', {}, ...facts(index).flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)])),
      ...preview(part).filter(Boolean),
    );
    box.scrollTop = 0;
  }

  return {
    show,
    badge,
    focus: () => box.querySelector('h3')?.focus(),
    holds: (element) => box.contains(element),
    onClose: (listener) => {
      onClose = listener;
    },
  };
})();
