// SPDX-License-Identifier: Apache-2.0
// The answer first: who wins under these limits, how many points say anything, and what is on the frontier.
import {html} from './dom.mjs';
import {grouped, ratioText, valueText} from './format.mjs';
import {limitText} from './view.mjs';

export const kVerdicts = {
  valid: 'the run says something about the steady state',
  unsteady: 'too few requests, or a p99 TTFT that is uncertain by more than 30 %: run it longer',
  saturated: 'the queue grew as long as requests arrived: the load is above what the system serves',
  truncated: 'nothing was completed in the measured window, or the run stopped with calls unanswered',
};

const many = (count, one, more = `${one}s`) => `${grouped(count)} ${count === 1 ? one : more}`;
const highest = (better) => better === 'higher' ? 'highest' : 'lowest';

// What was compared, beside the title.
export function drawFacts(root, {data}) {
  const runs = data.runs.reduce((sum, count) => sum + count, 0), axes = data.axes.filter((axis) => axis.texts.length > 1);
  if (data.count === 1) return;
  const counted = runs > data.count ? `${many(data.count, 'configuration')} in ${grouped(runs)} runs` : many(data.count, 'configuration');
  root.textContent = `· ${counted} over ${axes.map(({label}) => label).join(', ')}`;
}

export function drawSummary(root, app) {
  const {data, derived} = app;
  root.replaceChildren(data.count > 1 ? headline(app) : html('p', {class: 'lead'}, ...single(data)),
                       html('p', {class: 'verdicts'}, ...chips(data)));
  if (data.count > 1) root.append(html('p', {class: 'more'}, ...frontierSentence(data, derived)));
}

function headline({data, derived}) {
  const {winner, limits} = derived;
  const under = limits.length ? [' under ', html('span', {class: 'limit'}, limits.map(limitText).join(', '))] : [];
  if (!winner) {
    const none = data.valid.includes(true) ? ['No configuration that is shown qualifies', ...under, '.'] :
                                             ['No run is valid: none says anything about the steady state.'];
    return html('p', {class: 'lead'}, ...none);
  }
  const {column, better, row, group, rival} = winner;
  const lead = [nameOf(data, derived, row, group), ` has the ${highest(better)} ${column.label}`, ...under, ': ',
                html('strong', {class: 'figure'}, valueText(column.values[row], column.unit))];
  const other = column === derived.y ? derived.x : derived.y;
  if (!limits.some((limit) => limit.column === other)) lead.push(` at ${other.label} ${other.text(row)}`);
  if (rival)
    lead.push(', ', html('strong', {class: 'figure'}, ratioText(rival.ratio)), ' that of ',
              nameOf(data, derived, rival.row, rival.group));
  return html('p', {class: 'lead'}, ...lead, '.');
}

// "edge-cim (rate=8 /s count=4)": the group, then what else sets the point apart.
function nameOf(data, {groups}, row, group) {
  const rest = data.axes.filter((axis) => axis.texts.length > 1 && axis.label !== groups.title)
                   .map((axis) => `${axis.label}=${axis.text(row)}`).join(' ');
  if (!groups.title) return html('b', {}, data.labels[row]);
  return html('span', {}, html('b', {}, group), rest && html('span', {class: 'detail'}, ` (${rest})`));
}

function single(data) {
  const result = data.details[0]?.result;
  const text = result ? `${result.model} on ${result.hardware}` : data.name;
  return [html('b', {}, text), ': ', html('strong', {class: 'figure'}, data.verdicts[0]), '.'];
}

const chips = (data) => Object.entries(kVerdicts)
    .map(([verdict, text]) => [verdict, text, data.verdicts.filter((one) => one === verdict).length])
    .filter(([, , count]) => count > 0)
    .map(([verdict, text, count]) => html('span', {class: `chip ${verdict}`, title: text}, `${grouped(count)} ${verdict}`));

function frontierSentence(data, {qualifying, best, x, y, limits}) {
  const valid = data.valid.filter(Boolean).length;
  const words = [`${many(qualifying.length, 'configuration')} of ${grouped(valid)} valid `,
                 limits.length ? `meet${qualifying.length === 1 ? 's' : ''} the limits` : 'are compared', '. '];
  if (best.length > 1)
    words.push(`The frontier has ${many(best.length, 'point')}: from `, pairOf(best[0], x, y), ' to ', pairOf(best.at(-1), x, y), '.');
  return words;
}

const pairOf = (row, x, y) => `${x.label} ${x.text(row)} with ${y.label} ${y.text(row)}`;
