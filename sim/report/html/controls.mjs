// SPDX-License-Identifier: Apache-2.0
// Axes, groups and limits: everything with which the reader asks.
import {html, svg} from './dom.mjs';
import {unreadWords} from './filter.mjs';
import {exactText, grouped, valueFor} from './format.mjs';
import {crossPath, groupClass, legendMark, markerPath} from './markers.mjs';
import {columnName, extent, kMostValues, setAxis, setChart, statisticsOf} from './view.mjs';

const kSteps = 1000;  // of a slider; the last one is "no limit"

const option = (value, text, chosen) => html('option', {value, selected: value === chosen}, text);
const choice = (id, label, input) => html('label', {class: 'choice', 'for': id}, html('span', {}, label), input);

export function drawAxes(root, app) {
  root.replaceChildren(
      ...chartChoice(app), axisRow('y', 'Vertical', app), axisRow('x', 'Horizontal', app),
      html('div', {class: 'row pair'}, splitChoice('group', 'Groups', app), splitChoice('facet', 'Small charts', app)),
      html('div', {class: 'row'}, splitChoice('label', 'Labels on frontiers', app), ...invalidToggle(app)));
}

// Which axis tells groups apart, has a chart for each of its values, or stands beside points.
function splitChoice(part, title, {data, view, change}) {
  const most = part === 'facet' ? kMostValues : Infinity;
  const axes = [...data.splits.values()].filter(({texts}) => texts.length <= most);
  return choice(
      part, title,
      html(
          'select', {
            id: part,
            onchange: ({target}) => change((v) => {
              v[part] = target.value;
            })
          },
          option('', 'none', view[part]), ...axes.map((axis) => option(axis.name, axis.label, view[part]))));
}

// The usual pairs of axes. Another pair has no name.
function chartChoice({data, view, change}) {
  const shown = data.charts.find(({x, y}) => x === view.x.name && y === view.y.name);
  if (data.charts.length < 2) return [];
  return [html(
      'div', {class: 'row'},
      choice(
          'chart', 'Chart',
          html(
              'select', {
                id: 'chart',
                onchange: ({target}) =>
                    change((v) => setChart(data, v, data.charts.find(({name}) => name === target.value)))
              },
              ...shown ? [] : [option('', 'your own', '')],
              ...data.charts.map(
                  ({name, text}) =>
                      html('option', {value: name, selected: name === shown?.name, title: text}, name)))))];
}

function axisRow(side, title, app) {
  const {data, view} = app, axis = view[side];
  const metrics = html('optgroup', {label: 'metrics'}), axes = html('optgroup', {label: 'axes of the plan'});
  for (const column of data.numeric)
    (column.metric ? metrics : axes).append(option(column.name, column.label, axis.name));
  return html(
      'div', {class: 'row'},
      choice(
          `${side}-axis`, title,
          html(
              'select',
              {id: `${side}-axis`, onchange: ({target}) => app.change((v) => setAxis(data, v, side, target.value))},
              metrics, ...axes.children.length ? [axes] : [])),
      choice(
          `${side}-better`, 'Better',
          html(
              'select', {
                id: `${side}-better`,
                onchange: ({target}) => app.change((v) => {
                  v[side].better = target.value;
                })
              },
              option('higher', 'higher', axis.better), option('lower', 'lower', axis.better))),
      toggle(`${side}-log`, 'log', axis.log, (on) => app.change((v) => {
        v[side].log = on;
      })));
}

const toggle = (id, text, checked, set) => html(
    'label', {class: 'toggle', 'for': id},
    html('input', {id, type: 'checkbox', checked, onchange: ({target}) => set(target.checked)}), text);

function invalidToggle({data, view, derived, change}) {
  const count = derived.shown.filter((row) => !data.valid[row]).length;
  return data.valid.includes(false) ? [toggle('show-invalid', `show ${grouped(count)} not valid`, view.showInvalid, (on) => change((v) => {
                                                                                                 v.showInvalid = on;
                                                                                               }))] :
                 [];
}

const toggled = (view, name, value) => {
  const values = view.hidden.get(name) ?? new Set();
  if (!values.delete(value)) values.add(value);
  view.hidden.set(name, values);
};

export function drawLegend(root, app) {
  const {derived: {groups, members, panels}, view, change} = app;
  const onFrontier = (group) => panels.reduce((sum, {frontiers}) => sum + frontiers[group].length, 0);
  root.replaceChildren(
      ...groups.title ?
          groups.names.map(
              (name, group) => html(
                  'button', {
                    type: 'button',
                    class: `entry ${groupClass(group)} ${members[group].length ? '' : 'empty'}`,
                    id: `group-${group}`,
                    'aria-pressed': String(!view.hidden.get(view.group)?.has(group)),
                    title: `${grouped(members[group].length)} qualify, ${onFrontier(group)} on the frontier of the group`,
                    onclick: () => change((v) => toggled(v, v.group, group)),
                    onpointerenter: () => app.single(group),
                    onpointerleave: () => app.single(null)
                  },
                  legendMark(group), name, html('span', {class: 'count'}, grouped(members[group].length)))) :
          []);
}

// A line of words and comparisons, and a switch for each value of an axis; all that the page shows follows them.
export class Filters {
  #app;
  #line;
  #unread = html('p', {class: 'note', role: 'status'});
  #switches = html('div', {class: 'switches'});

  constructor(root, app) {
    this.#app = app;
    this.#line = html('input', {
      type: 'search',
      id: 'filter',
      'aria-label': 'Filter',
      placeholder: 'h100 rate>4 ttft.p99<200ms',
      spellcheck: 'false',
      oninput: () => app.change((v) => {
        v.filter = this.#line.value;
      }, 'filter')
    });
    root.append(this.#line, this.#unread, this.#switches);
    this.draw();
  }

  draw() {
    const {data, view, change} = this.#app;
    if (document.activeElement !== this.#line) this.#line.value = view.filter;
    const unread = unreadWords(data, view.filter);
    this.#unread.textContent =
        unread.length ? `Passed over: ${unread.map(([word, problem]) => `${word} (${problem})`).join(', ')}` : '';
    const axes = [...data.splits.values()].filter(({name, texts}) => texts.length <= kMostValues && name !== view.group);
    this.#switches.replaceChildren(...axes.map(
        ({name, label, texts}, axis) => html(
            'div', {class: 'switch-row', role: 'group', 'aria-label': label}, html('span', {}, label),
            ...texts.map((text, value) => html(
                             'button', {
                               type: 'button',
                               class: 'switch',
                               id: `show-${axis}-${value}`,
                               'aria-pressed': String(!view.hidden.get(name)?.has(value)),
                               onclick: () => change((v) => toggled(v, name, value))
                             },
                             text)))));
  }
}

// What the kinds of points look like.
export function drawKinds(root, {data}) {
  const kind = (mark, text) =>
      html('div', {}, html('dt', {}, svg('svg', {class: 'c0', viewBox: '-8 -8 16 16', 'aria-hidden': 'true'}, mark)),
           html('dd', {}, text));
  const point = (name, radius) => svg('path', {class: name, d: markerPath(0, 0, 0, radius)});
  const uncertain = data.metrics.some(({low, values}) => low !== values);
  root.replaceChildren(
      kind(
          svg('g', {class: 'frontier'}, svg('path', {class: 'line', d: 'M-8 0H8'}),
              svg('path', {class: 'marks', d: markerPath(0, 0, 0, 5)})),
          'on the frontier of its group'),
      kind(point('dominated', 4), 'qualifies, but is beaten'),
      ...uncertain ? [kind(point('alike', 4), 'not told apart from the frontier by the intervals')] : [],
      kind(point('missing', 4), 'misses a limit'),
      ...data.valid.includes(false) ? [kind(svg('path', {class: 'invalid', d: crossPath(0, 0, 4)}),
                                            'run is not valid (at an edge: beyond it)')] : []);
}

// {bound} of what is typed as a limit, which may be none; {problem} where it is no bound.
export function typedBound(column, below, text) {
  const typed = text.trim();
  if (typed === '' || typed === 'any') return {bound: below ? Infinity : -Infinity};
  const bound = valueFor(column, typed);
  if (Number.isFinite(bound)) return {bound};
  const last = exactText(column.unit === 's' ? 0.25 : column.unit === 'share' ? 0.9 : 5000, column.unit);
  return {problem: `${column.label} is never ${typed}: the limit stays as it was. Write it as ${last}, or any for none.`};
}

// One slider for each limit, from the least to the greatest value of the valid points. Made once: a slider that is
// replaced while it is dragged would let go.
export class Limits {
  #app;
  #rows;
  #problem = html('p', {class: 'note', role: 'status', id: 'limit-problem'});

  constructor(root, app) {
    this.#app = app;
    this.#rows = app.view.limits.map((limit, index) => this.#row(limit, index));
    root.append(...this.#rows.map(({element}) => element), this.#problem);
    this.draw();
  }

  draw() {
    this.#rows.forEach(({slider, shown}, index) => {
      const limit = this.#app.view.limits[index], column = this.#column(limit);
      const bounded = Number.isFinite(limit.bound);
      slider.value = this.#position(limit);
      slider.setAttribute('aria-valuetext', bounded ? exactText(limit.bound, column.unit) : 'no limit');
      slider.classList.toggle('idle', !bounded);
      const kept = document.activeElement === shown || shown.getAttribute('aria-invalid') === 'true';
      if (!kept) shown.value = bounded ? exactText(limit.bound, column.unit) : 'any';
    });
  }

  // Marks a field whose text is no bound, and says why; the bound stays. Without a problem takes the mark away.
  #mark(shown, problem = '') {
    shown.setAttribute('aria-invalid', String(problem !== ''));
    this.#problem.textContent = problem;
  }

  #column(limit) { return this.#app.data.columns.get(columnName(limit)); }

  #span(limit) {
    const {data} = this.#app, {values} = this.#column(limit);
    const rows = data.rows.filter((row) => data.valid[row] && values[row] > 0);
    return extent(values, rows.length ? rows : data.rows);
  }

  #position(limit) {
    const end = limit.below ? kSteps : 0;
    if (!Number.isFinite(limit.bound)) return end;
    const [low, high] = this.#span(limit);
    const share = high > low ? Math.log(limit.bound / low) / Math.log(high / low) : 1;
    return Math.round(Math.min(1, Math.max(0, share)) * (kSteps - 2)) + 1;
  }

  #bound(limit, position) {
    if (position === (limit.below ? kSteps : 0)) return limit.below ? Infinity : -Infinity;
    const [low, high] = this.#span(limit);
    const value = low * (high / low) ** ((position - 1) / (kSteps - 2));
    return Number(value.toPrecision(3)) || low;
  }

  #row(limit, index) {
    const {data, change} = this.#app, id = `limit-${columnName(limit).replace('.', '-')}`;
    const name = this.#column(limit).label.split(' ')[0];
    const statistics = statisticsOf(data, limit.key);
    const slider = html('input', {
      id,
      type: 'range',
      min: 0,
      max: kSteps,
      step: 1,
      'data-limit': limit.key,
      oninput: () => change(
          (v) => {
            this.#mark(shown);
            v.limits[index].bound = this.#bound(v.limits[index], Number(slider.value));
          },
          'limits')
    });
    const shown = html('input', {
      type: 'text',
      class: 'bound',
      'aria-label': `limit of ${name}`,
      spellcheck: 'false',
      'aria-describedby': 'limit-problem',
      onchange: () => {
        const column = this.#column(this.#app.view.limits[index]);
        const {bound, problem} = typedBound(column, limit.below, shown.value);
        this.#mark(shown, problem);
        if (problem) return;
        change(
            (v) => {
              v.limits[index].bound = bound;
              shown.blur();
            },
            'limits');
      }
    });
    const statistic = limit.statistic ? html(
                                            'select', {
                                              'aria-label': `statistic of ${name}`,
                                              onchange: ({target}) => change(
                                                  (v) => {
                                                    v.limits[index].statistic = target.value;
                                                  },
                                                  'limits')
                                            },
                                            ...statistics.map((one) => option(one, one, limit.statistic))) :
                                        null;
    const element = html(
        'div', {class: 'limit-row'}, html('label', {'for': id}, name), statistic,
        html('span', {class: 'sign'}, limit.below ? '≤' : '≥'), shown, slider);
    return {element, slider, shown};
  }
}
