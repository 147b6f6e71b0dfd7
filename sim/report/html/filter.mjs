// SPDX-License-Identifier: Apache-2.0
// Which rows the reader looks at: a line of words and comparisons, and values of axes that are switched off.
import {isUnit, valueFor} from './format.mjs';

const kSigns = ['<=', '>=', '==', '!=', '<', '>', '='];
const kJoins = {or: 'words and comparisons all have to hold', not: 'write != for what a value is not'};

// The pieces of a line between blanks and signs: {text, sign, quoted, open: its quote does not end}. Within quotes blanks and signs are text, and so is a quote that stands twice.
function piecesOf(line) {
  const pieces = [];
  for (let at = 0; at < line.length;) {
    if (/\s/.test(line[at])) {
      ++at;
      continue;
    }
    const sign = kSigns.find((one) => line.startsWith(one, at));
    if (sign) {
      pieces.push({text: sign, sign: true});
      at += sign.length;
    } else if (line[at] === '"' || line[at] === "'") {
      const quote = line[at], [whole] = new RegExp(`^${quote}([^${quote}]|${quote}${quote})*(${quote}|$)`).exec(line.slice(at));
      const open = whole.length === 1 || !whole.endsWith(quote), inside = whole.slice(1, open ? undefined : -1);
      pieces.push({text: inside.replaceAll(quote + quote, quote), quoted: true, open});
      at += whole.length;
    } else {
      const [text] = new RegExp(`^((?!${kSigns.join('|')})\\S)+`).exec(line.slice(at));
      pieces.push({text});
      at += text.length;
    }
  }
  return pieces;
}

const columnOf = (data, name) => [...data.columns.values(), ...data.splits.values()].find(
    (column) => [column.name, column.label, column.label.replaceAll(' ', '_'), column.name.replace('_s.', '.')].includes(name));

// How many pieces from `at` on are the value of a comparison with a column: a name of the axis may have blanks, and a unit
// may stand behind one.
function lengthOfValue(column, pieces, at) {
  if (pieces[at].quoted) return 1;
  const texts = pieces.slice(at).map(({text}) => text);
  for (let count = texts.length; count > 1; --count)
    if (column?.texts?.includes(texts.slice(0, count).join(' '))) return count;
  const unit = texts[1] !== undefined && /^[0-9.eE+-]+$/.test(texts[0]) && (isUnit(texts[1]) || texts[1] === column?.unit);
  return unit && !pieces[at + 1].sign ? 2 : 1;
}

// What a line asks for, each with the text that it is told by: words to look for, {written, word}, and comparisons,
// {written, column, left, sign, text, quoted, bound}, also where they are written as scenarios write them: "ttft.p99 <= 200 ms".
// A comparison with what is no column has none.
function partsOf(data, line) {
  const pieces = piecesOf(line), parts = [];
  for (let at = 0; at < pieces.length;) {
    const {text: left, quoted, open, sign} = pieces[at], next = pieces[at + 1], value = pieces[at + 2];
    if (!sign && next?.sign && value && !value.sign) {
      const column = columnOf(data, left), count = lengthOfValue(column, pieces, at + 2);
      const text = pieces.slice(at + 2, at + 2 + count).map((piece) => piece.text).join(' ');
      const written = `${left}${next.text}${text}`, name = `${left}${next.text}${value.text}`;
      if (!column && data.rows.some((row) => stands(data, name, row))) parts.push({written: name, word: name});  // "tp=4" may be a name
      else
        parts.push({written, column, left, sign: next.text === '==' ? '=' : next.text, text, quoted: value.quoted, open: value.open,
                    bound: column && !value.quoted ? valueFor(column, text) : NaN});
      at += 2 + count;
    } else {
      if (quoted || left !== 'and') parts.push({written: left, word: left, quoted, open});
      ++at;
    }
  }
  return parts;
}

// Why a part says nothing; nothing where it says something.
function problemOf({column, left, sign, text, quoted, word, open, bound}) {
  if (open) return 'its quote does not end';
  if (word !== undefined) return quoted ? undefined : kJoins[word];
  if (!column) return `there is no ${left}`;
  if (sign === '=' || sign === '!=') {
    if (column.texts?.includes(text) || !Number.isNaN(bound)) return undefined;
    return `${left} is never ${text}`;
  }
  if (!column.values) return `${left} is no number`;
  return Number.isNaN(bound) ? `${left} is never ${text}` : undefined;
}

// The parts of a line that say nothing, each with the reason: [["ttft.p99<200W", "ttft.p99 is never 200W"]].
export const unreadWords = (data, line) =>
    partsOf(data, line).map((part) => [part.written, problemOf(part)]).filter(([, problem]) => problem);

// Words that all have to stand in the row, and comparisons with a column: "h100 rate>4 ttft.p99<200ms".
export const rowTests = (data, line) => partsOf(data, line).filter((part) => !problemOf(part)).map((part) => rowTest(data, part));

// Whether a word stands in what a row is called by, in any case.
function stands(data, word, row) {
  const part = word.toLowerCase();
  return `${data.labels[row]} ${data.verdicts[row]} #${data.points?.[row]}`.toLowerCase().includes(part) ||
      data.axes.some((axis) => axis.text(row).toLowerCase().includes(part));
}

function rowTest(data, {word, column, sign, text, quoted, bound}) {
  if (word !== undefined) return (row) => stands(data, word, row);
  const {values} = column;
  const equals = (row) => values && !quoted && !Number.isNaN(bound) ? values[row] === bound : column.text(row) === text;
  return {
    '=': equals,
    '!=': (row) => !equals(row),
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
