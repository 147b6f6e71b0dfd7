// SPDX-License-Identifier: Apache-2.0
// All points as a table: the best first or sorted by a heading, narrowed by words or comparisons.
import {html} from './dom.mjs';
import {grouped, parseValue} from './format.mjs';
import {colourClass, legendMark} from './markers.mjs';
import {mainMetrics} from './tooltip.mjs';
import {kFrontier} from './view.mjs';

const kPage = 50;

export class PointTable {
  #app;
  #sort = {name: null, down: true};
  #most = kPage;
  #filter;
  #all;
  #count = html('span', {class: 'count', role: 'status'});
  #table = html('table', {class: 'points'});
  #more = html('p', {class: 'more'});

  constructor(root, app) {
    this.#app = app;
    this.#filter = html(
        'input',
        {type: 'search', id: 'filter', placeholder: 'h100 rate>4 ttft.p99<0.2', oninput: () => this.#restart()});
    this.#all = html('input', {type: 'checkbox', id: 'all-metrics', onchange: () => this.draw()});
    root.append(html('div', {class: 'tools'}, html('label', {for: 'filter'}, 'Filter'), this.#filter, this.#count,
                     html('label', {class: 'toggle', for: 'all-metrics'}, this.#all, 'all metrics')),
                html('div', {class: 'scroll'}, this.#table), this.#more);
  }

  #restart() {
      this.#most = kPage;
      this.draw();
  }

  draw() {
      const {data, derived} = this.#app;
      const columns = [...data.axes, ...this.#all.checked ? data.metrics : mainMetrics(data, derived)];
      const rows = this.#rows(columns);
      this.#count.textContent = `${grouped(rows.length)} of ${grouped(data.count)}`;
      const head = html(
          'tr', {}, html('th', {}, 'point'), html('th', {}, 'verdict'),
          ...columns.map((column) => this.#heading(column)));
      this.#table.replaceChildren(
          html('thead', {}, head),
          html('tbody', {}, ...rows.slice(0, this.#most).map((row) => this.#row(row, columns))));
      this.#more.replaceChildren(
          ...rows.length > this.#most ?
              [
                html(
                    'button', {
                      type: 'button',
                      onclick: () => {
                        this.#most += 4 * kPage;
                        this.draw();
                      }
                    },
                    'Show more'),
                ` ${grouped(rows.length - this.#most)} more`
              ] :
              []);
  }

  #heading(column) {
      const sorted = this.#sort.name === column.name;
      return html(
          'th', {
            scope: 'col',
            title: column.definition,
            class: column.values ? 'number' : '',
            'aria-sort': sorted ? (this.#sort.down ? 'descending' : 'ascending') : 'none'
          },
          html(
              'button', {
                type: 'button',
                onclick: () => {
                  this.#sort = {name: column.name, down: sorted ? !this.#sort.down : column.better === 'higher'};
                  this.draw();
                }
              },
              column.label));
  }

  #row(row, columns) {
      const {data, derived, pin, hover} = this.#app, group = derived.groups.of[row];
      const pinned = derived.pins.indexOf(row);
      return html(
          'tr', {
            class: `${data.valid[row] ? '' : 'invalid'} ${pinned >= 0 ? 'pinned' : ''} ${
                derived.state[row] === kFrontier ? 'best' : ''}`,
            onpointerenter: () => hover(row, false),
            onpointerleave: () => hover(null)
          },
          html(
              'td', {},
              html(
                  'button', {
                    type: 'button',
                    class: `entry ${colourClass(group)}`,
                    title: 'pin this point',
                    onclick: () => pin(row)
                  },
                  legendMark(group), `#${data.points[row]}`, pinned >= 0 ? ` ${'AB'[pinned]}` : '')),
          html('td', {}, data.verdicts[row]),
          ...columns.map((column) => html('td', {class: column.values ? 'number' : ''}, column.text(row))));
  }

  // As long as nothing is sorted: the frontier first, what is not valid last, and by the upright axis.
  #rank(a, b) {
      const {view, derived: {state, y}} = this.#app, sign = view.y.better === 'higher' ? -1 : 1;
      return state[b] - state[a] || sign * (y.values[a] - y.values[b]) || a - b;
  }

  // Words that all have to stand in the row, and comparisons with a column: "rate>4", "ttft.p99<200ms".
  #rows(columns) {
      const {data} = this.#app;
      const tests = this.#filter.value.trim().split(/\s+/).filter(Boolean).map((word) => this.#test(word));
      const rows = data.rows.filter((row) => tests.every((test) => test(row)));
      const column = columns.find(({name}) => name === this.#sort.name);
      if (!column) return rows.sort((a, b) => this.#rank(a, b));
      const sign = this.#sort.down ? -1 : 1, {values} = column;
      const order = values ?
          (a, b) => Number.isNaN(values[a]) - Number.isNaN(values[b]) || sign * (values[a] - values[b]) :
          (a, b) => sign * column.text(a).localeCompare(column.text(b), 'en', {numeric: true});
      return rows.sort((a, b) => order(a, b) || a - b);
  }

  #test(word) {
      const {data} = this.#app, match = /^([^<>=]+)(<=|>=|<|>|=)(.+)$/.exec(word);
      const column = match &&
          [...data.columns.values()].find(
              ({name, label}) => [name, label, name.replace('_s.', '.')].includes(match[1]));
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
  }
