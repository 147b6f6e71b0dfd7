// SPDX-License-Identifier: Apache-2.0
// The modules of the report that know nothing of a page.
import assert from 'node:assert/strict';
import test from 'node:test';

import {axisUnit, metricLabel, parseValue, roundText, valueText} from '../../sim/report/html/format.mjs';
import {bestRow, knee, meets, paretoFrontier, shareBelow} from '../../sim/report/html/frontier.mjs';
import {readData} from '../../sim/report/html/data.mjs';
import {assumedShare, comparableBy, derive, unansweredShare} from '../../sim/report/html/derive.mjs';
import {LabelPlaces} from '../../sim/report/html/labels.mjs';
import {shownRows, unreadWords} from '../../sim/report/html/filter.mjs';
import {fragmentOf, viewOf} from '../../sim/report/html/link.mjs';
import {groupClass, markerPath} from '../../sim/report/html/markers.mjs';
import {linearTicks, logTicks, tickLabels} from '../../sim/report/html/scale.mjs';
import {runsOf, trustOf} from '../../sim/report/html/notes.mjs';
import {joulesOfToken} from '../../sim/report/html/pictures.mjs';
import {countedText, remarksText, unlikeText} from '../../sim/report/html/summary.mjs';
import {columnName, firstView, statisticsOf} from '../../sim/report/html/view.mjs';

import {axis, twoByTwo} from './small_data.mjs';

test('a frontier keeps what no other point beats, equal points both', () => {
  const x = [1, 2, 2, 3, NaN, 4], y = [5, 7, 7, 6, 9, 8];
  assert.deepEqual(paretoFrontier([0, 1, 2, 3, 4, 5], x, y, 'lower', 'higher'), [0, 1, 2, 5]);
  assert.deepEqual(paretoFrontier([0, 1, 2, 3, 4, 5], x, y, 'lower', 'lower'), [0]);
  assert.deepEqual(paretoFrontier([0, 1, 2, 3, 4, 5], x, y, 'higher', 'higher'), [5]);
  assert.deepEqual(paretoFrontier([], x, y, 'lower', 'lower'), []);
});

test('a frontier is the one that a comparison of all pairs finds', () => {
  const values = Array.from({length: 400}, (_, i) => [(i * 7919) % 101, (i * 104729) % 97]);
  const [x, y] = [0, 1].map((k) => values.map((pair) => pair[k])), rows = values.map((_, i) => i);
  for (const [betterX, betterY] of [
           ['lower', 'lower'], ['lower', 'higher'], ['higher', 'lower'], ['higher', 'higher']]) {
    const sx = betterX === 'lower' ? 1 : -1, sy = betterY === 'lower' ? 1 : -1;
    const beats = (a, b) => sx * x[a] <= sx * x[b] && sy * y[a] <= sy * y[b] && (x[a] !== x[b] || y[a] !== y[b]);
    const plain = rows.filter((row) => !rows.some((other) => beats(other, row)));
    assert.deepEqual(paretoFrontier(rows, x, y, betterX, betterY).sort((a, b) => a - b), plain);
  }
});

test('a frontier bends where a point lies furthest from the line between its ends', () => {
  const x = [0, 1, 4, 10], y = [10, 4, 2, 0];
  assert.equal(knee([0, 1, 2, 3], x, y, 'lower', 'lower'), 1);
  assert.equal(knee([0, 3], x, y, 'lower', 'lower'), undefined);
});

test('the sentence compares like with like, where the frontiers are at the same limit', () => {
  const data = twoByTwo(), view = firstView(data);
  view.facet = '';
  view.limits = [{key: 'ttft', bound: 0.2, below: true}];
  const {winners} = derive(data, view);
  assert.deepEqual(winners.map(({name, row, rival}) => [name, row, rival]), [['workload=edit', 0, 4], ['workload=rag', 2, 6]]);
  // cim's own; l4 half-way between 0.1 and 0.3 s: (10 + 20) / 2.
  assert.deepEqual(winners[0].values.map(({value}) => Math.round(value * 1e9) / 1e9), [20, 15]);
  // Under a looser limit nothing of l4 was run nearer it than 0.3 s; under 0.2 s its frontier goes on.
  assert.equal(winners[0].values[1].last, undefined);
  view.limits[0].bound = 0.4;
  assert.deepEqual(derive(data, view).winners[0].values.map(({value, last}) => [value, last]), [[40, undefined], [20, true]]);
  assert.deepEqual(derive(data, view).mixed, [{label: 'workload', values: ['edit', 'rag']}]);
  view.group = 'workload';
  assert.deepEqual(derive(data, view).winners.map(({rival}) => rival), [undefined, undefined]);
});

test('joules that include unlike things are not compared, and what of them is assumed is known', () => {
  const page = (boundaries) => readData({
    name: 'sweep', verdicts: Array(4).fill('valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [],
    group: 'hardware', charts: [{y: 'tokens', x: 'ttft', better: {tokens: 'higher', ttft: 'lower'}}],
    axes: [axis('hardware', 'hardware', ['cim', 'l4'], [0, 0, 1, 1]), axis('rate', 'load', ['1 /s', '2 /s'], [0, 1, 0, 1])],
    energy_boundaries: boundaries,
    metrics: [
      {name: 'tokens', unit: '', better: 'higher', joules: true, values: [20, 40, 10, 20]},
      {name: 'ttft', unit: 's', better: 'lower', values: [0.1, 0.3, 0.1, 0.3]},
      {name: 'assumed_share', unit: 'share', better: 'lower', joules: true, values: [1, 1, 0.25, 0.001]}
    ],
  });
  const unlike = page(['chip', 'chip', 'board', 'board']), view = firstView(unlike);
  const {winners, mixed} = derive(unlike, view);
  assert.deepEqual(winners.map(({name, rival}) => [name, rival]),
                   [['energy_boundary=chip', undefined], ['energy_boundary=board', undefined]]);
  assert.deepEqual(mixed, [{label: 'energy_boundary', values: ['chip', 'board']}]);
  const like = page(Array(4).fill('board')), same = derive(like, firstView(like));
  assert.equal(same.winners.length, 1);
  assert.notEqual(same.winners[0].rival, undefined);
  assert.deepEqual(same.mixed, []);
  assert.deepEqual([0, 1, 2, 3].map((row) => assumedShare(like, firstView(like), row)), [1, 1, 0.25, 0]);
});

test('tokens that were in no answer are told where all that were emitted are counted', () => {
  const page = (emitted) => readData({
    name: 'sweep', verdicts: Array(3).fill('valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [],
    group: 'hardware', charts: [{y: 'cost', x: 'ttft', better: {cost: 'lower', ttft: 'lower'}}],
    axes: [axis('hardware', 'hardware', ['a', 'b', 'c'], [0, 1, 2])],
    metrics: [
      {name: 'cost', unit: 'USD', better: 'lower', emitted, values: [0.5, 1, 2]},
      {name: 'ttft', unit: 's', better: 'lower', values: [0.1, 0.2, 0.3]},
      {name: 'answered_share', unit: 'share', better: 'higher', values: [0.18, 1, 0.995]}
    ],
  });
  const shares = (data) => [0, 1, 2].map((row) => Math.round(1e6 * unansweredShare(data, firstView(data), row)) / 1e6);
  assert.deepEqual(shares(page(true)), [0.82, 0, 0]);  // half a percent is passed over
  assert.deepEqual(shares(page(undefined)), [0, 0, 0]);
  // The sentences of tests/unit/report/winner_test.cpp.
  const said = (joules, tokens) => remarksText([['joules', 'are assumed', joules], ['tokens', 'were in no answer', tokens]]);
  assert.equal(said([0], [0]), '');
  assert.equal(said([0], [0.82]), ' (82.0 % of its tokens were in no answer)');
  assert.equal(said([1], [0.82]), ' (100.0 % of its joules are assumed; 82.0 % of its tokens were in no answer)');
  assert.equal(said([0, 0], [0.2, 0]), '; 20.0 % and 0.0 % of their tokens were in no answer');
  assert.equal(said([1, 1], [0.2, 0.2]), '; 100.0 % of the joules of both are assumed; 20.0 % of the tokens of both were in no answer');
});

test('amounts in unlike currencies are not compared', () => {
  const page = (currencies) => readData({
    name: 'sweep', verdicts: Array(4).fill('valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [],
    group: 'hardware', charts: [{y: 'cost', x: 'ttft', better: {cost: 'lower', ttft: 'lower'}}],
    axes: [axis('hardware', 'hardware', ['one', 'two'], [0, 0, 1, 1]), axis('rate', 'load', ['1 /s', '2 /s'], [0, 1, 0, 1])],
    currencies,
    metrics: [
      {name: 'cost', unit: 'EUR or JPY', better: 'lower', money: true, values: [2, 1, 500, 400]},
      {name: 'ttft', unit: 's', better: 'lower', values: [0.1, 0.3, 0.1, 0.3]},
    ],
  });
  const unlike = page(['EUR', 'EUR', 'JPY', 'JPY']), {winners, mixed} = derive(unlike, firstView(unlike));
  assert.deepEqual(winners.map(({name, rival}) => [name, rival]), [['currency=EUR', undefined], ['currency=JPY', undefined]]);
  assert.deepEqual(mixed, [{label: 'currency', values: ['EUR', 'JPY']}]);
  // Runs without prices have no currency, and no costs.
  const some = page(['EUR', 'EUR', '', '']);
  assert.equal(derive(some, firstView(some)).winners[0].name, '');
});

test('sums over windows of unlike length, and peaks of unlike slices, rank nothing', () => {
  // The two memories of comparable_test.cpp: 57.3 and 61.6 s at 3 USD an hour are 0.0478 and 0.0513 USD.
  const page = (windows, whole = [73, 69.8]) => readData({
    name: 'sweep', verdicts: ['valid', 'valid'], scenarios: {lines: [], texts: []}, details: {}, limits: [],
    group: 'memory', charts: [{y: 'total_cost', x: 'ttft', better: {total_cost: 'lower', ttft: 'lower'}}],
    axes: [axis('memory', 'hardware', ['2 TB/s', '4.8 TB/s'], [0, 1])],
    metrics: [
      {name: 'total_cost', unit: 'USD', better: 'lower', over: ['window'], instead: 'cost_per_million_output_tokens', values: [0.0478, 0.0513]},
      {name: 'peak_w', unit: 'W', better: 'lower', over: ['slices'], instead: 'mean_w', values: [700, 660]},
      {name: 'ttft', unit: 's', better: 'lower', values: [0.2, 0.1]},
      {name: 'window_s', unit: 's', better: 'neither', values: windows},
      {name: 'simulated_s', unit: 's', better: 'neither', values: whole},
      {name: 'completed', unit: '', better: 'neither', values: [400, 400]},
      {name: 'peak_window_s', unit: 's', better: 'neither', values: [0.03125, 0.125]},
    ],
  });
  const unlike = page([57.3, 61.6]), derived = derive(unlike, firstView(unlike));
  assert.deepEqual(derived.unlike.map(({name}) => name), ['total_cost']);
  assert.deepEqual([derived.winners, derived.panels[0].best], [[], []]);
  assert.deepEqual(derived.panels[0].frontiers, [[0], [1]]);  // each of one configuration
  assert.match(unlikeText(unlike, derived, derived.y), /sum over windows that differ in length \(57.3 s to 61.6 s\)\. Look at/);
  for (const alike of [page([61.6, 61.6]), page([61.6, 61.57]), page([73, 69.8])]) {
    const same = derive(alike, firstView(alike));
    assert.deepEqual([same.unlike, same.winners.length], [[], 1]);
  }
  assert.equal(comparableBy(unlike, unlike.columns.get('peak_w'), [0, 1]), false);
  assert.equal(comparableBy(unlike, unlike.columns.get('peak_w'), [1]), true);
});

test('workloads that are not compared have a chart each, and none of them mixes', () => {
  const data = twoByTwo(), {panels, mixed, facets} = derive(data, firstView(data));
  assert.deepEqual([facets.title, panels.map(({name}) => name)], ['workload', ['edit', 'rag']]);
  assert.deepEqual(mixed, []);
  // Rows 0, 1: cim under edit; 4, 5: l4.
  assert.deepEqual(panels[0].frontiers, [[0, 1], [4, 5]]);
  assert.deepEqual(panels[1].frontiers, [[2, 3], [6, 7]]);
});

test('what is filtered or switched off counts nowhere', () => {
  const data = twoByTwo(), view = firstView(data);
  view.filter = 'cim tokens>5';
  assert.deepEqual(derive(data, view).qualifying, [0, 1]);  // cim under rag has 2 and 4
  view.filter = '';
  view.hidden.set('workload', new Set([0]));
  const {shown, panels, winners} = derive(data, view);
  assert.deepEqual(shown, [2, 3, 6, 7]);
  assert.deepEqual(panels.map(({name}) => name), ['rag']);
  assert.deepEqual(winners.map(({row}) => row), [3]);
});

test('a filter knows units, and says which comparisons it cannot read instead of showing nothing', () => {
  const data = twoByTwo(), view = firstView(data);
  view.filter = 'ttft<0.2s tokens>soon hardware>4';
  assert.deepEqual(derive(data, view).shown, [0, 2, 4, 6]);
  assert.deepEqual(unreadWords(data, view.filter),
                   [['tokens>soon', 'tokens is never soon'], ['hardware>4', 'hardware is no number']]);
  assert.deepEqual(unreadWords(data, 'rag ttft<200ms hardware=cim'), []);
  const memory = readData({
    name: 'sweep', verdicts: ['valid', 'valid'], scenarios: {lines: [], texts: []}, details: {}, limits: [], group: '', charts: [],
    axes: [{...axis('hardware.memory', 'hardware', ['24 GB', '48 GB'], [0, 1]), short: 'memory', numbers: [24e9, 48e9]}],
    metrics: [{name: 'idle_w', unit: 'W', better: 'lower', values: [400, 600]}]
  });
  const shown = (filter) => shownRows(memory, {filter, hidden: new Map()});
  assert.deepEqual([shown('memory>40GB'), shown('memory=24GB'), shown('idle_w>0.5kW')], [[1], [0], [1]]);
});

test('a filter is read as scenarios are written, and a unit of something else is none', () => {
  const rates = [0, 1, 0, 1, 0, 1, 0, 1];
  const data = readData({
    name: 'sweep', verdicts: Array(8).fill('valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [], group: '', charts: [],
    axes: [axis('hardware', 'hardware', ['cim', 'l4'], [0, 0, 0, 0, 1, 1, 1, 1]),
           {...axis('rate', 'load', ['1 /s', '2 /s'], rates), numbers: [1, 2]}],
    metrics: [{name: 'ttft', unit: 's', better: 'lower', values: rates.map((rate) => rate ? 0.3 : 0.1)}]
  });
  const shown = (filter) => shownRows(data, {filter, hidden: new Map()});
  for (const text of ['ttft<200 ms', 'ttft < 200 ms', 'ttft <= 0.2 s and rate <= 2 /s', 'ttft<0.2'])
    assert.deepEqual(shown(text), [0, 2, 4, 6], text);
  assert.deepEqual(shown('hardware == cim rate = 1 /s'), [0, 2]);
  assert.deepEqual(shown('rate=1'), [0, 2, 4, 6]);
  // 200 W are no 200 s, and a column that is not there holds nothing back; both are told.
  for (const [text, word, problem] of [['ttft<200W', 'ttft<200W', 'ttft is never 200W'], ['ttft<200 W', 'ttft<200 W', 'ttft is never 200 W'],
                                       ['rate>1 ms', 'rate>1 ms', 'rate is never 1 ms'], ['nosuch>4', 'nosuch>4', 'there is no nosuch']]) {
    assert.deepEqual(shown(text), data.rows, text);
    assert.deepEqual(unreadWords(data, text), [[word, problem]]);
  }
});

test('what has no value on an axis is not counted as compared', () => {
  const data = readData({
    name: 'sweep', verdicts: Array(4).fill('valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [], group: '',
    charts: [{y: 'tpot', x: 'ttft', better: {tpot: 'lower', ttft: 'lower'}}], axes: [axis('value', 'workload', ['1', '50'], [0, 0, 1, 1])],
    metrics: [{name: 'tpot', unit: 's', better: 'lower', values: [null, null, 0.01, 0.02]},
              {name: 'ttft', unit: 's', better: 'lower', values: [0.1, 0.2, 0.1, 0.2]}]
  });
  const view = firstView(data);
  assert.equal(countedText(data, derive(data, view)), '2 configurations of 4 valid are compared; left out: 2 without TPOT. ');
});

test('of repeats the page has one run each, and says so', () => {
  assert.equal(runsOf({count: 8, runs: Array(8).fill(3)}, 8), 'the first run of each of 8 configurations');
  assert.equal(runsOf({count: 8, runs: Array(8).fill(1)}, 8), '8 runs');
  assert.equal(runsOf({count: 1, runs: [1]}, 1), 'this run');
});

test('a limit on what no run has is none, and one on a mean stands at the mean', () => {
  const data = readData({
    name: 'sweep', verdicts: ['valid'], scenarios: {lines: [], texts: []}, details: {}, group: '',
    limits: [{name: 'goodput_rps', bound: 1, below: false}, {name: 'ttft_s.mean', bound: 0.01, below: true}],
    charts: [{y: 'tokens', x: 'ttft_s.p99', better: {}}], axes: [],
    metrics: [
      {name: 'tokens', unit: '', better: 'higher', values: [20]}, {name: 'ttft_s.mean', unit: 's', better: 'lower', values: [0.1]},
      {name: 'ttft_s.p99', unit: 's', better: 'lower', values: [0.3]}
    ]
  });
  const {limits} = firstView(data);
  assert.deepEqual(limits.map(columnName), ['ttft_s.mean']);
  assert.deepEqual(derive(data, firstView(data)).qualifying, []);  // 0.1 s is above 10 ms
  assert.deepEqual(statisticsOf(data, 'ttft_s'), ['mean', 'p99']);
});

test('without limits the winner is where the frontier of all groups bends', () => {
  // b (1, 5), (1.2, 9) and a (5, 9.5), (10, 10): each group's frontier has but two points, that of all bends at b's second.
  const data = readData({
    name: 'sweep', verdicts: Array(4).fill('valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [], group: 'hardware',
    charts: [{y: 'tokens', x: 'ttft', better: {tokens: 'higher', ttft: 'lower'}}],
    axes: [axis('hardware', 'hardware', ['a', 'b'], [1, 1, 0, 0])],
    metrics: [
      {name: 'tokens', unit: '', better: 'higher', values: [5, 9, 9.5, 10]},
      {name: 'ttft', unit: 's', better: 'lower', values: [1, 1.2, 5, 10]}
    ]
  });
  const {winner} = derive(data, firstView(data));
  assert.deepEqual([winner.row, winner.rival], [1, undefined]);
});

test('a load behind the end of a frontier that is worse shows that it ends there', () => {
  const page = (ttft) => readData({
    name: 'sweep', verdicts: Array(4).fill('valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [], group: 'hardware',
    charts: [{y: 'tokens', x: 'ttft', better: {tokens: 'higher', ttft: 'lower'}}],
    axes: [axis('hardware', 'hardware', ['cim', 'l4'], [0, 1, 1, 1])],
    metrics: [
      {name: 'tokens', unit: '', better: 'higher', values: [9, 1, 2, 1.8]},
      {name: 'ttft', unit: 's', better: 'lower', values: [0.4, 0.1, 0.3, ttft]}
    ]
  });
  const rival = (data) => derive(data, firstView(data)).winner.values[1];
  assert.deepEqual([rival(page(0.35)).value, rival(page(0.35)).last], [2, false]);
  assert.deepEqual([rival(page(0.2)).value, rival(page(0.2)).last], [2, true]);
});

test('joules of a token by component are those of its window, and their sum the figure of the table', () => {
  // The window of 300 calls of llama-3.1-8b on one h100-sxm: 6,857 J for 800 of 3,000 tokens.
  const parts = joulesOfToken({joules: {active: 1368.9, compute: 159.4, memory: 489.2, static: 4840}, joules_per_output_token: 8.5719});
  assert.ok(Math.abs(Object.values(parts).reduce((sum, part) => sum + part) - 8.5719) < 1e-9);
  assert.ok(Math.abs(parts.static - 6.05) < 1e-3);  // 4,840 J over 800 tokens
});

test('all tags of the figures count, those that results seldom have too', () => {
  const results = [
    {provenance: {measured: 0, fitted: 0, datasheet: 0, 'fitted end to end': 0.9, assumed: 0.1, extrapolated: 0.04}},
    {provenance: {measured: 0, fitted: 0.5, datasheet: 0, assumed: 0.5, extrapolated: 0}}
  ];
  assert.deepEqual(trustOf(results),
                   {shares: ['25.0 % fitted', '45.0 % fitted end to end', '30.0 % assumed'], extrapolated: '2.0 %'});
});

test('a link says what differs from the first view, and opens just that', () => {
  const data = twoByTwo(), view = firstView(data);
  assert.equal(fragmentOf(data, view), '');
  Object.assign(view, {facet: '', label: 'rate', filter: 'cim rate=1', showInvalid: false, pins: [5, 2], allMetrics: true,
                       sort: {name: 'tokens', down: false}});
  view.x.better = 'higher';
  view.hidden.set('hardware', new Set([1]));
  const fragment = fragmentOf(data, view);
  assert.deepEqual(viewOf(data, fragment), view);
  // Of another report.
  assert.deepEqual(viewOf(data, 'x=nothing,lower,log&group=none&hide.hardware=b200&pins=77&limit.x=p99,3&sort=no,up').x,
                   firstView(data).x);
});

test('56 groups are told apart by colour, shape, hollow marks and dashes', () => {
  const looks = Array.from({length: 56}, (_, group) => `${groupClass(group)} ${markerPath(group, 0, 0, 5)}`);
  assert.equal(new Set(looks).size, 56);
  assert.notEqual(groupClass(0).split(' ')[1], groupClass(8).split(' ')[1]);
});

test('labels stand beside their points, within the chart and on nothing else', () => {
  const places = new LabelPlaces({left: 0, right: 200, top: 0, bottom: 100}, [[20, 50], [60, 50]]);
  const place = places.find('16 /s', [20, 50]);
  assert.equal(place["text-anchor"], 'middle');  // on the right stands the other point; above there is room
  assert.equal(places.find('a name that is much too long for it', [20, 50]), undefined);
  assert.notDeepEqual(places.find('16 /s', [20, 50]), place);
});

test('ticks do not run into one another, nor out of the picture', () => {
  const labels = tickLabels([0, 10, 20, 100], (value) => value, (value) => `${value} ms`, 100);
  assert.deepEqual(labels.map(({tick}) => tick), [0, 100]);
  assert.ok(labels[1].at < 100);
});

test('a title has the unit where the name does not say it', () => {
  const unit = (name, of) => axisUnit({unit: of, label: metricLabel(name, of)});
  assert.deepEqual([unit('ttft_s.p99', 's'), unit('mean_w', 'W'), unit('cost_per_million_output_tokens', 'EUR')], ['s', 'W', 'EUR']);
  assert.deepEqual([unit('output_tokens_per_joule', '1/J'), unit('tokens_per_s_per_user', 'tokens/s/user'), unit('steps', '')],
                   ['', '', '']);
  assert.equal(valueText(2.5, 'EUR'), '2.50 EUR');
});

test('a run without the limited value meets no limit', () => {
  const values = [0.1, 0.2, NaN];
  assert.deepEqual([0, 1, 2].filter((row) => meets([{values, bound: 0.15, below: true}], row)), [0]);
  assert.deepEqual([0, 1, 2].filter((row) => meets([{values, bound: 0.15, below: false}], row)), [1]);
  assert.equal(bestRow([0, 1, 2], values, 'higher'), 1);
});

test('the share below a value is read between quantiles', () => {
  const levels = [0, 0.5, 1], quantiles = [1, 3, 7];
  assert.deepEqual(
      [0.5, 1, 2, 3, 5, 7, 9].map((value) => shareBelow(levels, quantiles, value)), [0, 0, 0.25, 0.5, 0.75, 1, 1]);
});

test('names and values read as people say them', () => {
  assert.equal(metricLabel('ttft_s.p99', 's'), 'TTFT p99');
  assert.equal(metricLabel('output_tokens_per_s_per_mm2', '1/s/mm2'), 'output tokens/s/mm²');
  assert.equal(metricLabel('mean_w', 'W'), 'mean power');
  assert.deepEqual([0.0452, 2.31, 0.000812].map((value) => valueText(value, 's')), ['45.2 ms', '2.31 s', '812 µs']);
  assert.deepEqual(
      [valueText(0.978, 'share'), valueText(13653, ''), valueText(0.41244, '1/s'), valueText(NaN, 's')],
      ['97.8 %', '13,653', '0.412', '–']);
  assert.deepEqual(['200 ms', '1.5s', '0.2', '90 %', 'soon'].map(parseValue), [0.2, 1.5, 0.2, 0.9, NaN]);
  // Prefixes as base/units.cpp reads them: a thousand of W and B, 1,024 of iB.
  assert.deepEqual(['500W', '0.5 kW', '40GB', '2 GiB', '3.35TB/s', '8/s', '3 tokens/J', '2 mJ', '1 parsec'].map(parseValue),
                   [500, 500, 40e9, 2 ** 31, 3.35e12, 8, 3, 0.002, NaN]);
});

test('ticks are round numbers within the axis', () => {
  assert.deepEqual(linearTicks(0, 23, 6), [0, 5, 10, 15, 20]);
  assert.deepEqual(logTicks(0.08, 200, 6), [0.1, 1, 10, 100]);
  assert.deepEqual(logTicks(0.9, 6, 3), [1, 2, 5]);
  assert.deepEqual([0.5, 5000, 2e6].map((value) => roundText(value, '')), ['0.5', '5k', '2M']);
  assert.equal(roundText(0.04, 's'), '40 ms');
});
