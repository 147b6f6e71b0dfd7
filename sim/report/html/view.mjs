// SPDX-License-Identifier: Apache-2.0
// What the reader has chosen, and what follows from it. Nothing here knows of the page.
import {roundText} from './format.mjs';
import {bestRow, knee, meets, paretoFrontier} from './frontier.mjs';

const kLimited = ['ttft_s', 'tpot_s', 'e2e_s'];
export const kStatistics = ['p50', 'p90', 'p95', 'p99'];

// The view that the page opens with: what `llmscape report` was asked for, else what the plan aims at.
export function firstView(data) {
  const limits = kLimited.filter((key) => data.columns.has(`${key}.p99`))
                     .map((key) => ({key, statistic: 'p99', bound: Infinity, below: true}));
  for (const {name, bound, below} of data.limits) {
    const [key, statistic] = name.split('.');
    const known = limits.find((limit) => limit.key === key && limit.bound === Infinity);
    if (known && below) Object.assign(known, {statistic, bound});
    else limits.push({key, statistic, bound, below});
  }
  const view = {group: data.group, limits, showInvalid: true, hidden: new Set(), pins: null};
  setChart(data, view, data.charts[0] ?? {y: data.numeric[0].name, x: data.numeric[1].name, better: {}});
  return view;
}

// Both axes at once.
export function setChart(data, view, {x, y, better}) {
  setAxis(data, view, 'x', x);
  setAxis(data, view, 'y', y);
  view.x.better = better[x] ?? view.x.better;
  view.y.better = better[y] ?? view.y.better;
}

export const columnName = ({key, statistic}) => statistic ? `${key}.${statistic}` : key;

// Chooses a column for an axis: on a logarithmic scale where its values span more than a factor of 20.
export function setAxis(data, view, side, name) {
  const column = data.columns.get(name);
  const [low, high] = extent(column.values, data.rows);
  view[side] = {name, better: column.better === 'higher' ? 'higher' : 'lower', log: low > 0 && high / low > 20};
}

export function extent(values, rows) {
  let low = Infinity, high = -Infinity;
  for (const row of rows) {
    if (values[row] < low) low = values[row];
    if (values[row] > high) high = values[row];
  }
  return [low, high];
}

// What a point is in the plot.
export const kHidden = 0, kInvalid = 1, kMisses = 2, kQualifies = 3;
export const kAlike = 4;  // its intervals overlap those of a point of the frontier
export const kFrontier = 5;

const overlap = ({low, high}, a, b) => low[a] < high[a] && low[a] <= high[b] && low[b] <= high[a];

// Which points stand in the plot, which qualify, the frontier of each group, and who wins.
export function derive(data, view) {
  const x = data.columns.get(view.x.name), y = data.columns.get(view.y.name);
  const limits =
      view.limits.filter(({bound}) => Number.isFinite(bound)).map((limit) => ({
                                                                    ...limit,
                                                                    column: data.columns.get(columnName(limit)),
                                                                    values: data.columns.get(columnName(limit)).values
                                                                  }));
  const groups = groupsOf(data, view);
  const groupOf = groups.of;
  const drawable = (row) => Number.isFinite(x.values[row]) && Number.isFinite(y.values[row]) &&
      !(view.x.log && x.values[row] <= 0) && !(view.y.log && y.values[row] <= 0);
  const state = new Uint8Array(data.count);
  const members = groups.names.map(() => []), qualifying = [];
  for (const row of data.rows) {
    if (data.valid[row] && meets(limits, row)) qualifying.push(row);
    if (view.hidden.has(groupOf[row]) || !drawable(row)) continue;
    if (!data.valid[row]) state[row] = view.showInvalid ? kInvalid : kHidden;
    else if (!meets(limits, row)) state[row] = kMisses;
    else {
      state[row] = kQualifies;
      members[groupOf[row]].push(row);
    }
  }
  const frontiers = members.map((rows) => paretoFrontier(rows, x.values, y.values, view.x.better, view.y.better));
  members.forEach((rows, group) => {
    for (const row of rows)
      if (frontiers[group].some((best) => overlap(x, row, best) && overlap(y, row, best))) state[row] = kAlike;
  });
  for (const row of frontiers.flat()) state[row] = kFrontier;
  const derived = {x, y, limits, groups, state, qualifying, members, frontiers};
  derived.best = paretoFrontier(frontiers.flat(), x.values, y.values, view.x.better, view.y.better);
  derived.winner = findWinner(view, derived);
  const rivals = data.count === 1 ? [0] : [derived.winner?.row, derived.winner?.rival];
  derived.pins = view.pins ?? rivals.filter((row) => row !== undefined);
  return derived;
}

function groupsOf(data, view) {
  const axis = data.columns.get(view.group);
  return axis ? {names: axis.texts, of: axis.of, title: axis.label} : {names: ['all'], of: new Uint8Array(data.count)};
}

// Under limits the best in y; without, the knee of the frontier that has the best y. Against the best of another group,
// which without limits has to be as good in x. (`llmscape pareto` says the same in its first line.)
function findWinner(view, {x, y, limits, groups, members, frontiers, best}) {
  const top = bestRow(best, y.values, view.y.better);
  if (top === undefined) return null;
  const bend = knee(frontiers[groups.of[top]], x.values, y.values, view.x.better, view.y.better);
  const row = limits.length === 0 && best.includes(bend) ? bend : top;
  const keepsUp = (other) => limits.length > 0 ||
      (view.x.better === 'lower' ? x.values[other] <= x.values[row] : x.values[other] >= x.values[row]);
  const rivals = members.filter((_, group) => group !== groups.of[row]).flat().filter(keepsUp);
  return {row, rival: bestRow(rivals, y.values, view.y.better)};
}

export const limitText = ({column, bound, below}) =>
    `${column.label} ${below ? '≤' : '≥'} ${roundText(bound, column.unit)}`;
