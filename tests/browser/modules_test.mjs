// SPDX-License-Identifier: Apache-2.0
// The modules of the report that know nothing of a page.
import assert from 'node:assert/strict';
import test from 'node:test';

import {metricLabel, parseValue, roundText, valueText} from '../../sim/report/html/format.mjs';
import {bestRow, knee, meets, paretoFrontier, shareBelow} from '../../sim/report/html/frontier.mjs';
import {readData} from '../../sim/report/html/data.mjs';
import {linearTicks, logTicks} from '../../sim/report/html/scale.mjs';
import {assumedShare, derive, firstView} from '../../sim/report/html/view.mjs';

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
  // Two machines under two workloads at two rates: cim is twice as good under each, and 20 times across them.
  const axis = (name, role, texts, of) => ({name, short: name, role, texts, of, numbers: null});
  const machines = [0, 0, 0, 0, 1, 1, 1, 1], works = [0, 0, 1, 1, 0, 0, 1, 1], rates = [0, 1, 0, 1, 0, 1, 0, 1];
  const tokens = machines.map((m, i) => (m ? 1 : 2) * (works[i] ? 1 : 10) * (rates[i] ? 2 : 1));
  const data = readData({
    name: 'sweep', verdicts: Array(8).fill('valid'), scenarios: {lines: [], texts: []}, details: {}, limits: [],
    group: 'hardware', charts: [{y: 'tokens', x: 'ttft', better: {tokens: 'higher', ttft: 'lower'}}],
    axes: [
      axis('hardware', 'hardware', ['cim', 'l4'], machines), axis('workload', 'workload', ['edit', 'rag'], works),
      axis('rate', 'load', ['1 /s', '2 /s'], rates)
    ],
    metrics: [
      {name: 'tokens', unit: '', better: 'higher', values: tokens},
      {name: 'ttft', unit: 's', better: 'lower', values: rates.map((rate) => rate ? 0.3 : 0.1)}
    ],
  });
  const view = firstView(data);
  view.limits = [{key: 'ttft', bound: 0.2, below: true}];
  const {winners} = derive(data, view);
  assert.deepEqual(winners.map(({name, row, rival}) => [name, row, rival]), [['workload=edit', 0, 4], ['workload=rag', 2, 6]]);
  // Half-way between 0.1 and 0.3 s: cim (20 + 40) / 2, l4 (10 + 20) / 2.
  assert.deepEqual(winners[0].values.map(({value}) => Math.round(value * 1e9) / 1e9), [30, 15]);
  assert.deepEqual(derive(data, view).mixed, [{label: 'workload', values: ['edit', 'rag']}]);
  view.group = 'workload';
  assert.deepEqual(derive(data, view).winners.map(({rival}) => rival), [undefined, undefined]);
});

test('joules that include unlike things are not compared, and what of them is assumed is known', () => {
  const axis = (name, role, texts, of) => ({name, short: name, role, texts, of, numbers: null});
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
});

test('ticks are round numbers within the axis', () => {
  assert.deepEqual(linearTicks(0, 23, 6), [0, 5, 10, 15, 20]);
  assert.deepEqual(logTicks(0.08, 200, 6), [0.1, 1, 10, 100]);
  assert.deepEqual(logTicks(0.9, 6, 3), [1, 2, 5]);
  assert.deepEqual([0.5, 5000, 2e6].map((value) => roundText(value, '')), ['0.5', '5k', '2M']);
  assert.equal(roundText(0.04, 's'), '40 ms');
});
