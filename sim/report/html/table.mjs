// SPDX-License-Identifier: Apache-2.0
// The points that are shown as a table: the best first, or sorted by a heading.
import {kFrontier} from './derive.mjs';
import {html} from './dom.mjs';
import {grouped} from './format.mjs';
import {groupClass, legendMark} from './markers.mjs';
import {mainMetrics} from './tooltip.mjs';

const kPage = matchMedia('(max-width: 640px)').matches ? 10 : 50;  // cards are longer than rows

export class PointTable {
  #app;
  #most = kPage;
  #all;
  #sorts;
  #count = html('span', {class: 'count', role: 'status'});
  #table = html('table', {class: 'points'});
  #more = html('p', {class: 'more'});

  constructor(root, app) {
    this.#app = app;
    this.#all = html('input', {
      type: 'checkbox',
      id: 'all-metrics',
      onchange: ({target}) => app.change((v) => {
        v.allMetrics = target.checked;
      }, 'table')
    });
    this.#sorts = html('select', {
      id: 'sort',
      onchange: ({target}) => app.change((v) => {
        const {name, better} = app.data.columns.get(target.value) ?? {name: null};
        v.sort = {name, down: better !== 'lower'};
      }, 'table')
    });
    root.append(html('div', {class: 'tools'}, this.#count,
                     html('label', {class: 'toggle only-narrow', for: 'sort'}, 'sorted by ', this.#sorts),
                     html('label', {class: 'toggle', for: 'all-metrics'}, this.#all, 'all metrics')),
                html('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table of points'}, this.#table), this.#more);
  }

  draw() {
      const {data, view, derived} = this.#app;
      this.#all.checked = view.allMetrics;
      const columns = [...data.axes, ...view.allMetrics ? data.metrics : mainMetrics(data, derived)];
      const rows = this.#rows(columns);
      this.#sorts.replaceChildren(
          html('option', {value: ''}, 'rank'),
          ...columns.map(({name, label}) => html('option', {value: name, selected: name === view.sort.name}, label)));
      this.#count.textContent = `${grouped(rows.length)} of ${grouped(data.count)}`;
      const head = html(
          'tr', {}, html('th', {scope: 'col'}, 'point'), html('th', {scope: 'col'}, 'verdict'),
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
      const {view: {sort}, change} = this.#app, sorted = sort.name === column.name;
      return html(
          'th', {
            scope: 'col',
            title: column.definition,
            'data-name': column.label,
            class: column.values ? 'number' : '',
            'aria-sort': sorted ? (sort.down ? 'descending' : 'ascending') : 'none'
          },
          html(
              'button', {
                type: 'button',
                onclick: () => change((v) => {
                  v.sort = {name: column.name, down: sorted ? !sort.down : column.better === 'higher'};
                }, 'table')
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
                    class: `entry ${groupClass(group)}`,
                    title: 'pin this point',
                    onclick: () => pin(row)
                  },
                  legendMark(group), `#${data.points[row]}`, pinned >= 0 ? ` ${'AB'[pinned]}` : '')),
          html('td', {'data-name': 'verdict'}, data.verdicts[row]),
          ...columns.map((column) => html('td', {class: column.values ? 'number' : '', 'data-name': column.label}, column.text(row))));
  }

  // As long as nothing is sorted: the frontier first, what is not valid last, and by the upright axis.
  #rank(a, b) {
      const {view, derived: {state, y, unlike}} = this.#app;
      const sign = unlike.includes(y) ? 0 : view.y.better === 'higher' ? -1 : 1;
      return state[b] - state[a] || sign * (y.values[a] - y.values[b]) || a - b;
  }

  #rows(columns) {
      const {view: {sort}, derived} = this.#app, rows = [...derived.shown];
      const column = columns.find(({name}) => name === sort.name);
      if (!column) return rows.sort((a, b) => this.#rank(a, b));
      const sign = sort.down ? -1 : 1, {values} = column;
      const order = values ?
          (a, b) => Number.isNaN(values[a]) - Number.isNaN(values[b]) || sign * (values[a] - values[b]) :
          (a, b) => sign * column.text(a).localeCompare(column.text(b), 'en', {numeric: true});
      return rows.sort((a, b) => order(a, b) || a - b);
  }
}
