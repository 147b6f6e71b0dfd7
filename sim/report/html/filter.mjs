// SPDX-License-Identifier: Apache-2.0
// Which rows the reader looks at: a line of words and comparisons, and values of axes that are switched off.
import {parseValue} from './format.mjs';

// Words that all have to stand in the row, and comparisons with a column: "h100 rate>4 ttft.p99<200ms".
export function rowTests(data, text) {
  return text.trim().split(/\s+/).filter(Boolean).map((word) => rowTest(data, word));
}

function rowTest(data, word) {
  const match = /^([^<>=]+)(<=|>=|<|>|=)(.+)$/.exec(word);
  const column = match &&
      [...data.columns.values()].find(({name, label}) => [name, label, name.replace('_s.', '.')].includes(match[1]));
  if (!column) {
    const part = word.toLowerCase();
    return (row) => `${data.labels[row]} ${data.verdicts[row]} #${data.points[row]}`.toLowerCase().includes(part) ||
        data.axes.some((axis) => axis.text(row).toLowerCase().includes(part));
  }
  const bound = parseValue(match[3]), {values} = column;
  if (match[2] === '=')
    return (row) => values && !Number.isNaN(bound) ? values[row] === bound : column.text(row) === match[3];
  return {
    '<': (row) => values?.[row] < bound,
    '<=': (row) => values?.[row] <= bound,
    '>': (row) => values?.[row] > bound,
    '>=': (row) => values?.[row] >= bound
  }[match[2]];
}

// `hidden` is a map of names of axes to sets of places among their values.
export function shownRows(data, {filter, hidden}) {
  const tests = rowTests(data, filter);
  for (const [name, values] of hidden) {
    const {of} = data.splits.get(name);
    if (values.size) tests.push((row) => !values.has(of[row]));
  }
  return data.rows.filter((row) => tests.every((test) => test(row)));
}
