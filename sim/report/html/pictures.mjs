// SPDX-License-Identifier: Apache-2.0
// What the runs of the pinned points looked like: over time, as distributions, and what time and joules went to.
import {stackedBars} from './bars.mjs';
import {html} from './dom.mjs';
import {amount, duration, exactText, percent} from './format.mjs';
import {shareBelow} from './frontier.mjs';
import {lineChart} from './lines.mjs';
import {kTags, provenanceOf} from './notes.mjs';

const kSeries = [
  ['waiting', 'Queue: requests waiting', ''], ['batch', 'Batch: sequences in running steps', ''],
  ['kv_blocks', 'KV blocks in use', ''], ['power_w', 'Power of all devices', 'W']
];
const kCurves = [
  ['ttft_s', 'Time to first token'], ['tpot_s', 'Time per output token'], ['itl_s', 'Gap between tokens'],
  ['e2e_s', 'End to end']
];

export function runPictures({data, derived}) {
  const runs = derived.pins.map((row, i) => ({letter: 'AB'[i], ...data.details[row]})).filter(({result}) => result);
  if (runs.length < derived.pins.length && data.count > 1) {
    const note = html(
        'p', {class: 'note'},
        `The page has the pictures of ${Object.keys(data.details).length} of ${data.count} points: `,
        'those of the frontier that it opens with, and an even sample. Files of the others are in points/.');
    if (!runs.length) return [note];
    return [note, ...sections(runs, data, derived)];
  }
  const repeated = derived.pins.some((row) => data.runs[row] > 1);
  return [
    ...repeated ? [html(
                      'p', {class: 'note'},
                      'The pictures are of the first run of each point; the figures above are means of all.')] :
                  [],
    ...sections(runs, data, derived)
  ];
}

function sections(runs, data, derived) {
  return [
    panel('Over time', seriesCharts(runs)), panel('Latencies', latencyCharts(runs, data, derived)),
    panel('Where time and energy went', breakdowns(runs))
  ].filter(Boolean);
}

const panel = (title, figures) => figures.length ?
    html('section', {class: 'panel'}, html('h3', {}, title), html('div', {class: 'figures'}, ...figures)) :
    null;

function seriesCharts(runs) {
  const lined = runs.filter(({series}) => series);
  const end = Math.max(...lined.map(({series}) => series.window_s * series.waiting.length));
  return kSeries
      .map(
          ([key, title, unit]) =>
              [title, unit,
               lined.filter(({series}) => series[key]?.length)
                   .map(
                       ({letter, series}) =>
                           ({letter, step: true, x: series[key].map((_, i) => i * series.window_s), y: series[key]}))])
      .filter(([, , lines]) => lines.length)
      .map(([title, unit, lines]) => lineChart({title, lines, x: {unit: 's', low: 0, high: end}, y: {unit, low: 0}}));
}

function latencyCharts(runs, data, derived) {
  const levels = data.levels;
  return kCurves
      .map(([key, title]) => {
        const lines =
            runs.filter(({curves}) => curves?.[key]).map(({letter, curves}) => ({letter, x: curves[key], y: levels}));
        if (!lines.length) return null;
        const limits = derived.limits.filter((limit) => limit.key === key);
        const within = limits.map(
            ({bound}) => `within ${exactText(bound, 's')}: ` +
                lines.map(({letter, x}) => `${letter} ${percent(shareBelow(levels, x, bound))}`).join(', '));
        return lineChart({
          title,
          note: within.join('; '),
          lines,
          x: {unit: 's', log: true},
          y: {unit: 'share', low: 0, high: 1},
          marks: limits.map(({bound}) => ({at: bound, text: `limit ${exactText(bound, 's')}`}))
        });
      })
      .filter(Boolean);
}

// The shares of step time that each part of the devices was the limit of.
function boundsOf({breakdown}) {
  if (!breakdown?.steps) return null;
  const seconds = {};
  let all = 0;
  for (const {families} of Object.values(breakdown.steps))
    for (const family of Object.values(families))
      for (const [bound, time] of Object.entries(family.bound_by)) {
        seconds[bound] = (seconds[bound] ?? 0) + time;
        all += time;
      }
  return Object.fromEntries(Object.entries(seconds).map(([bound, time]) => [bound, time / all]));
}

// The phases of a request or a task: {queued_s: 0.5, ...} without the members that are no parts.
function phasesOf(parts) {
  if (!parts) return null;
  const {count, whole_s, ...phases} = parts;
  return Object.fromEntries(Object.entries(phases).map(([name, seconds]) => [name.replace(/_s$/, ''), seconds]));
}

export function joulesOfToken({joules, joules_per_output_token: ofToken}) {
  const all = Object.values(joules).reduce((sum, part) => sum + part, 0);
  return Object.fromEntries(Object.entries(joules).map(([name, part]) => [name, all > 0 ? part / all * ofToken : 0]));
}

// Joules are put to one scale by the tokens that they bought, those of the same window.
function breakdowns(runs) {
  const powered = runs.filter(({result}) => result.energy?.joules_per_output_token > 0);
  const figures = [];
  if (powered.length)
    figures.push(stackedBars({
      title: 'Energy per output token, by component',
      text: (joules) => `${amount(1e3 * joules)} mJ`,
      note: 'static: what devices draw whether they work or not',
      bars: powered.map(({letter, result: {energy}}) => ({letter, parts: joulesOfToken(energy)}))
    }));
  for (const [kind, title] of [
           ['requests', 'A request, from arrival to its last token'], ['tasks', 'A task, from start to end']]) {
    const bars = runs.map(({letter, result}) => ({letter, parts: phasesOf(result.breakdown?.[kind])}))
                     .filter(({parts}) => parts);
    if (bars.length) figures.push(stackedBars({title, bars, text: duration}));
  }
  const share = (title, parts, note) => {
    const bars = runs.filter(({result}) => parts(result)).map(({letter, result}) => ({letter, parts: parts(result)}));
    if (bars.length) figures.push(stackedBars({title, bars, text: percent, whole: true, note}));
  };
  share('Step time, by operator', ({time_share: times}) => times);
  share('Step time, by what bounds it', boundsOf);
  share('Step time, by what its figures rest on', provenanceOf, kTags);
  return figures;
}
