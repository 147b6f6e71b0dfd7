// SPDX-License-Identifier: Apache-2.0
// Numbers and names as people read them; the data have SI units and the keys of `llmscape list metrics`.

const kAcronyms = {
  ttft: 'TTFT',
  tpot: 'TPOT',
  itl: 'ITL',
  e2e: 'E2E',
  co2: 'CO₂',
  slo: 'SLO',
  mm2: 'mm²'
};
const kUnitEnds = {
  's': [/_s$/, ''],
  'W': [/_w$/, '_power'],
  'g': [/_g$/, ''],
  '1/s': [/_rps$/, '_requests_per_s']
};

// "ttft_s.p99" -> "TTFT p99", "output_tokens_per_joule" -> "output tokens/joule"
export function metricLabel(name, unit) {
  const [key, statistic] = name.split('.');
  const words = key.replace(...kUnitEnds[unit] ?? ['', ''])
                    .replaceAll('_per_', '/')
                    .replaceAll('_', ' ')
                    .split(/(?=[ /])|(?<=[ /])/);
  const text = words.map((word) => kAcronyms[word] ?? word).join('');
  return statistic ? `${text} ${statistic}` : text;
}

// Three digits, or all of those before the point: "1,234", "12.3", "0.412".
export function amount(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 1e-3) return value.toExponential(2);
  const digits = Math.max(0, 2 - Math.floor(Math.log10(size) + 1e-12));
  return value.toLocaleString('en', {minimumFractionDigits: digits, maximumFractionDigits: digits});
}

const kTimes = [['s', 1], ['ms', 1e-3], ['µs', 1e-6]];
// The unit in which a time of this size is read.
export const timeUnit = (seconds) => kTimes.find(([, size]) => Math.abs(seconds) >= size * 0.9995) ?? kTimes[2];

export function duration(seconds) {
  if (seconds === 0) return '0 s';
  const [unit, size] = timeUnit(seconds);
  return `${amount(seconds / size)} ${unit}`;
}

export const percent = (share) => `${(100 * share).toFixed(1)} %`;
export const grouped = (count) => count.toLocaleString('en');

export function valueText(value, unit) {
  if (!Number.isFinite(value)) return '–';
  if (unit === 's') return duration(value);
  if (unit === 'share') return percent(value);
  const shown = unit === '' && Number.isInteger(value) ? grouped(value) : amount(value);
  return [shown, unitBehind(unit)].join(' ').trim();
}

// What stands behind a number: not what names say ("1/s", "tokens/J"); of "EUR/Mtoken" the name has the token.
function unitBehind(unit) {
  if (/^(1|tokens)\//.test(unit)) return '';
  return unitText(unit.replace(/\/M?token$/, ''));
}

// With all digits and the unit: a limit as its reader set it ("1.234 s", "5 kW", "6 EUR").
export function exactText(value, unit) {
  const digits = (number) => String(Number(number.toPrecision(12)));
  if (unit === 's') return value === 0 ? '0 s' : `${digits(value / timeUnit(value)[1])} ${timeUnit(value)[0]}`;
  if (unit === 'share') return `${digits(100 * value)} %`;
  const [size, prefix] = ['W', 'J', 'B'].includes(unit) && kThousands.find(([size]) => Math.abs(value) >= size) || [1, ''];
  return [digits(value / size), prefix + unitBehind(unit)].join(' ').trim();
}

const kThousands = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
const unitText = (unit) => ({share: '%', mm2: 'mm²'})[unit] ?? unit;

// The unit for the title of an axis; empty where the name of the column says it ("output tokens/s").
export function axisUnit({unit, label}) {
  const text = unitText(unit);
  return text.startsWith('1/') || (text.length > 2 && label.includes(text)) ? '' : text;
}

// "2.31×", "0×"; of what is nothing, or over zero, there is no ratio.
export function ratioText(ratio) {
  if (ratio === 0) return '0×';
  return Number.isFinite(ratio) && ratio > 0 ?
      `${ratio >= 99.95 ? grouped(Math.round(ratio)) : ratio.toPrecision(3)}×` :
      '–';
}

// What is written behind numbers, with the prefixes that may stand before it: those that base/units.cpp reads, as far as
// axes and metrics have them.
const kPrefixes = {p: 1e-12, n: 1e-9, u: 1e-6, 'µ': 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18};
const kPrefixed = [
  ['time', 's', 'pnuµm'], ['data', 'B', 'kMGTPE'], ['bandwidth', 'B/s', 'kMGTPE'], ['work', 'flop', 'kMGTPE'],
  ['throughput', 'flop/s', 'kMGTPE'], ['work', 'FLOP', 'kMGTPE'], ['throughput', 'FLOP/s', 'kMGTPE'],
  ['energy', 'J', 'pnuµmkMG'], ['power', 'W', 'nuµmkMG'], ['rate', 'Hz', 'kMG'], ['mass', 'g', 'k']
];
// By unit: the dimension and the size.
const kUnits = new Map([
  ['', ['number', 1]], ['%', ['number', 0.01]], ['min', ['time', 60]], ['h', ['time', 3600]], ['d', ['time', 86400]],
  ['/s', ['rate', 1]], ['/min', ['rate', 1 / 60]], ['/h', ['rate', 1 / 3600]], ['tokens/s', ['rate', 1]],
  ['/J', ['per energy', 1]], ['tokens/J', ['per energy', 1]], ['kWh', ['energy', 3.6e6]],
  ...kPrefixed.flatMap(([dimension, unit, prefixes]) =>
    [[unit, [dimension, 1]], ...[...prefixes].map((prefix) => [prefix + unit, [dimension, kPrefixes[prefix]]])]),
  ...[['data', 'iB'], ['bandwidth', 'iB/s']].flatMap(([dimension, unit]) =>
    [...'KMGTPE'].map((prefix, i) => [prefix + unit, [dimension, 1024 ** (i + 1)]]))
]);
// Of columns, whose units are written otherwise.
const kColumnUnits = {share: '', '1/s': '/s', '1/J': '/J'};

export const isUnit = (text) => text !== '' && kUnits.has(text);

// The dimension of a unit of a column; nothing where no typed unit has it.
const dimensionOf = (unit) => kUnits.get(kColumnUnits[unit] ?? unit)?.[0];

function parse(text) {
  const [, number, unit] = /^\s*([0-9.]+(?:[eE][+-]?\d+)?)\s*(.*?)\s*$/.exec(text) ?? [];
  const [dimension, size] = kUnits.get(unit) ?? [undefined, NaN];
  return {value: Number(number) * size, number: Number(number), unit, dimension, bare: unit === ''};
}

// What a person types as a limit or in a filter: "200 ms", "1.5s", "0.2", "90 %", "40GB"; NaN where it is none.
export const parseValue = (text) => parse(text).value;

// The same of what a column is compared with: NaN, too, in a unit that its values are not in. A bare number is in theirs.
export function valueFor({unit, metric, texts}, text) {
  const {value, number, unit: written, dimension, bare} = parse(text);
  if (bare) return value;
  if (dimension === undefined && written && [unit, unitBehind(unit)].includes(written)) return number;  // "6 EUR"
  const own = metric ? [dimensionOf(unit)] : (texts ?? []).map((one) => parse(one).dimension);
  return own.includes(dimension) ? value : NaN;
}

// Round numbers, as axes and limits have them: 1 ms, 20k, 3M.
export function roundText(value, unit) {
  if (unit === 's') return value === 0 ? '0' : `${plain(value / timeUnit(value)[1])} ${timeUnit(value)[0]}`;
  if (unit === 'share') return `${plain(100 * value)} %`;
  for (const [size, letter] of kThousands)
    if (Math.abs(value) >= size) return plain(value / size) + letter;
  return plain(value);
}

const plain = (value) => String(Number(value.toPrecision(3)));
