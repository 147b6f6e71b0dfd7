// SPDX-License-Identifier: Apache-2.0
// Which rows the reader looks at: a line of words and comparisons, and values of axes that are switched off.
import {isUnit, valueFor} from './format.mjs';

const kSigns = '<=|>=|==|<|>|=';
const kComparison = new RegExp(`^(.+?)(${kSigns})(.+)$`);

// The words of a line; a comparison is one, also where it is written as scenarios write it: "ttft.p99 <= 200 ms".
function wordsOf(text) {
  const words = [];
  for (const word of text.trim().replace(new RegExp(`\\s*(${kSigns})\\s*`, 'g'), '$1').split(/\s+/)) {
    const openNumber = words.length && /[<>=][0-9.eE+-]+$/.test(words.at(-1));
    if (openNumber && isUnit(word)) words[words.length - 1] += ` ${word}`;
    else if (word && word !== 'and') words.push(word);
  }
  return words;
}

// {column, sign, text, bound} of "ttft.p99<200ms", without a column where there is none of that name; nothing where it
// is a word to look for.
function comparisonOf(data, word) {
  const [, left, written, text] = kComparison.exec(word) ?? [];
  if (!left) return undefined;
  const column =
      [...data.columns.values(), ...data.splits.values()].find(({name, label}) => [name, label, name.replace('_s.', '.')].includes(left));
  if (!column) return data.rows.some((row) => stands(data, word, row)) ? undefined : {left};  // "tp=4" may be a name
  return {column, left, sign: written === '==' ? '=' : written, text, bound: valueFor(column, text)};
}

// Why a comparison says nothing; nothing where it says something.
function problemOf(comparison) {
  if (!comparison) return undefined;
  const {column, left, sign, text, bound} = comparison;
  if (!column) return `there is no ${left}`;
  if (sign === '=' && (!column.metric || !Number.isNaN(bound))) return undefined;
  if (!column.values) return `${left} is no number`;
  return Number.isNaN(bound) ? `${left} is never ${text}` : undefined;
}

// The comparisons that say nothing, each with the reason: [["ttft.p99<200W", "ttft.p99 is never 200W"]].
export const unreadWords = (data, text) =>
    wordsOf(text).map((word) => [word, problemOf(comparisonOf(data, word))]).filter(([, problem]) => problem);

// Words that all have to stand in the row, and comparisons with a column: "h100 rate>4 ttft.p99<200ms".
export function rowTests(data, text) {
  return wordsOf(text).filter((word) => !problemOf(comparisonOf(data, word))).map((word) => rowTest(data, word));
}

// Whether a word stands in what a row is called by, in any case.
function stands(data, word, row) {
  const part = word.toLowerCase();
  return `${data.labels[row]} ${data.verdicts[row]} #${data.points?.[row]}`.toLowerCase().includes(part) ||
      data.axes.some((axis) => axis.text(row).toLowerCase().includes(part));
}

function rowTest(data, word) {
  const comparison = comparisonOf(data, word);
  if (!comparison) return (row) => stands(data, word, row);
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
