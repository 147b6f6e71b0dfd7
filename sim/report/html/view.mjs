// SPDX-License-Identifier: Apache-2.0
// What the reader has chosen. Nothing here knows of the page.

const kLimited = ['ttft_s', 'tpot_s', 'e2e_s'];
const kStatistics = ['mean', 'p50', 'p90', 'p95', 'p99'];

// Those that a limit on a metric can be of.
export const statisticsOf = (data, key) => kStatistics.filter((statistic) => data.columns.has(`${key}.${statistic}`));

// The view that the page opens with: what `llmscape report` was asked for, else what the plan aims at.
export function firstView(data) {
  const limits = kLimited.filter((key) => data.columns.has(`${key}.p99`))
                     .map((key) => ({key, statistic: 'p99', bound: Infinity, below: true}));
  for (const {name, bound, below} of data.limits) {
    if (!data.columns.has(name)) continue;  // no run has a value: there is nothing to slide over
    const [key, statistic] = name.split('.');
    const known = limits.find((limit) => limit.key === key && limit.bound === Infinity);
    if (known && below) Object.assign(known, {statistic, bound});
    else limits.push({key, statistic, bound, below});
  }
  const view = {
    group: data.group,
    facet: firstFacet(data),
    label: '',
    limits,
    filter: '',
    hidden: new Map(),  // names of axes to places among their values
    showInvalid: true,
    sort: {name: null, down: true},
    allMetrics: false,
    pins: null
  };
  setChart(data, view, data.charts[0] ?? {y: data.numeric[0].name, x: data.numeric[1].name, better: {}});
  return view;
}

export const kMostValues = 12;  // of an axis that small charts or switches are made for

// Work of other kinds is not compared: each has a chart of its own to begin with.
function firstFacet(data) {
  return data.axes.find(({role, texts, name}) => role === 'workload' && texts.length > 1 && texts.length <= kMostValues &&
                                                 name !== data.group)?.name ?? '';
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
