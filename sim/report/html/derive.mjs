// SPDX-License-Identifier: Apache-2.0
// What follows from the data and what the reader has chosen. Nothing here knows of the page.
import {shownRows} from './filter.mjs';
import {exactText} from './format.mjs';
import {bestRow, knee, meets, paretoFrontier} from './frontier.mjs';
import {columnName} from './view.mjs';

// What a point is in the plot.
export const kHidden = 0, kInvalid = 1, kMisses = 2, kQualifies = 3;
export const kAlike = 4;  // its intervals overlap those of a point of the frontier
export const kFrontier = 5;

// Intervals tell two rows apart in none of the columns, where at least one of them has an interval. (sim/explore/pareto.cpp)
const alike = (columns, a, b) => columns.every(({low, high}) => low[a] <= high[b] && low[b] <= high[a]) &&
    columns.some(({low, high}) => low[a] < high[a] || low[b] < high[b]);

// Whether rows can be ranked by a column: sums over windows of one length or over whole runs of as many calls, peaks in
// slices of one length, everything else. (sim/explore/comparable.hpp)
export function comparableBy(data, column, rows) {
  if (!column?.over) return true;
  const of = (name, row) => data.columns.get(name)?.values[row] ?? NaN;
  const near = (a, b, tolerance) => Number.isNaN(a) || Number.isNaN(b) || Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
  const whole = (row) => Number.isFinite(of('window_s', row)) && Number.isFinite(of('simulated_s', row)) &&
      near(of('window_s', row), of('simulated_s', row), 1e-5);  // figures of the page have six digits
  const alike = {
    window: (a, b) => near(of('window_s', a), of('window_s', b), 1e-3) ||
        (whole(a) && whole(b) && of('completed', a) === of('completed', b)),
    slices: (a, b) => near(of('peak_window_s', a), of('peak_window_s', b), 1e-9),
  };
  const [first, ...others] = rows.filter((row) => Number.isFinite(column.values[row]));
  return others.every((row) => column.over.every((what) => alike[what](first, row)));
}

// The frontier of rows that can be ranked in both columns; nothing where they cannot.
function frontierOf(data, view, x, y, rows) {
  return [x, y].every((column) => comparableBy(data, column, rows)) ?
      paretoFrontier(rows, x.values, y.values, view.x.better, view.y.better) :
      [];
}

// Which points stand in the plot, which qualify, the frontier of each group in each chart, and who wins.
export function derive(data, view) {
  const x = data.columns.get(view.x.name), y = data.columns.get(view.y.name);
  const limits =
      view.limits.filter(({bound}) => Number.isFinite(bound)).map((limit) => ({
                                                                    ...limit,
                                                                    column: data.columns.get(columnName(limit)),
                                                                    values: data.columns.get(columnName(limit)).values
                                                                  }));
  const groups = splitBy(data, view.group), facets = splitBy(data, view.facet);
  const drawable = (row) => Number.isFinite(x.values[row]) && Number.isFinite(y.values[row]) &&
      !(view.x.log && x.values[row] <= 0) && !(view.y.log && y.values[row] <= 0);
  const state = new Uint8Array(data.count), shown = shownRows(data, view);
  const members = groups.names.map(() => []), drawn = groups.names.map(() => []), qualifying = [];
  for (const row of shown) {
    const qualifies = data.valid[row] && meets(limits, row);
    if (qualifies) qualifying.push(row);
    if (!drawable(row)) continue;
    if (!data.valid[row]) state[row] = view.showInvalid ? kInvalid : kHidden;
    else {
      drawn[groups.of[row]].push(row);
      state[row] = qualifies ? kQualifies : kMisses;
      if (qualifies) members[groups.of[row]].push(row);
    }
  }
  const frontier = (rows) => frontierOf(data, view, x, y, rows);
  const uncertain = x.low !== x.values || y.low !== y.values;
  const panels = facets.names.map((name, place) => panelOf(name, shown.filter((row) => state[row] && facets.of[row] === place)))
                     .filter(({rows}) => rows.length);
  if (!panels.length) panels.push(panelOf('', []));  // an empty chart
  function panelOf(name, rows) {
    const own = groups.names.map(() => []);
    for (const row of rows)
      if (state[row] === kQualifies) own[groups.of[row]].push(row);
    const frontiers = own.map(frontier);
    if (uncertain) own.forEach((all, group) => {
      for (const row of all)
        if (frontiers[group].some((best) => alike([x, y], row, best))) state[row] = kAlike;
    });
    for (const row of frontiers.flat()) state[row] = kFrontier;
    return {name, rows, frontiers, best: frontier(frontiers.flat())};
  }
  const derived = {x, y, limits, groups, facets, panels, state, shown, qualifying, members, drawn};
  const slices = slicesOf(data, view, shown);
  derived.winners = slices.map((slice) => findWinner(data, view, derived, slice)).filter(Boolean);
  derived.winner = derived.winners[0] ?? null;
  // Columns that the configurations of a slice that qualify cannot be ranked by, and limits that hold them against one
  // amount; and those of them that do rank each group by itself.
  const sets = slices.map((slice) => new Set(slice.rows));
  const alikeIn = (column, lists) => sets.every((inside) => lists.every((rows) => comparableBy(data, column, rows.filter((row) => inside.has(row)))));
  derived.unlike = [...new Set([y, x, ...limits.map(({column}) => column)])].filter(
      (column) => !alikeIn(column, [column === x || column === y ? members.flat() : shown.filter((row) => data.valid[row])]));
  derived.alone = derived.unlike.filter((column) => (column === x || column === y) && Boolean(groups.title) && alikeIn(column, members));
  derived.mixed = mixedIn(data, view, panels.map(({rows}) => rows.filter((row) => state[row] >= kQualifies)));
  const rivals = data.count === 1 ? [0] : [derived.winner?.row, derived.winner?.rival];
  derived.pins = view.pins ?? rivals.filter((row) => row !== undefined);
  return derived;
}

// The rows by an axis; all as one where there is none.
function splitBy(data, name) {
  const axis = data.splits.get(name);
  return axis ? {names: axis.texts, of: axis.of, title: axis.label} : {names: ['all'], of: new Uint8Array(data.count)};
}

const lookedAt = (data, view, what) => [view.x.name, view.y.name].some((name) => data.columns.get(name)?.[what]);

// The axes in which configurations that are compared are equal: all but hardware and load, and but the policy that
// groups tell apart; and what joules include and money is in, where these are looked at. (sim/explore/axis_role.hpp)
function fixedAxes(data, view) {
  const fixed = data.axes.filter(
      ({texts, role, name}) =>
          texts.length > 1 && (role === 'workload' || (role === 'serving' && name !== view.group)));
  if (data.boundary.texts.length > 1 && lookedAt(data, view, 'joules')) fixed.push(data.boundary);
  if (data.currencies.length > 1 && lookedAt(data, view, 'money')) fixed.push(data.currency);
  return fixed;
}

// Those of them in which the rows of one chart differ, with the values: what it mixes.
function mixedIn(data, view, charts) {
  const texts = (axis, rows) => new Set(rows.map((row) => axis.text(row)));
  return fixedAxes(data, view)
      .filter((axis) => charts.some((rows) => texts(axis, rows).size > 1))
      .map((axis) => ({label: axis.label, values: [...texts(axis, charts.flat())]}));
}

// The share of a run's joules that follows from assumed figures, where joules are looked at; small ones are none.
export function assumedShare(data, view, row) {
  const share = lookedAt(data, view, 'joules') ? data.columns.get('assumed_share')?.values[row] ?? 0 : 0;
  return share >= 0.005 ? share : 0;
}

// The share of a run's tokens that were in no answer, where all that were emitted are looked at; small ones are none, as
// in `llmscape pareto`.
export function unansweredShare(data, view, row) {
  const answered = lookedAt(data, view, 'emitted') ? data.columns.get('answered_share')?.values[row] ?? 1 : 1;
  return 1 - answered > 0.01 ? 1 - answered : 0;
}

// The rows that may be compared: equal in fixedAxes. {name: "workload=rag", rows}, ...; without a name where there is
// but one.
function slicesOf(data, view, rows) {
  const fixed = fixedAxes(data, view);
  const slices = new Map();
  for (const row of rows) {
    const name = fixed.map((axis) => `${axis.label}=${axis.text(row)}`).join(' ');
    if (!slices.has(name)) slices.set(name, {name, rows: []});
    slices.get(name).rows.push(row);
  }
  return [...slices.values()];
}

// Of one slice: under limits the best in y; without, the knee of the frontier of all groups. Against the best of
// another group, read off its frontier at the limit, where there is one and it is of x, as its points may lie before it by
// chance; without limits where x is equal; under others against the best that meets them. (`llmscape pareto` says the same in
// its first lines.) `rival` is a row near the value that it was read off at; `values` are those of y. `alone`: nothing is on
// the frontier but what equals it; `others`: there are groups that it could be held against.
function findWinner(data, view, {x, y, limits, groups, members, drawn}, slice) {
  const inside = new Set(slice.rows);
  const kept = (lists) => lists.map((rows) => rows.filter((row) => inside.has(row)));
  const own = kept(members);
  const frontier = (rows) => frontierOf(data, view, x, y, rows);
  const best = frontier(own.flat());
  let row = bestRow(best, y.values, view.y.better);
  if (row === undefined) return null;
  if (limits.length === 0) row = knee(best, x.values, y.values, view.x.better, view.y.better) ?? row;
  const alone = best.every((other) => x.values[other] === x.values[row] && y.values[other] === y.values[row]);
  const others = limits.length > 0 ? Boolean(groups.title) : own.filter((rows) => rows.length).length > 1;
  const winner = {name: slice.name, row, values: [at(y, row)], alone, others};
  const ofX = limits.length === 1 && limits[0].column.name === x.name && limits[0].below === (view.x.better === 'lower');
  if (limits.length > 0 && !ofX) {
    const rivals = frontier(own.filter((_, group) => group !== groups.of[row]).flat());
    const rival = bestRow(rivals, y.values, view.y.better);
    return rival === undefined ? winner : {...winner, rival, values: [at(y, row), at(y, rival)]};
  }
  const bound = ofX ? limits[0].bound : x.values[row];
  const reached = kept(drawn).map((rows) => along(rows, frontier(rows), x, y, view, bound));
  const other = reached.map((_, group) => group)
                    .filter((group) => group !== groups.of[row] && reached[group])
                    .reduce((a, b) => a === undefined || better(reached[b], reached[a], view) ? b : a, undefined);
  if (other === undefined) return winner;
  return {...winner, rival: reached[other].row, values: [at(y, row), reached[other]],
          place: ofX ? exactText(bound, x.unit) : x.text(row)};
}

const at = ({values, low, high}, row) => ({value: values[row], low: low[row], high: high[row], row});
const better = (a, b, view) => view.y.better === 'higher' ? a.value > b.value : a.value < b.value;

// What the frontier of `rows` gives at a bound of x: linear between its neighbours there, its last point's where the bound
// is looser than all; undefined where even its tightest point is beyond. `last`: nothing was run that comes nearer the
// bound, where it may do better still; rows behind the frontier's end that are worse show that it does end there.
function along(rows, frontier, x, y, view, bound) {
  const beyond = (row, limit) => view.x.better === 'lower' ? x.values[row] > limit : x.values[row] < limit;
  const tight = view.x.better === 'lower' ? frontier : frontier.toReversed();
  const within = tight.filter((row) => !beyond(row, bound));
  if (!within.length) return undefined;
  const a = within.at(-1), b = tight[within.length], own = x.values[a];
  if (own === bound) return at(y, a);
  if (b === undefined) return {...at(y, a), last: !rows.some((row) => beyond(row, own))};
  const share = (bound - own) / (x.values[b] - own);
  const mixed = (values) => values[a] + share * (values[b] - values[a]);
  return {value: mixed(y.values), low: mixed(y.low), high: mixed(y.high), row: a};
}

export const limitText = ({column, bound, below}) =>
    `${column.label} ${below ? '≤' : '≥'} ${exactText(bound, column.unit)}`;
