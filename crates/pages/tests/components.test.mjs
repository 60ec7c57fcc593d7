// What components compute, without a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaPath, linePath, pushApart } from '../web/components/chart.js';
import { createLabels } from '../web/components/labels.js';
import { compact, counted, fixed, grouped, median, percent, shareOf } from '../web/components/numbers.js';
import { linear, roundStep, ticks } from '../web/components/scale.js';
import { brief, listed, visible, visibleLines } from '../web/components/text.js';
import { paretoFront } from '../web/study/pareto.js';

const BOUNDS = { x: 0, y: 0, width: 900, height: 500 };

const overlap = (a, b) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

test('numbers read well', () => {
  assert.deepEqual([grouped(0), grouped(999), grouped(1_234_567)], ['0', '999', '1,234,567']);
  assert.deepEqual([fixed(-0.04, 1), fixed(-1.26, 1), fixed(NaN, 1), fixed(null, 1)], ['0.0', '−1.3', '–', '–']);
  assert.deepEqual([counted(1, 'session'), counted(2, 'session')], ['1 session', '2 sessions']);
  assert.deepEqual([compact(12_345), percent(12.34, 1), shareOf(1, 0), shareOf(1, 40)], ['12.3k', '12.3\u00a0%', '0 %', '2.5 %']);
  assert.deepEqual([median([]), median([3, 1, 2]), median([4, 1, 2, 3])], [null, 2, 2.5]);
});

test('nothing of a text is hidden', () => {
  assert.equal(visible('a\u202eb\nc\u0000'), 'a[U+202E]b c\u2400');
  assert.equal(visibleLines('a\r\n\tb\u2028'), 'a\n\tb[U+2028]');
  assert.equal(brief('abcdef', 4), 'abcd…');
  assert.equal(listed(['a', 'b', 'c']).join(''), 'a, b and c');
});

test('axes have round numbers', () => {
  assert.deepEqual([roundStep(5.4, 6), roundStep(100, 6), roundStep(0.5, 5)], [1, 20, 0.1]);
  assert.deepEqual(ticks(42, 100, 20), [60, 80, 100]);
  assert.deepEqual([0, 5, 10].map(linear([0, 10], [100, 0])), [100, 50, 0]);
});

test('lines break off where a point is missing', () => {
  assert.equal(linePath([[0, 1], null, [2, 3], [4, 5]]), 'M0.0 1.0M2.0 3.0L4.0 5.0');
  assert.equal(areaPath([[0, 0], [1, 0]], [[0, 1], [1, 1]]), 'M0.0 0.0L1.0 0.0L1.0 1.0L0.0 1.0Z');
  assert.equal(areaPath([], []), '');
});

test('labels at one height are pushed apart', () => {
  const labels = [{ at: 100 }, { at: 100 }, { at: 99 }];
  pushApart(labels, 14, 110);
  assert.deepEqual(labels.map(({ at }) => at), [82, 96, 110]);
});

test('labels of points in one place do not overlap', () => {
  const labels = createLabels(BOUNDS);
  const places = Array.from({ length: 14 }, (_, index) =>
    labels.place([index % 3, 250 + (index % 5)], { width: 90, height: 14, side: 'right' }),
  );
  places.forEach(({ space }, index) => {
    assert.ok(space.x >= 0 && space.y >= 0 && space.x + space.width <= 900 && space.y + space.height <= 500);
    assert.ok(places.slice(0, index).every((other) => !overlap(other.space, space)));
  });
});

test('a single label is to the right, or to the left at the right edge', () => {
  const labels = createLabels(BOUNDS);
  const label = labels.place([100, 100], { width: 50, height: 10, side: 'right' });
  assert.deepEqual(label, { space: { x: 109, y: 95, width: 50, height: 10 }, x: 109, anchor: 'start', line: null });
  assert.ok(labels.place([890, 100], { width: 50, height: 10, side: 'right' }).space.x < 890);
});

test('the front holds what nothing beats in both', () => {
  const row = (policy, miss100, cost_pct) => ({ policy, miss100, cost_pct });
  const rows = [row('none', 0, 100), row('worse', 3, 90), row('safe', 1, 80), row('cheap', 5, 60)];
  assert.deepEqual(paretoFront(rows).map(({ policy }) => policy), ['none', 'safe', 'cheap']);
});
