// The context over time: one line for each policy that is ticked, drawn in the width that there is.
//
// Names only ever become text nodes. A slider under the picture moves from call to call, so that keys, fingers and
// screen readers have the numbers too; a pointer over the picture moves the slider.

const find = (id) => document.getElementById(id);
const data = JSON.parse(find('data').textContent);
const svg = find('chart');
const slider = find('call');

const make = (tag, attributes = {}, text = '') => {
  const element = document.createElementNS(svg.namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
};

const tokens = (count) => {
  if (count < 1000) return String(Math.round(count));
  return count < 1e6 ? `${(count / 1e3).toFixed(count < 1e5 ? 1 : 0)}k` : `${(count / 1e6).toFixed(2)}M`;
};

// Own policies share the accent and differ by dashes; others have a colour of six, then the same with dashes.
const DASHES = ['', '7 3', '2 2.5', '9 3 2 3'];
let [owned, others] = [0, 0];
const policies = data.policies.map((policy, index) => {
  if (index === 0) return { ...policy, style: 'line-none', dash: '' };
  if (policy.own) {
    const dash = policy.name === 'balanced' ? '' : DASHES[1 + (owned++ % 3)];
    return { ...policy, style: 'line-own', dash };
  }
  const number = others++;
  return { ...policy, style: `line-${number % 6}`, dash: DASHES[Math.floor(number / 6) % 4] };
});
const isUsual = (policy, index) => index === 0 || policy.name === 'balanced';
const ticked = policies.map(isUsual);

// The tokens of each request under each policy.
const unpack = ({ lines }) => {
  const whole = [];
  for (const line of lines) {
    let sum = 0;
    whole.push(Array.isArray(line) ? line.map((grown) => (sum += grown) * data.unit) : whole[line]);
  }
  return whole;
};

let session = null;
let lines = [];
let scale = null;
let cursor = null;

const shownPolicies = () => policies.map((_, index) => index).filter((index) => ticked[index]);

const ticksOf = (most, about) => {
  const rough = Math.max(most / about, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const size = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
  return Array.from({ length: Math.floor(most / size) + 1 }, (_, index) => index * size);
};

function draw() {
  if (!session) return;
  const width = Math.max(svg.parentElement.clientWidth, 240);
  const isWide = width >= 700;
  const shown = shownPolicies();
  const flushed = shown.filter((index) => session.broke[index].length > 0);
  const edge = { left: 44, right: isWide ? 132 : 10, top: 14 };
  const floor = edge.top + (isWide ? 320 : 240);
  const rug = floor + 34;
  const rugRow = isWide ? 15 : 28;
  const height = rug + flushed.length * rugRow + 4;
  const most = Math.max(1, ...shown.map((index) => Math.max(...lines[index]))) * 1.04;
  const last = Math.max(session.calls - 1, 1);
  const right = width - edge.right;
  const x = (call) => edge.left + (call / last) * (right - edge.left);
  const y = (count) => floor - (count / most) * (floor - edge.top);
  scale = { x, y, last, left: edge.left, right };
  svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
  svg.setAttribute('width', width);
  svg.setAttribute('height', height);
  slider.parentElement.style.paddingInlineEnd = `${edge.right - 8}px`;

  const axes = make('g', { class: 'axes' });
  for (const tick of ticksOf(most, 6)) {
    axes.append(make('path', { d: `M${edge.left} ${y(tick)}H${right}` }));
    axes.append(make('text', { class: 'end', x: edge.left - 7, y: y(tick) + 4 }, tick ? tokens(tick).replace('.0', '') : '0'));
  }
  for (const tick of ticksOf(session.calls, isWide ? 10 : 5)) {
    const call = Math.max(tick, 1);
    axes.append(make('path', { d: `M${x(call - 1)} ${floor}v4` }));
    axes.append(make('text', { class: 'mid', x: x(call - 1), y: floor + 17 }, String(call)));
  }
  const cold = make('path', { class: 'cold', d: session.cold.map((call) => `M${x(call)} ${edge.top}V${floor}`).join('') });

  // What is named later lies above: no pruning at the bottom, own policies on top.
  const order = [...shown].sort((a, b) => policies[a].own - policies[b].own || a - b);
  const paths = order.map((index) => {
    const { style, dash } = policies[index];
    const d = lines[index].map((count, call) => `${call ? 'L' : 'M'}${x(call).toFixed(1)} ${y(count).toFixed(1)}`);
    return make('path', { class: `line ${style}`, 'stroke-dasharray': dash || 'none', d: d.join('') });
  });
  const marks = flushed.flatMap((index, row) => {
    const top = rug + row * rugRow + (isWide ? 0 : 14);
    const d = session.broke[index].map((call) => `M${x(call).toFixed(1)} ${top}v9`).join('');
    const name = isWide ? { x: right + 9, y: top + 9 } : { x: edge.left, y: top - 3 };
    const text = `${policies[index].name}: ${session.broke[index].length}`;
    return [
      make('path', { class: 'rail', d: `M${edge.left} ${top + 9}H${right}` }),
      make('path', { class: `flush ${policies[index].style}`, d }),
      make('text', { ...name, class: policies[index].own ? 'own' : '' }, isWide ? text : `flushes of ${text}`),
    ];
  });
  cursor = make('g', { class: 'at' });
  svg.replaceChildren(axes, cold, ...paths, ...(isWide ? ends(shown, right, floor) : []), ...marks, cursor);
  if (isWide && flushed.length) svg.append(make('text', { class: 'end', x: edge.left - 7, y: rug + 9 }, 'flush'));
  point();
}

// Names at the ends of lines, pushed apart where they would meet.
function ends(shown, right, floor) {
  const names = shown.map((index) => ({ index, at: scale.y(lines[index].at(-1)) + 4 }));
  names.sort((a, b) => a.at - b.at);
  names.forEach((name, place) => {
    if (place > 0) name.at = Math.max(name.at, names[place - 1].at + 14);
  });
  let limit = floor + 4;
  for (const name of names.toReversed()) {
    name.at = Math.min(name.at, limit);
    limit = name.at - 14;
  }
  return names.map(({ index, at }) =>
    make('text', { class: `name ${policies[index].style}`, x: right + 9, y: at }, policies[index].name),
  );
}

// The numbers of the call that the slider is at.
function point() {
  const call = Number(slider.value) - 1;
  const shown = shownPolicies();
  cursor.replaceChildren(make('path', { d: `M${scale.x(call)} ${scale.y(0)}V14` }));
  for (const index of shown) {
    const place = { cx: scale.x(call), cy: scale.y(lines[index][call]), r: 3.5 };
    cursor.append(make('circle', { ...place, class: policies[index].style }));
  }
  const facts = shown.map((index) => {
    const flush = session.broke[index].includes(call) ? ', flushed' : '';
    return `${policies[index].name} ${tokens(lines[index][call])}${flush}`;
  });
  const state = session.cold.includes(call) ? ' (cold cache)' : '';
  const text = `Call ${call + 1} of ${session.calls}${state}: ${facts.join(' · ')}`;
  find('reading').textContent = text;
  slider.setAttribute('aria-valuetext', text);
}

function choose(index) {
  session = data.sessions[index];
  lines = unpack(session);
  slider.max = session.calls;
  slider.value = session.calls;
  draw();
}

if (data.sessions.length) {
  const select = find('session');
  data.sessions.forEach(({ name, agent, calls }, index) => {
    select.append(new Option(`${agent}: ${name} (${calls} calls)`, index));
  });
  if (data.of > data.sessions.length) {
    find('lines-about').append(` Here are the ${data.sessions.length} most costly of ${data.of} sessions.`);
  }
  policies.forEach((policy, index) => {
    const label = document.createElement('label');
    const box = Object.assign(document.createElement('input'), { type: 'checkbox', checked: ticked[index] });
    box.autocomplete = 'off';
    const sample = make('svg', { width: 26, height: 10, 'aria-hidden': 'true' });
    sample.append(make('path', { class: `line ${policy.style}`, 'stroke-dasharray': policy.dash || 'none', d: 'M0 5H26' }));
    if (policy.own) label.className = 'own';
    const name = document.createElement('span');
    name.textContent = policy.name;
    label.append(box, sample, name);
    find('policies').append(label);
    box.addEventListener('change', () => {
      ticked[index] = box.checked;
      draw();
    });
  });
  select.addEventListener('change', () => choose(select.value));
  slider.addEventListener('input', point);
  svg.addEventListener('pointermove', (event) => {
    const { left, width } = svg.getBoundingClientRect();
    const at = ((event.clientX - left) / width) * svg.viewBox.baseVal.width;
    const call = Math.round(((at - scale.left) / (scale.right - scale.left)) * scale.last);
    slider.value = Math.min(Math.max(call, 0), session.calls - 1) + 1;
    point();
  });
  find('lines').hidden = false;
  choose(0);
  let width = 0;
  new ResizeObserver(() => {
    if (svg.parentElement.clientWidth === width) return;
    width = svg.parentElement.clientWidth;
    draw();
  }).observe(svg.parentElement);
}
