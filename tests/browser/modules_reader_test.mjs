// SPDX-License-Identifier: Apache-2.0
// What a reader types and reads: limits, filters, links, sentences. The modules of the report that know nothing of a page.
import assert from 'node:assert/strict';
import test from 'node:test';

import {typedBound} from '../../sim/report/html/controls.mjs';
import {readData} from '../../sim/report/html/data.mjs';
import {derive, kAlike, kFrontier, kQualifies, limitText} from '../../sim/report/html/derive.mjs';
import {shownRows, unreadWords} from '../../sim/report/html/filter.mjs';
import {exactText, ratioText, valueFor} from '../../sim/report/html/format.mjs';
import {fragmentOf, viewOf} from '../../sim/report/html/link.mjs';
import {makeScale} from '../../sim/report/html/scale.mjs';
import {chipTexts, countedText, unlikeText, whereText} from '../../sim/report/html/summary.mjs';
import {firstView} from '../../sim/report/html/view.mjs';

import {axis, twoByTwo} from './small_data.mjs';

test('a link without pins opens without pins, and two limits on one metric both survive', () => {
  const data = readData({
    name: 'sweep', verdicts: ['valid', 'valid'], points: [0, 1], scenarios: {lines: [], texts: []}, details: {}, group: '',
    limits: [{name: 'ttft_s.p99', bound: 0.6, below: true}, {name: 'ttft_s.p50', bound: 0.15, below: true}],
    charts: [{y: 'tokens', x: 'ttft_s.p99', better: {}}], axes: [],
    metrics: [
      {name: 'tokens', unit: '', better: 'higher', values: [20, 10]}, {name: 'ttft_s.p50', unit: 's', better: 'lower', values: [0.1, 0.2]},
      {name: 'ttft_s.p99', unit: 's', better: 'lower', values: [0.3, 0.4]}
    ]
  });
  const view = firstView(data);
  view.pins = [];
  view.limits[1].bound = 0.2;
  const fragment = fragmentOf(data, view);
  assert.equal(fragment, 'pins=&limit.ttft_s.2=p50%2C0.2');
  assert.deepEqual(viewOf(data, fragment), view);  // the first was p50 <= 200 ms, the second 150 ms, before
  view.limits[0].bound = 0;  // a bound, too
  assert.equal(viewOf(data, fragmentOf(data, view)).limits[0].bound, 0);
});

test('a limit that is typed wrongly stays as it was, and says why; 0 is a bound', () => {
  const ttft = {unit: 's', metric: true, label: 'TTFT p99'}, power = {unit: 'W', metric: true, label: 'mean power'};
  assert.deepEqual(['250 ms', '0', 'any', ''].map((text) => typedBound(ttft, true, text).bound), [0.25, 0, Infinity, Infinity]);
  assert.equal(typedBound(ttft, false, 'any').bound, -Infinity);
  for (const text of ['abc', '200 W', '-5'])
    assert.deepEqual(typedBound(ttft, true, text),
                     {problem: `TTFT p99 is never ${text}: the limit stays as it was. Write it as 250 ms, or any for none.`});
  assert.equal(typedBound(power, true, '5 kW').bound, 5000);
});

test('a chart in which nothing can be drawn stays, empty', () => {
  const data = twoByTwo(), view = firstView(data);
  view.filter = 'nosuchword';
  const {panels, winners, shown} = derive(data, view);
  assert.deepEqual([panels.length, panels[0].rows, panels[0].best, winners, shown], [1, [], [], [], []]);
});

test('whiskers that reach 0 or less on a logarithmic axis end at its edge', () => {
  const scale = makeScale(0.1, 10, 0, 100, true), along = makeScale(0.1, 10, 100, 0, true);
  // log10 of 0 lies beyond every edge: below 0 pixels across, beyond 100 upwards.
  assert.deepEqual([0, -0.2].map((value) => Math.max(0, scale(value))), [0, 0]);
  assert.deepEqual([0, -0.2].map((value) => Math.min(100, along(value))), [100, 100]);
});

test('filters reach counts and verdicts', () => {
  const data = twoByTwo(), view = firstView(data);
  data.verdicts[3] = 'noisy';
  data.valid[3] = false;
  assert.deepEqual(chipTexts(data, derive(data, view)), [['valid', '7 valid'], ['noisy', '1 noisy']]);
  view.filter = 'cim';  // rows 0 to 3, of which the last is noisy
  assert.equal(countedText(data, derive(data, view)), '3 configurations of 3 valid shown are compared. ');
  assert.deepEqual(chipTexts(data, derive(data, view)), [['valid', '3 of 7 valid shown'], ['noisy', '1 noisy']]);
});

test('a limit is told with all its digits and its unit, and read again', () => {
  assert.deepEqual(
      [[1.234, 's'], [0.2, 's'], [5000, 'W'], [1234.5, 'W'], [0.001, 'share'], [6, 'EUR'], [20000, ''], [5, '1/s'], [8, '/s']].map(
          ([value, unit]) => exactText(value, unit)),
      ['1.234 s', '200 ms', '5 kW', '1.2345 kW', '0.1 %', '6 EUR', '20000', '5', '8 /s']);
  for (const [value, unit] of [[1.234, 's'], [1234.5, 'W'], [0.001, 'share'], [6, 'EUR'], [40e9, 'B']])
    assert.ok(Math.abs(valueFor({unit, metric: true}, exactText(value, unit)) / value - 1) < 1e-12, unit);
  assert.equal(limitText({column: {label: 'mean power', unit: 'W'}, bound: 5000, below: true}), 'mean power ≤ 5 kW');
  assert.deepEqual([0, 9982.6, 2.5, NaN].map(ratioText), ['0×', '9,983×', '2.50×', '–']);
});

test('a row tells its own currency where there are several', () => {
  const data = readData({
    name: 'sweep', verdicts: ['valid', 'valid'], scenarios: {lines: [], texts: []}, details: {}, limits: [], group: '', charts: [],
    axes: [], currencies: ['EUR', 'JPY'],
    metrics: [{name: 'capital', unit: 'EUR or JPY', better: 'lower', money: true, values: [2, 500]},
              {name: 'cost', unit: 'EUR or JPY/Mtoken', better: 'lower', money: true, values: [2, 500]}]
  });
  assert.deepEqual([0, 1].map(data.columns.get('capital').text), ['2.00 EUR', '500 JPY']);
  assert.deepEqual([0, 1].map(data.columns.get('cost').text), ['2.00 EUR', '500 JPY']);
});

// Rows of two groups, a and b, with the values of x and y, and half the width of the intervals of y.
function pairs(rows, width = 0) {
  return readData({
    name: 'sweep', verdicts: rows.map(() => 'valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [], group: 'hardware',
    charts: [{y: 'tokens', x: 'ttft', better: {tokens: 'higher', ttft: 'lower'}}],
    axes: [axis('hardware', 'hardware', ['a', 'b'], rows.map(([group]) => group === 'b' ? 1 : 0))],
    metrics: [
      {name: 'tokens', unit: '', better: 'higher', values: rows.map(([, , y]) => y),
       ...width ? {low: rows.map(([, , y]) => y - width), high: rows.map(([, , y]) => y + width)} : {}},
      {name: 'ttft', unit: 's', better: 'lower', values: rows.map(([, x]) => x)}
    ]
  });
}

test('points are not told apart where one objective alone has intervals', () => {
  // 9.5 and 10 at one place overlap within 1 either way; 8 does not.
  const data = pairs([['a', 0.1, 10], ['a', 0.1, 9.5], ['a', 0.1, 7.9]], 1);
  assert.deepEqual([...derive(data, firstView(data)).state], [kFrontier, kAlike, kQualifies]);
  const exact = pairs([['a', 0.1, 10], ['a', 0.1, 9.5]]);
  assert.deepEqual([...derive(exact, firstView(exact)).state], [kFrontier, kQualifies]);
});

test('a winner knows whether others could be held against it, and whether it is all of the frontier', () => {
  const of = (rows, bound) => {
    const data = pairs(rows), view = firstView(data);
    if (bound) view.limits = [{key: 'ttft', bound, below: true}];
    const {row, rival, alone, others} = derive(data, view).winner;
    return [row, rival, alone, others];
  };
  assert.deepEqual(of([['a', 0.1, 10], ['a', 0.2, 9], ['a', 0.3, 8]]), [0, undefined, true, false]);
  assert.deepEqual(of([['a', 0.1, 10], ['a', 0.2, 11]]), [1, undefined, false, false]);
  assert.deepEqual(of([['a', 0.1, 10], ['b', 0.2, 9]], 0.15), [0, undefined, true, true]);  // b is at 0.2 s only
  assert.deepEqual(of([['a', 0.1, 10], ['b', 0.2, 11]]), [1, 0, false, true]);
});

test('the condition that shows one part can be typed as it stands', () => {
  const data = {axes: [{label: 'model', texts: ['8b text', '8'], conditions: ['"8b text"', '8']},
                       {label: 'name', texts: ['it\'s "q"'], conditions: ['"it\'s ""q"""']}, {label: 'rate', texts: ['4 /s']}]};
  const of = (label, value) => whereText(data, [{label, values: [value]}]);
  assert.deepEqual([of('model', '8b text'), of('model', '8'), of('rate', '4 /s'), of('energy_boundary', 'chip')],
                   ['model == "8b text"', 'model == 8', 'rate == 4 /s', 'energy_boundary == "chip"']);
  // A shell joins '...it' \' 's...' to one word.
  assert.equal(of('name', 'it\'s "q"'), `name == "it'\\''s ""q"""`);
});

test('a filter reads quotes and values with blanks', () => {
  const data = readData({
    name: 'sweep', verdicts: Array(3).fill('valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [], group: '', charts: [],
    axes: [axis('model', 'workload', ['8b text', '4 bits', '70b'], [0, 1, 2])], currencies: ['EUR', 'EUR', 'EUR'],
    metrics: [{name: 'mean_w', unit: 'W', better: 'lower', values: [1000, 2000, 3000]},
              {name: 'total_cost', unit: 'EUR', better: 'lower', money: true, values: [5, 6, 7]}]
  });
  const shown = (filter) => shownRows(data, {filter, hidden: new Map()});
  for (const text of ['model="8b text"', "model == '8b text'", 'model=8b text', '"8b text"', 'model!="4 bits" mean_w<2kW'])
    assert.deepEqual(shown(text), [0], text);
  assert.deepEqual([shown('mean_power>=2 kW'), shown('"mean power" >= 2 kW'), shown('total_cost<6 EUR'), shown('bits')],
                   [[1, 2], [1, 2], [0], [1]]);
  assert.deepEqual(unreadWords(data, 'model=8c or not "8b te'), [
    ['model=8c', 'model is never 8c'], ['or', 'words and comparisons all have to hold'],
    ['not', 'write != for what a value is not'], ['8b te', 'its quote does not end']
  ]);
});

// In each of two workloads windows are alike.
test('windows that are unlike in two slices, or in two groups, are no reason to rank neither', () => {
  const works = (group) => readData({
    name: 'sweep', verdicts: Array(4).fill('valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [],
    group, charts: [{y: 'total_cost', x: 'ttft', better: {total_cost: 'lower', ttft: 'lower'}}],
    axes: [axis('memory', 'hardware', ['2 TB/s', '4.8 TB/s'], [0, 1, 0, 1]),
           axis('work', group === 'work' ? 'hardware' : 'workload', ['edit', 'rag'], [0, 0, 1, 1])],
    metrics: [
      {name: 'total_cost', unit: 'USD', better: 'lower', over: ['slices', 'window'], instead: 'mean_w', values: [0.0478, 0.0513, 0.09, 0.08]},
      {name: 'ttft', unit: 's', better: 'lower', values: [0.2, 0.1, 0.2, 0.1]},
      {name: 'window_s', unit: 's', better: 'neither', values: [50, 50, 80, 80]},
    ],
  });
  const sliced = works('memory'), own = derive(sliced, firstView(sliced));
  assert.deepEqual([own.unlike, own.winners.map(({name, row}) => [name, row])], [[], [['work=edit', 0], ['work=rag', 3]]]);
  const grouped = works('work'), apart = derive(grouped, firstView(grouped));
  assert.deepEqual([apart.winners, apart.panels[0].frontiers], [[], [[1, 0], [3]]]);
  assert.match(unlikeText(grouped, apart, apart.y), /^No group is held against another by .*: it is a sum over windows .*50.0 s to 80.0 s/);
});
