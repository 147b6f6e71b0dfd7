// SPDX-License-Identifier: Apache-2.0
// What the reader has chosen, and what follows from it. Nothing here knows of the page.
import {bestRow, meets, paretoFrontier} from './frontier.mjs';
import {roundText} from './format.mjs';

const kLimited = ['ttft_s', 'tpot_s', 'e2e_s'];
export const kStatistics = ['p50', 'p90', 'p95', 'p99'];

// The view that the page opens with: what `llmscape report` was asked for, else what the plan aims at.
export function firstView(data) {
  const limits = kLimited.filter((key) => data.columns.has(`${key}.p99`))
                     .map((key) => ({key, statistic: 'p99', bound: Infinity, below: true}));
  for (const {name, bound, below} of data.defaults.limits) {
    const [key, statistic] = name.split('.');
    const known = limits.find((limit) => limit.key === key && limit.bound === Infinity);
    if (known && below) Object.assign(known, {statistic, bound});
    else limits.push({key, statistic, bound, below});
  }
  const view = {group: data.defaults.group, limits, showInvalid: true, hidden: new Set(), pins: null};
  setAxis(data, view, 'x', data.defaults.x);
  setAxis(data, view, 'y', data.defaults.y);
  for (const [name, better] of Object.entries(data.defaults.better))
    for (const side of ['x', 'y'])
      if (view[side].name === name) view[side].better = better;
  return view;
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
  const limits = view.limits.filter(({bound}) => Number.isFinite(bound))
                     .map((limit) => ({...limit, column: data.columns.get(columnName(limit)),
                                       values: data.columns.get(columnName(limit)).values}));
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
  const rivals = data.count === 1 ? [0] : [derived.winner?.row, derived.winner?.rival?.row];
  derived.pins = view.pins ?? rivals.filter((row) => row !== undefined);
  return derived;
}

function groupsOf(data, view) {
  const axis = data.columns.get(view.group);
  return axis ? {names: axis.texts, of: axis.of, title: axis.label} : {names: ['all'], of: new Uint8Array(data.count)};
}

// The best in what the plot has on its y axis (on x, where y is under a limit and x is not), with the best of the
// group that comes next.
function findWinner(view, {x, y, limits, groups, members}) {
  const limited = (column) => limits.some((limit) => limit.column === column);
  const side = limited(y) && !limited(x) ? 'x' : 'y';
  const column = side === 'x' ? x : y, better = view[side].better;
  const leaders = members.map((rows) => bestRow(rows, column.values, better)).filter((row) => row !== undefined);
  const row = bestRow(leaders, column.values, better);
  if (row === undefined) return null;
  const rival = bestRow(leaders.filter((leader) => leader !== row), column.values, better);
  const named = (of) => ({row: of, group: groups.names[groups.of[of]]});
  return {...named(row), column, better, rival: rival === undefined ? null : {...named(rival),
          ratio: column.values[row] / column.values[rival]}};
}

export const limitText = ({column, bound, below}) =>
    `${column.label} ${below ? '≤' : '≥'} ${roundText(bound, column.unit)}`;
