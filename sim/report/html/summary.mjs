// SPDX-License-Identifier: Apache-2.0
// The answer first: who wins under these limits, how many points say anything, and what is on the frontier.
import {assumedShare, comparableBy, limitText, unansweredShare} from './derive.mjs';
import {html} from './dom.mjs';
import {grouped, percent, ratioText, valueText} from './format.mjs';

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
      html('p', {class: 'verdicts'}, ...chips(data, derived)), ...data.count > 1 ? [...mixture(data, derived), ...leftOut(app)] : []);
  if (data.count > 1) root.append(html('p', {class: 'more'}, ...frontierSentence(data, derived)));
}

// What the plot mixes that the sentences do not compare.
function mixture(data, {mixed}) {
  if (!mixed.length) return [];
  const few = (values) => values.slice(0, 4).join(', ') + (values.length > 4 ? ` and ${values.length - 4} more` : '');
  const axes = mixed.map(({label, values}) => `${label} (${few(values)})`).join(', ');
  return [html(
      'p', {class: 'note notice'}, `The plot and its frontiers mix what is not compared: ${axes}. One of each: `,
      html('code', {}, `llmscape report --where '${whereText(data, mixed)}'`), '.')];
}

// The first of each as a condition that a shell hands on.
export function whereText(data, mixed) {
  const condition = ({label, values: [first]}) => {
    const axis = data.axes.find((one) => one.label === label);  // joules and money have names
    const written = axis ? (axis.conditions ?? axis.texts)[axis.texts.indexOf(first)] : `"${first}"`;
    return `${label} == ${written}`;
  };
  return mixed.map(condition).join(' and ').replaceAll("'", "'\\''");
}

// What was asked for and is not seen: points that failed, objectives beyond the two of the plot.
function leftOut({data, view}) {
  const others = (data.left_out ?? []).filter(({name}) => data.columns.has(name) && ![view.x.name, view.y.name].includes(name))
                     .map(({name, better}) => `${data.columns.get(name).label} (${better} is better)`);
  return [
    data.failed && html('p', {class: 'note'}, data.failed),
    others.length && html('p', {class: 'note'}, `Asked for, and on no axis: ${others.join(', ')}. Chart or Axes show it.`)
  ].filter(Boolean);
}

const kMostSentences = 8;

// A sentence for each part of the sweep whose configurations may be compared.
function headline({data, view, derived}) {
  const {winners, limits, unlike} = derived;
  const slo = html('span', {class: 'limit'}, limits.map(limitText).join(', '));
  const told = unlike.map((column) => html('p', {class: winners.length ? 'note notice' : 'lead'}, unlikeText(data, derived, column)));
  if (!winners.length && told.length) return told;
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
  return [...lines, ...told];
}

// "Nothing is ranked by total cost: it is a sum over windows that differ in length (57.3 s to 61.6 s). Look at ..."
export function unlikeText(data, {shown, alone}, column) {
  const valid = shown.filter((row) => data.valid[row]);
  const what = column.over.find((one) => !comparableBy(data, {...column, over: [one]}, valid)) ?? column.over[0];
  const sum = what === 'window', length = data.columns.get(sum ? 'window_s' : 'peak_window_s');
  const lengths = valid.filter((row) => Number.isFinite(length?.values[row])).sort((a, b) => length.values[a] - length.values[b]);
  const ends = lengths.length ? ` (${length.text(lengths[0])} to ${length.text(lengths.at(-1))})` : '';
  const instead = data.columns.get(column.instead)?.label ?? column.instead;
  const ranked = alone.includes(column) ? 'No group is held against another by' : 'Nothing is ranked by';
  return `${ranked} ${column.label}: it is ${sum ? 'a sum over windows' : 'the peak of slices'} that differ in length${ends}. Look at ${instead}.`;
}

function sentence(data, view, derived, winner, slo) {
  const {name, row, rival, values: [own, other], place, alone, others} = winner;
  const {limits, x, y} = derived, figure = (text) => html('strong', {class: 'figure'}, text);
  const detail = (text) => html('span', {class: 'detail'}, text);
  const inAll = rival === undefined && !limits.length && alone;
  const lead = [
    name && `${name}: `, nameOf(data, derived, row),
    ...limits.length ? [' meets ', slo] :
        inAll        ? [' is the best in all objectives: '] :
                       [` reaches ${x.label} `, figure(x.text(row))]
  ];
  const rows = rival === undefined ? [row] : [row, rival];
  const remarks = [
    ['joules', 'are assumed', rows.map((one) => assumedShare(data, view, one))],
    ['tokens', 'were in no answer', rows.map((one) => unansweredShare(data, view, one))]
  ];
  const said = remarksText(remarks);
  if (rival === undefined) {
    if (inAll) lead.push(`${x.label} `, figure(x.text(row)));
    lead.push(
        ` with ${y.label} `, figure(y.text(row)), said && detail(said),
        inAll ? '' : others ? '; no other group does' : limits.length ? ', the best of those compared' : '');
  } else {
    const overlap = (own.low < own.high || other.low < other.high) && own.low <= other.high && other.low <= own.high;
    const text = ({value, row: at}) => valueText(value, y.unitAt(at));
    const end = other.last ? `: its last point is at ${x.text(other.row)}` : '';
    const where = place === undefined ? '' : `, read off its frontier at ${x.label} ${place}${end}`;
    // Nearer the bound the other may do better still.
    const how = other.last ? `with at ${view.y.better === 'higher' ? 'most' : 'least'}` : 'at';
    const unsure = overlap ? ', but their intervals overlap' : '';
    if (other.value === 0)
      lead.push(` with ${y.label} `, figure(text(own)), ` instead of ${text(other)} of `, nameOf(data, derived, rival),
                detail(`${where}${said}${unsure}`));
    else
      lead.push(` ${how} `, figure(ratioText(own.value / other.value)), ` the ${y.label} of `, nameOf(data, derived, rival),
                detail(` (${text(own)} instead of ${text(other)}${where}${said}${unsure})`));
  }
  return html('p', {class: `lead ${derived.winners.length > 2 ? 'several' : ''}`}, ...lead.filter(Boolean), '.');
}

// What the figures of one or two rest on, [["joules", "are assumed", shares of the rows], ...]; nothing where all are 0.
export function remarksText(remarks) {
  const told = remarks.filter(([, , shares]) => shares.some((share) => share > 0)).map(([what, is, shares]) => {
    const [a, b] = shares.map(percent);
    if (b === undefined) return `${a} of its ${what} ${is}`;
    return a === b ? `; ${a} of the ${what} of both ${is}` : `; ${a} and ${b} of their ${what} ${is}`;
  });
  return !told.length || told[0].startsWith(';') ? told.join('') : ` (${told.join('; ')})`;
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

const chips = (data, derived) => chipTexts(data, derived).map(
    ([verdict, text]) => html('span', {class: `chip ${verdict}`, title: kVerdicts[verdict]}, text));

// [["valid", "5 of 8 valid"], ...]: of those that filters leave, and of all where these differ.
export function chipTexts(data, {shown}) {
  const counted = (rows) => {
    const counts = {};
    for (const row of rows) counts[data.verdicts[row]] = (counts[data.verdicts[row]] ?? 0) + 1;
    return counts;
  };
  const left = counted(shown), all = shown.length < data.count ? counted(data.rows) : left;
  return Object.keys(kVerdicts).map((verdict) => [verdict, left[verdict] ?? 0, all[verdict] ?? 0])
      .filter(([, , all]) => all > 0)
      .map(([verdict, left, all]) =>
               [verdict, `${left < all ? `${grouped(left)} of ` : ''}${grouped(all)} ${verdict}${left < all ? ' shown' : ''}`]);
}

// How many are compared, and why the others that qualify are not: they have no value on an axis, as `pareto` says too.
export function countedText(data, {shown, qualifying, members, x, y, limits}) {
  const valid = shown.filter((row) => data.valid[row]).length, placed = members.flat().length;
  const counted = limits.length ? qualifying.length : placed;
  const does = limits.length ? `meet${counted === 1 ? 's' : ''} the limits` : `${counted === 1 ? 'is' : 'are'} compared`;
  const lacks = (column, rows) => rows.filter((row) => !Number.isFinite(column.values[row]));
  const withoutY = lacks(y, qualifying), withoutX = lacks(x, qualifying.filter((row) => !withoutY.includes(row)));
  const unplaced = qualifying.length - placed - withoutY.length - withoutX.length;
  const others = [[y, withoutY.length], [x, withoutX.length]].map(([{label}, count]) => count && `${grouped(count)} without ${label}`);
  others.push(unplaced && `${grouped(unplaced)} that a logarithmic axis has no place for`);
  const left = others.filter(Boolean);
  const filtered = shown.length < data.count ? ' shown' : '';
  return `${many(counted, 'configuration')} of ${grouped(valid)} valid${filtered} ${does}` +
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
