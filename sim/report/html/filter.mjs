// SPDX-License-Identifier: Apache-2.0
// Which rows the reader looks at: a line of words and comparisons, and values of axes that are switched off.
import {parseValue} from './format.mjs';

const wordsOf = (text) => text.trim().split(/\s+/).filter(Boolean);

// {column, sign, text, bound} of "ttft.p99<200ms"; nothing where it is a word to look for.
function comparisonOf(data, word) {
  const [, left, sign, text] = /^([^<>=]+)(<=|>=|<|>|=)(.+)$/.exec(word) ?? [];
  const column =
      [...data.columns.values()].find(({name, label}) => [name, label, name.replace('_s.', '.')].includes(left));
  return column && {column, sign, text, bound: parseValue(text)};
}

const isUnread = (comparison) =>
    comparison && comparison.sign !== '=' && (!comparison.column.values || Number.isNaN(comparison.bound));

// The comparisons that say nothing: with what is no number, or of a column without numbers.
export const unreadWords = (data, text) => wordsOf(text).filter((word) => isUnread(comparisonOf(data, word)));

// Words that all have to stand in the row, and comparisons with a column: "h100 rate>4 ttft.p99<200ms".
export function rowTests(data, text) {
  return wordsOf(text).filter((word) => !isUnread(comparisonOf(data, word))).map((word) => rowTest(data, word));
}

function rowTest(data, word) {
  const comparison = comparisonOf(data, word);
  if (!comparison) {
    const part = word.toLowerCase();
    return (row) => `${data.labels[row]} ${data.verdicts[row]} #${data.points[row]}`.toLowerCase().includes(part) ||
        data.axes.some((axis) => axis.text(row).toLowerCase().includes(part));
  }
  const {column, sign, text, bound} = comparison, {values} = column;
  if (sign === '=')
    return (row) => values && !Number.isNaN(bound) ? values[row] === bound : column.text(row) === text;
  return {
    '<': (row) => values[row] < bound,
    '<=': (row) => values[row] <= bound,
    '>': (row) => values[row] > bound,
    '>=': (row) => values[row] >= bound
  }[sign];
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
