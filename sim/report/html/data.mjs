// SPDX-License-Identifier: Apache-2.0
// The data of the page as columns: what sim/report/page.cpp wrote, with NaN where a run has no value.
import {metricLabel, valueText} from './format.mjs';

const numbers = (values) => Float64Array.from(values, (value) => value ?? NaN);

// `currencyOf` gives that of a row, where rows are in several.
function metricColumn(metric, currencyOf) {
  const values = numbers(metric.values);
  const unitAt = metric.money && metric.unit && currencyOf ? (row) => metric.unit.replace(/^[^/]*/, currencyOf(row)) : () => metric.unit;
  return {...metric, metric: true, label: metricLabel(metric.name, metric.unit), values, unitAt,
          low: metric.low ? numbers(metric.low) : values, high: metric.high ? numbers(metric.high) : values,
          text: (row) => valueText(values[row], unitAt(row))};
}

// An axis of the plan: its texts, and its numbers where all of its values are numbers.
function axisColumn(axis) {
  const values = axis.numbers ? numbers(axis.of.map((index) => axis.numbers[index])) : null;
  const unit = unitOf(axis);
  return {...axis, metric: false, label: axis.short, unit, unitAt: () => unit, better: 'neither', definition: `axis ${axis.name}`,
          values, low: values, high: values, text: (row) => axis.texts[axis.of[row]]};
}

// "/s" where all values are written as their number and that unit: "8 /s".
function unitOf({texts, numbers}) {
  const units = new Set(texts.map((text, i) => {
    const [number, ...unit] = text.split(' ');
    return numbers && Number(number) === numbers[i] ? unit.join(' ') : '';
  }));
  return units.size === 1 ? [...units][0] : '';
}

// What the joules of a run include, or its amounts of money are in, as an axis that no plan has.
function boundaryAxis(name, values) {
  const texts = [...new Set(values)];
  return {name, label: name, role: 'boundary', texts, of: values.map((text) => texts.indexOf(text)),
          text: (row) => values[row]};
}

export function readData(json) {
  const axes = json.axes.map(axisColumn);
  const count = json.verdicts.length, none = Array(count).fill('');
  const boundary = boundaryAxis('energy_boundary', json.energy_boundaries ?? none);
  const currency = boundaryAxis('currency', json.currencies ?? none);
  const currencies = currency.texts.filter(Boolean);  // runs without prices have none, and no costs either
  const metrics = json.metrics.map((metric) => metricColumn(metric, currencies.length > 1 && currency.text));
  const columns = new Map([...axes, ...metrics].map((column) => [column.name, column]));
  const rows = Array.from({length: count}, (_, row) => row);
  return {
    ...json, axes, metrics, columns, count, rows,
    boundary, currency, currencies,
    // By name, what has several values to tell apart: by groups, small charts and filters.
    splits: new Map([...axes, boundary, ...currencies.length > 1 ? [currency] : []].filter(({texts}) => texts.length > 1).map((axis) => [axis.name, axis])),
    numeric: [...metrics, ...axes.filter((axis) => axis.values)],
    valid: json.verdicts.map((verdict) => verdict === 'valid'),
    labels: rows.map((row) => axes.filter((axis) => axis.texts.length > 1)
                                  .map((axis) => `${axis.label}=${axis.text(row)}`).join(' ') || json.name),
  };
}

// The scenario of a row: runs of lines of the shared list, as [first, count, first, count, ...].
export function scenarioText(data, row) {
  const runs = data.scenarios.texts[row] ?? [], lines = [];
  for (let i = 0; i < runs.length; i += 2) lines.push(...data.scenarios.lines.slice(runs[i], runs[i] + runs[i + 1]));
  return lines.map((line) => `${line}\n`).join('');
}
