// SPDX-License-Identifier: Apache-2.0
// The pinned points side by side: configuration, metrics with ratios, and the pictures of their runs.
import {scenarioText} from './data.mjs';
import {comparableBy} from './derive.mjs';
import {html, svg} from './dom.mjs';
import {ratioText} from './format.mjs';
import {groupClass, legendMark} from './markers.mjs';
import {runPictures} from './pictures.mjs';
import {mainMetrics} from './tooltip.mjs';

export function drawComparison(root, app) {
  const {data, derived: {pins}} = app;
  if (!pins.length) {
    root.replaceChildren(html(
        'p', {class: 'note'}, 'Click a point, or press Enter on it, to pin it here; a second one is put beside it.'));
    return;
  }
  root.replaceChildren(
      html('div', {class: 'cards'}, ...pins.map((row, i) => card(app, row, 'AB'[i]))), metricTable(app),
      ...runPictures(app));
}

function card(app, row, letter) {
  const {data, derived: {groups}, pin} = app, group = groups.of[row];
  const yaml = scenarioText(data, row), other = app.derived.pins.find((one) => one !== row);
  const differs = (axis) => other !== undefined && axis.of[row] !== axis.of[other];
  return html(
      'article', {class: `card ${groupClass(group)}`},
      html(
          'header', {}, html('span', {class: `badge badge-${letter}`}, letter), legendMark(group),
          html('b', {}, groups.title ? groups.names[group] : data.labels[row]),
          html('span', {class: `chip ${data.verdicts[row]}`}, data.verdicts[row]),
          html(
              'span', {class: 'buttons'}, yaml && copyButton(yaml, 'Copy YAML'),
              data.count > 1 &&
                  html(
                      'button',
                      {type: 'button', 'aria-label': `let ${letter} go`, title: 'unpin', onclick: () => pin(row)},
                      '×'))),
      html(
          'dl', {},
          ...data.axes.flatMap(
              (axis) =>
                  [html('dt', {class: differs(axis) ? 'differs' : '', title: axis.name}, axis.label),
                   html('dd', {class: differs(axis) ? 'differs' : ''}, axis.text(row))])),
      ...reasons(data, row), yaml && html('details', {}, html('summary', {}, 'Scenario'), html('pre', {}, yaml)),
      data.count > 1 &&
          html(
              'p', {class: 'repeat'},
              'Repeat it: ', html('code', {}, `llmscape run --from points/${data.ids[row]}.json`)));
}

function reasons(data, row) {
  const result = data.details[row]?.result;
  const texts = [...result?.verdict?.reasons ?? [], ...result?.warnings ?? []];
  return texts.length ? [html('ul', {class: 'reasons'}, ...texts.map((text) => html('li', {}, text)))] : [];
}

function copyButton(text, label) {
  const button = html(
      'button', {
        type: 'button',
        class: 'copy',
        onclick: async () => {
          const done = await copied(text);
          button.textContent = done ? 'Copied' : 'Select it below';
          setTimeout(() => {
            button.textContent = label;
          }, 1500);
        }
      },
      label);
  return button;
}

// The clipboard of the page, or the one of the old days where a file may not have that.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = html('textarea', {class: 'offscreen'}, text);
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}

function metricTable(app) {
  const {data, derived, derived: {pins: [a, b]}} = app;
  const both = b !== undefined;
  const rows = (columns) =>
      columns.filter(({values}) => [a, b].some((row) => row !== undefined && !Number.isNaN(values[row])))
          .map((column) => metricRow(data, column, a, b));
  const main = mainMetrics(data, derived), others = data.metrics.filter((column) => !main.includes(column));
  const table = (columns) => html(
      'table', {class: 'metrics'},
      html(
          'thead', {},
          html(
              'tr', {}, html('th', {}, 'metric'), html('th', {class: 'number'}, 'A'),
              ...both ?
                  [html('th', {class: 'number'}, 'B'), html('th', {class: 'number'}, 'B / A'), html('th', {}, 'B is')] :
                  [])),
      html('tbody', {}, ...rows(columns)));
  return html(
      'div', {class: 'metric-tables'}, html('div', {class: 'scroll'}, table(main)),
      html('details', {}, html('summary', {}, 'All metrics'), html('div', {class: 'scroll'}, table(others))));
}

function metricRow(data, column, a, b) {
  const cells = [
    html('td', {title: column.definition}, column.label),
    html('td', {class: 'number', title: intervalText(column, a)}, column.text(a))
  ];
  if (b !== undefined) {
    const ratio = column.values[b] / column.values[a];
    const better = comparableBy(data, column, [a, b]) ? column.better : 'neither';
    cells.push(
        html('td', {class: 'number', title: intervalText(column, b)}, column.text(b)),
        html('td', {class: 'number ratio'}, ratioText(ratio)),
        html('td', {}, Number.isFinite(ratio) && ratio >= 0 ? balance(ratio, better) : ''));
  }
  return html('tr', {}, ...cells);
}

const intervalText = ({low, high, label}, row) =>
    low[row] < high[row] ? `${label}: from ${low[row]} to ${high[row]}` : undefined;

// A bar to the right where B is better and to the left where it is worse; its length is the logarithm of the ratio,
// full at a factor of four.
function balance(ratio, better) {
  const gain = (better === 'lower' ? -1 : 1) * Math.log2(ratio) / 2, length = 34 * Math.min(1, Math.abs(gain));
  const kind = better === 'neither' || length < 0.05 ? 'even' : gain > 0 ? 'better' : 'worse';
  const words = {even: ratio === 1 ? 'same' : '', better: 'better', worse: 'worse'}[kind];
  return html(
      'span', {class: `balance ${kind}`},
      svg('svg', {viewBox: '-36 0 72 10', 'aria-hidden': 'true'}, svg('path', {class: 'zero', d: 'M0 0V10'}),
          svg('rect', {x: gain > 0 ? 0 : -length, y: 2, width: length, height: 6})),
      words);
}
