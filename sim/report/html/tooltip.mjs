// SPDX-License-Identifier: Apache-2.0
// What is under the pointer: the whole configuration, and the figures that people ask for first.
import {html} from './dom.mjs';
import {groupClass, legendMark} from './markers.mjs';

const kMain = [
  'ttft_s.p50', 'ttft_s.p99', 'tpot_s.p50', 'tpot_s.p99', 'e2e_s.p99', 'goodput_rps', 'slo_attainment',
  'requests_per_s', 'output_tokens_per_s', 'output_tokens_per_s_per_device', 'output_tokens_per_joule', 'mean_w',
  'cost_per_million_answered_tokens'
];
// What results of older versions have instead.
const kOfOld = {cost_per_million_answered_tokens: 'cost_per_million_output_tokens'};

// The metrics of a short list, those on the axes first.
export function mainMetrics(data, derived) {
  const main = kMain.map((name) => data.columns.get(name) ?? data.columns.get(kOfOld[name])).filter(Boolean);
  return [...new Set([derived.y, derived.x, ...main].filter((column) => column.metric))];
}

// Half the width of an interval, where there is one: " ± 4 %".
function spread({values, low, high}, row) {
  if (!values || !(low[row] < high[row])) return null;
  return html('span', {class: 'spread'}, ` ± ${Math.ceil(50 * (high[row] - low[row]) / Math.abs(values[row]))} %`);
}

export class Tooltip {
  #root;

  constructor(root) { this.#root = root; }

  hide() { this.#root.hidden = true; }

  show(app, row, [x, y]) {
    const {data, derived} = app, group = derived.groups.of[row];
    const facts = (columns) => html(
        'dl', {},
        ...columns.flatMap(
            (column) => [html('dt', {}, column.label), html('dd', {}, column.text(row), spread(column, row))]));
    const metrics = mainMetrics(data, derived).filter((column) => !Number.isNaN(column.values[row]));
    this.#root.replaceChildren(
        html(
            'header', {class: groupClass(group)}, legendMark(group),
            html('b', {}, derived.groups.title ? derived.groups.names[group] : `point ${data.points[row]}`),
            html('span', {class: `chip ${data.verdicts[row]}`}, data.verdicts[row])),
        facts(data.axes), html('hr'), facts(metrics),
        html('footer', {}, data.runs[row] > 1 ? `mean of ${data.runs[row]} runs; ` : '', 'click to pin'));
    this.#root.hidden = false;
    const {clientWidth: width, clientHeight: height} = this.#root, space = this.#root.parentElement;
    this.#root.style.left = `${x + 16 + width > space.clientWidth ? Math.max(0, x - width - 16) : x + 16}px`;
    this.#root.style.top = `${Math.max(0, Math.min(y - height / 3, space.clientHeight - height))}px`;
  }
}
