// SPDX-License-Identifier: Apache-2.0
// How far the figures can be trusted, what the words mean, and where the page comes from.
import {html} from './dom.mjs';
import {grouped, percent} from './format.mjs';
import {kVerdicts} from './summary.mjs';

export const kTags =
    'measured: timed kernels; fitted: a form fitted to them; datasheet: published peaks; ' +
    'fitted end to end: set from what whole models were measured to do; assumed: an estimate';

// Shares of step time by the tag of the figures that it rests on; results leave out a tag that is rare and absent.
export function provenanceOf({provenance}) {
  if (!provenance) return null;
  const {extrapolated, ...tags} = provenance;
  return tags;
}

export function drawNotes(root, {data}) { root.replaceChildren(accuracy(data), definitions(data), origin(data)); }

// Of several results, in the mean: ["70.0 % fitted", ...] and what is extrapolated.
export function trustOf(results) {
  const mean = (tag) => results.reduce((sum, {provenance}) => sum + (provenance[tag] ?? 0), 0) / results.length;
  const tags = new Set(results.flatMap((result) => Object.keys(provenanceOf(result))));
  return {
    shares: [...tags].filter((tag) => mean(tag) > 0).map((tag) => `${percent(mean(tag))} ${tag}`),
    extrapolated: percent(mean('extrapolated'))
  };
}

// "this run", "8 runs", "the first run of each of 8 configurations": pages hold the details of one repeat.
export function runsOf(data, configurations) {
  const runs = data.runs.reduce((sum, count) => sum + count, 0);
  if (data.count === 1 && runs === 1) return 'this run';
  if (runs === data.count) return configurations === 1 ? 'one run' : `${grouped(configurations)} runs`;
  return `the first run of ${configurations === 1 ? 'this configuration' : `each of ${grouped(configurations)} configurations`}`;
}

function accuracy(data) {
  const results = Object.values(data.details).map(({result}) => result).filter((result) => result?.provenance);
  const {shares, extrapolated} = trustOf(results);
  const whiskers = data.metrics.some((metric) => metric.low !== metric.values);
  return html(
      'section', {class: 'note-block', id: 'accuracy'}, html('h3', {}, 'How far to trust it'),
      shares.length ?
          html(
              'p', {}, 'Of the step time of ', runsOf(data, results.length),
              ', ', html('b', {}, shares.join(', ')), '; ', html('b', {}, extrapolated),
              ' lies outside the range that its parameters are valid for.') :
                                                                      '',
      html(
          'p', {}, kTags,
          '. Figures that are assumed or extrapolated order alternatives; they do not promise a value.'),
      html(
          'p', {},
          whiskers ?
              'Whiskers are 95 % intervals over repeats, or 90 % intervals from the errors of the kernel models. ' +
                  'Two points whose whiskers overlap are not told apart.' :
              'The runs have no intervals: sweep with repeats to get them. Small differences between points may be chance.'),
      html(
          'p', {},
          'docs/accuracy.md of llmscape says how far predictions were from measurements, by kernel and by run; ',
          html('code', {}, 'llmscape show hardware/NAME'), ' gives the source of each figure of a device.'));
}

function definitions(data) {
  return html(
      'section', {class: 'note-block'}, html('h3', {}, 'What the words mean'),
      html(
          'dl', {class: 'terms'},
          ...Object.entries(kVerdicts).flatMap(
              ([name, text]) => [html('dt', {}, html('span', {class: `chip ${name}`}, name)), html('dd', {}, text)])),
      html(
          'details', {}, html('summary', {}, 'Metrics'),
          html(
              'dl', {class: 'terms'},
              ...data.metrics.flatMap(
                  (metric) =>
                      [html('dt', {}, metric.label),
                       html('dd', {}, metric.definition, metric.unit && ` [${metric.unit}]`)]))));
}

function origin(data) {
  const facts = Object.entries(data.origin).filter(([, value]) => value !== '' && value !== null);
  return html(
      'section', {class: 'note-block'}, html('h3', {}, 'Where it comes from'),
      html(
          'dl', {class: 'terms'},
          ...facts.flatMap(([name, value]) => [html('dt', {}, name), html('dd', {}, String(value))])));
}
