// SPDX-License-Identifier: Apache-2.0
// The answer first: who wins under these limits, how many points say anything, and what is on the frontier.
import {assumedShare, limitText} from './derive.mjs';
import {html} from './dom.mjs';
import {grouped, percent, ratioText, roundText, valueText} from './format.mjs';

export const kVerdicts = {
  valid: 'the run says something about the steady state',
  noisy: 'too few requests, or a p99 TTFT that is uncertain by more than 30 %: run it longer, or with more seeds',
  unsteady: 'the load fell or the queue still rose before the system was steady: run it longer',
  saturated: 'the queue grew as long as requests arrived: the load is above what the system serves',
  truncated: 'nothing was completed in the measured window, or the run stopped with calls unanswered',
};

const many = (count, one, more = `${one}s`) => `${grouped(count)} ${count === 1 ? one : more}`;

// What was compared, beside the title.
export function drawFacts(root, {data}) {
  const runs = data.runs.reduce((sum, count) => sum + count, 0),
        axes = data.axes.filter((axis) => axis.texts.length > 1);
  if (data.count === 1) return;
  const counted = runs > data.count ? `${many(data.count, 'configuration')} in ${grouped(runs)} runs` :
                                      many(data.count, 'configuration');
  root.textContent = `· ${counted} over ${axes.map(({label}) => label).join(', ')}`;
}

export function drawSummary(root, app) {
  const {data, derived} = app;
  root.replaceChildren(
      ...data.count > 1 ? [...headline(app), ...settings(data, derived)] : [html('p', {class: 'lead'}, ...single(data))],
      html('p', {class: 'verdicts'}, ...chips(data)), ...data.count > 1 ? mixture(derived) : []);
  if (data.count > 1) root.append(html('p', {class: 'more'}, ...frontierSentence(data, derived)));
}

// What the plot mixes that the sentences do not compare.
function mixture({mixed}) {
  if (!mixed.length) return [];
  const few = (values) => values.slice(0, 4).join(', ') + (values.length > 4 ? ` and ${values.length - 4} more` : '');
  const axes = mixed.map(({label, values}) => `${label} (${few(values)})`).join(', ');
  const one = mixed.map(({label, values}) => `${label} == ${/^[0-9]/.test(values[0]) ? values[0] : `"${values[0]}"`}`);
  return [html(
      'p', {class: 'note notice'}, `The plot and its frontiers mix what is not compared: ${axes}. One of each: `,
      html('code', {}, `llmscape report --where '${one.join(' and ')}'`), '.')];
}

const kMostSentences = 8;

// A sentence for each part of the sweep whose configurations may be compared.
function headline({data, view, derived}) {
  const {winners, limits} = derived;
  const slo = html('span', {class: 'limit'}, limits.map(limitText).join(', '));
  if (!winners.length) {
    const none = data.valid.includes(true) ?
        ['No configuration that is shown ', limits.length ? 'meets ' : 'qualifies', limits.length ? slo : '', '.'] :
        ['No run is valid: none says anything about the steady state.'];
    return [html('p', {class: 'lead'}, ...none)];
  }
  const lines =
      winners.slice(0, kMostSentences).map((winner) => sentence(data, view, derived, winner, slo.cloneNode(true)));
  if (winners.length > kMostSentences)
    lines.push(html(
        'p', {class: 'more'}, `${winners.length - kMostSentences} more are not compared with these: see one with `,
        html('code', {}, '--where'), '.'));
  return lines;
}

function sentence(data, view, derived, {name, row, rival, values: [own, other], bound}, slo) {
  const {limits, x, y} = derived, figure = (text) => html('strong', {class: 'figure'}, text);
  const lead = [
    name && `${name}: `, nameOf(data, derived, row),
    ...limits.length ? [' meets ', slo] : [` reaches ${x.label} `, figure(x.text(row))]
  ];
  const assumed = [row, rival].map((one) => one === undefined ? 0 : assumedShare(data, view, one));
  if (rival === undefined)
    lead.push(
        ` with ${y.label} `, figure(y.text(row)),
        assumed[0] && html('span', {class: 'detail'}, ` (${percent(assumed[0])} of its joules are assumed)`));
  else {
    const overlap = own.low <= other.high && other.low <= own.high, text = ({value}) => valueText(value, y.unit);
    const guessed = assumedText(...assumed.map(percent));
    const end = other.last ? `: its last point is at ${x.text(other.row)}` : '';
    const where = bound === undefined ? '' : `, read off its frontier at ${x.label} ${roundText(bound, x.unit)}${end}`;
    // Nearer the bound the other may do better still.
    const how = other.last ? `with at ${view.y.better === 'higher' ? 'most' : 'least'}` : 'at';
    lead.push(
        ` ${how} `, figure(ratioText(own.value / other.value)), ` the ${y.label} of `, nameOf(data, derived, rival),
        html(
            'span', {class: 'detail'},
            ` (${text(own)} instead of ${text(other)}${where}${guessed}${overlap ? ', but their intervals overlap' : ''})`));
  }
  return html('p', {class: `lead ${derived.winners.length > 2 ? 'several' : ''}`}, ...lead.filter(Boolean), '.');
}

// What of the joules of two is assumed; nothing where none are.
function assumedText(a, b) {
  if (a === b) return a === percent(0) ? '' : `; ${a} of the joules of both are assumed`;
  return `; ${a} and ${b} of their joules are assumed`;
}

// The group, or what sets the point apart where there are none.
const nameOf = (data, {groups}, row) => html('b', {}, groups.title ? groups.names[groups.of[row]] : data.labels[row]);

// "edge-cim with rate=8 /s count=4, l4 with rate=2 /s count=1"
function settings(data, {groups, winner, winners}) {
  const axes = data.axes.filter((axis) => axis.texts.length > 1 && axis.label !== groups.title);
  if (winners.length !== 1 || !groups.title || !axes.length) return [];
  const one = (row) =>
      `${groups.names[groups.of[row]]} with ${axes.map((axis) => `${axis.label}=${axis.text(row)}`).join(' ')}`;
  return [html(
      'p', {class: 'settings'}, [winner.row, winner.rival].filter((row) => row !== undefined).map(one).join(', '))];
}

function single(data) {
  const result = data.details[0]?.result;
  const text = result ? `${result.model} on ${result.hardware}` : data.name;
  return [html('b', {}, text), ': ', html('strong', {class: 'figure'}, data.verdicts[0]), '.'];
}

const chips = (data) =>
    Object.entries(kVerdicts)
        .map(([verdict, text]) => [verdict, text, data.verdicts.filter((one) => one === verdict).length])
        .filter(([, , count]) => count > 0)
        .map(([verdict, text,
               count]) => html('span', {class: `chip ${verdict}`, title: text}, `${grouped(count)} ${verdict}`));

// How many are compared, and why the others that qualify are not: they have no value on an axis, as `pareto` says too.
export function countedText(data, {qualifying, members, x, y, limits}) {
  const valid = data.valid.filter(Boolean).length, placed = members.flat().length;
  const counted = limits.length ? qualifying.length : placed;
  const does = limits.length ? `meet${counted === 1 ? 's' : ''} the limits` : `${counted === 1 ? 'is' : 'are'} compared`;
  const lacks = (column, rows) => rows.filter((row) => !Number.isFinite(column.values[row]));
  const withoutY = lacks(y, qualifying), withoutX = lacks(x, qualifying.filter((row) => !withoutY.includes(row)));
  const unplaced = qualifying.length - placed - withoutY.length - withoutX.length;
  const others = [[y, withoutY.length], [x, withoutX.length]].map(([{label}, count]) => count && `${grouped(count)} without ${label}`);
  others.push(unplaced && `${grouped(unplaced)} that a logarithmic axis has no place for`);
  const left = others.filter(Boolean);
  return `${many(counted, 'configuration')} of ${grouped(valid)} valid ${does}` +
      (left.length ? `; left out: ${left.join(', ')}. ` : '. ');
}

function frontierSentence(data, derived) {
  const {panels, x, y} = derived, words = [countedText(data, derived)];
  const {best} = panels[0];
  if (panels.length === 1 && best.length > 1)
    words.push(
        `The frontier has ${many(best.length, 'point')}: from `, pairOf(best[0], x, y), ' to ',
        pairOf(best.at(-1), x, y), '.');
  return words;
}

const pairOf = (row, x, y) => `${x.label} ${x.text(row)} with ${y.label} ${y.text(row)}`;
