// SPDX-License-Identifier: Apache-2.0
// The plot of all points: one chart, or a small one for each value of an axis, all with the same scales. Each has axes,
// limits, points, the frontier of each group with its labels, intervals, and what is pinned.
import {kAlike, kFrontier, kInvalid, kMisses, kQualifies} from './derive.mjs';
import {svg} from './dom.mjs';
import {axisUnit, roundText} from './format.mjs';
import {LabelPlaces} from './labels.mjs';
import {crossPath, groupClass, markerPath} from './markers.mjs';
import {makeScale, tenth, tickLabels} from './scale.mjs';
import {extent} from './view.mjs';

const kMargin = {left: 62, right: 20, top: 40, bottom: 48};
const kBetween = {across: 22, down: 34};  // between small charts
const kReach = 28;                    // pixels from which a point is still hit
const kSmallest = 250;                // width of a small chart

export class Scatter {
  #app;
  #root;
  #frame = svg('g');
  #points = svg('g');
  #pins = svg('g', {class: 'pins'});
  #cursor = svg('g', {class: 'cursor'});
  #picture;
  #boxes = [];  // one for each chart
  #px = new Float64Array(0);
  #py = new Float64Array(0);

  constructor(root, app) {
    this.#app = app;
    this.#root = root;
    this.#picture =
        svg('svg', {
          class: 'scatter',
          tabindex: '0',
          role: 'application',
          'aria-roledescription': 'plot',
          'aria-labelledby': 'plot-title',
          'aria-describedby': 'plot-keys'
        },
            hatching(), this.#frame, this.#points, this.#pins, this.#cursor);
    root.append(this.#picture);
    this.#picture.addEventListener('pointermove', (event) => app.hover(this.#hit(event)));
    this.#picture.addEventListener('pointerleave', () => app.hover(null));
    this.#picture.addEventListener('click', (event) => app.pin(this.#hit(event)));
    this.#picture.addEventListener('keydown', (event) => this.#key(event));
    this.#picture.addEventListener('focus', () => {
      if (this.#picture.matches(':focus-visible')) app.hover(app.cursor ?? app.derived.winner?.row ?? null);
    });
    this.#picture.addEventListener('blur', () => app.hover(null));
  }

  draw() {
    const {data, view, derived} = this.#app, {x, y, panels} = derived;
    this.#layOut(Math.max(280, this.#root.clientWidth), panels.length);
    // Scales are those of valid points; others that lie beyond stand at the edge.
    const sought = [
      derived.shown.filter((row) => data.valid[row]), derived.shown, data.rows
    ].map((rows) => rows.filter((row) => onScale(view, derived, row))).find((rows) => rows.length) ?? [];
    const [box] = this.#boxes, across = box.right - box.left, down = box.bottom - box.top;
    this.scaleX = makeScale(...spanOf(x, sought), 0, across, view.x.log);
    this.scaleY = makeScale(...spanOf(y, sought), down, 0, view.y.log);
    this.#px = new Float64Array(data.count);
    this.#py = new Float64Array(data.count);
    const held = (value, most) => tenth(Math.min(most, Math.max(0, value)));
    panels.forEach(({rows}, place) => {
      for (const row of rows) {
        this.#px[row] = tenth(this.#boxes[place].left + held(this.scaleX(x.values[row]), across));
        this.#py[row] = tenth(this.#boxes[place].top + held(this.scaleY(y.values[row]), down));
      }
    });
    this.#frame.replaceChildren(...this.#axes(), ...this.#limits());
    this.drawPoints();
  }

  // Where the charts stand: side by side as far as there is room.
  #layOut(width, count) {
    const few = count < 4 ? count : count === 4 ? 2 : 3;
    const columns = Math.max(1, Math.min(few, Math.floor((width - kMargin.left) / kSmallest)));
    const rows = Math.ceil(count / columns), inside = width - kMargin.left - kMargin.right;
    const wide = (inside - (columns - 1) * kBetween.across) / columns;
    const high = count === 1 ? Math.min(600, Math.max(380, width * 0.62)) - kMargin.top - kMargin.bottom :
                               Math.min(380, Math.max(250, wide * 1.4));
    const title = count === 1 ? 0 : 20;
    this.#boxes = Array.from({length: count}, (_, i) => {
      const left = kMargin.left + i % columns * (wide + kBetween.across);
      const top = kMargin.top + title + Math.floor(i / columns) * (high + kBetween.down);
      const box = {left: tenth(left), right: tenth(left + wide), top: tenth(top), bottom: tenth(top + high)};
      return {...box, first: i % columns === 0, last: i + columns >= count};
    });
    const height = Math.round(kMargin.top + title + rows * high + (rows - 1) * kBetween.down + kMargin.bottom);
    this.#picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.#picture.setAttribute('height', height);
  }

  // What a slider changes; the scales stay.
  drawPoints() {
    const {derived} = this.#app, {panels} = derived;
    this.#points.replaceChildren(...panels.flatMap((panel, place) => this.#chart(panel, this.#boxes[place])));
    this.#frame.querySelectorAll('.limits').forEach((old) => old.remove());
    this.#frame.append(...this.#limits());
    this.drawPins();
  }

  #chart({rows, frontiers}, box) {
    const size = this.#boxes.length > 1 ? 0.78 : 1;
    const {state, groups} = this.#app.derived;
    const dominated = groups.names.map(() => ''), alike = groups.names.map(() => '');
    let invalid = '', missing = '';
    for (const row of rows) {
      const group = groups.of[row], x = this.#px[row], y = this.#py[row];
      if (state[row] === kInvalid) invalid += crossPath(x, y, 3);
      else if (state[row] === kMisses) missing += markerPath(group, x, y, 2.6 * size);
      else if (state[row] === kAlike) alike[group] += markerPath(group, x, y, 3.4 * size);
      else if (state[row] === kQualifies) dominated[group] += markerPath(group, x, y, 3.4 * size);
    }
    const layers = [svg('path', {class: 'missing', d: missing}), svg('path', {class: 'invalid', d: invalid})];
    for (const [kind, paths] of [['dominated', dominated], ['alike', alike]])
      paths.forEach((d, group) => d && layers.push(svg('path', {class: `${kind} ${groupClass(group)}`, 'data-group': group, d})));
    frontiers.forEach((line, group) => line.length && layers.push(this.#frontier(line, group, 5 * size)));
    return [...layers, this.#labels(frontiers, box)];
  }

  drawPins() {
    const marks = this.#app.derived.pins.filter((row) => this.#app.derived.state[row])
                      .map(
                          (row, i) => svg(
                              'g', {class: `pin pin-${i}`, transform: `translate(${this.#px[row]} ${this.#py[row]})`},
                              svg('circle', {r: 9}), svg('circle', {class: 'flag', cx: 15, cy: i ? 15 : -15, r: 8.5}),
                              svg('text', {x: 15, y: i ? 18.8 : -11.2}, 'AB'[i])));
    this.#pins.replaceChildren(...marks.reverse());
  }

  drawCursor(row) {
    const seen = row !== null && this.#app.derived.state[row] > 0;
    this.#cursor.replaceChildren(...seen ? [svg('circle', {cx: this.#px[row], cy: this.#py[row], r: 8})] : []);
  }

  // Fades all groups but one; null fades none.
  single(group) {
    this.#picture.classList.toggle('faded', group !== null);
    for (const part of this.#points.querySelectorAll('[data-group]'))
      part.classList.toggle('chosen', Number(part.dataset.group) === group);
  }

  // Where a point stands, in pixels of the plot.
  at(row) { return [this.#px[row], this.#py[row]]; }

  #frontier(rows, group, radius) {
    const d = rows.map((row, i) => `${i ? 'L' : 'M'}${this.#px[row]} ${this.#py[row]}`).join('');
    const marks = rows.map((row) => markerPath(group, this.#px[row], this.#py[row], radius)).join('');
    return svg(
        'g', {class: `frontier ${groupClass(group)}`, 'data-group': group},
        svg('path', {class: 'whiskers', d: this.#whiskers(rows)}), svg('path', {class: 'line', d}),
        svg('path', {class: 'marks', d: marks}));
  }

  // The names of the groups, each at its frontier, and the chosen axis at their points.
  #labels(frontiers, box) {
    const {data, view, derived: {groups, pins}} = this.#app;
    const points = frontiers.flat().map((row) => this.at(row));
    pins.forEach((row, i) => points.push(...this.#flag(row, i)));
    const places = new LabelPlaces(box, points), layer = svg('g', {class: 'labels'});
    const add = (kind, text, row, group) => {
      const place = places.find(text, this.at(row));
      if (place) layer.append(svg('text', {class: kind, 'data-group': group, ...place}, text));
      return place;
    };
    if (groups.title)
      frontiers.forEach((rows, group) => {
        const ends = [rows.at(-1), rows[0], rows[Math.floor(rows.length / 2)]];
        if (rows.length) ends.find((row) => add('name', groups.names[group], row, group));
      });
    const axis = data.splits.get(view.label);
    if (axis) frontiers.forEach((rows, group) => rows.forEach((row) => add('value', axis.texts[axis.of[row]], row, group)));
    return layer;
  }

  // What the letter of a pin covers.
  #flag(row, i) {
    const x = this.#px[row] + 15, y = this.#py[row] + (i ? 15 : -15);
    return [-5, 5].flatMap((dx) => [-5, 5].map((dy) => [x + dx, y + dy]));
  }

  #whiskers(rows) {
    const {x, y} = this.#app.derived, [box] = this.#boxes;
    const held = (value, most) => tenth(Math.min(most, Math.max(0, value)));
    const across = (value) => held(this.scaleX(value), box.right - box.left);
    const along = (value) => held(this.scaleY(value), box.bottom - box.top);
    let d = '';
    for (const row of rows) {
      const left = this.#px[row] - across(x.values[row]), top = this.#py[row] - along(y.values[row]);
      if (x.low[row] < x.high[row])
        d += `M${tenth(left + across(x.low[row]))} ${tenth(this.#py[row] - 4)}v8m0 -4H${tenth(left + across(x.high[row]))}m0 -4v8`;
      if (y.low[row] < y.high[row])
        d += `M${tenth(this.#px[row] - 4)} ${tenth(top + along(y.low[row]))}h8m-4 0V${tenth(top + along(y.high[row]))}m-4 0h8`;
    }
    return d;
  }

  #axes() {
    const {view, derived: {x, y, panels}} = this.#app, parts = [];
    panels.forEach(({name}, i) => {
      const {left, right, top, bottom, first, last} = this.#boxes[i];
      const few = panels.length > 1;
      const across = this.scaleX.ticks(Math.max(3, Math.round((right - left) / 110)));
      for (const tick of across)
        parts.push(svg('path', {class: 'grid', d: `M${tenth(left + this.scaleX(tick))} ${top}V${bottom}`}));
      const end = right + kMargin.right, place = (value) => left + this.scaleX(value);
      for (const {at, text} of last ? tickLabels(across, place, (value) => roundText(value, x.unit), end) : [])
        parts.push(svg('text', {class: 'tick', x: at, y: bottom + 18, 'text-anchor': 'middle'}, text));
      for (const tick of this.scaleY.ticks(few ? 4 : 6)) {
        const at = tenth(top + this.scaleY(tick));
        parts.push(svg('path', {class: 'grid', d: `M${left} ${at}H${right}`}));
        if (first) parts.push(svg('text', {class: 'tick', x: left - 8, y: at + 4, 'text-anchor': 'end'}, roundText(tick, y.unit)));
      }
      parts.push(svg('path', {class: 'edge', d: `M${left} ${top}V${bottom}H${right}`}));
      if (few) parts.push(svg('text', {class: 'panel-name', x: left, y: top - 7}, name));
    });
    const right = Math.max(...this.#boxes.map((box) => box.right)), bottom = this.#boxes.at(-1).bottom;
    return [
      ...parts,
      svg('text', {class: 'title', x: right, y: bottom + 40, 'text-anchor': 'end'}, axisTitle(x, view.x, '← ', ' →')),
      svg('text', {class: 'title', x: 8, y: 20}, axisTitle(y, view.y, '↓ ', ' ↑'))
    ];
  }

  // The side of a limit on which no point qualifies, where the limited metric is on an axis.
  #limits() {
    const {derived: {x, y, limits}} = this.#app;
    return this.#boxes.map(({left, right, top, bottom}) => {
      const area = svg('g', {class: 'limits'});
      for (const {column, bound, below} of limits) {
        if (column === x) {
          const at = tenth(Math.min(right, Math.max(left, left + this.scaleX(bound))));
          area.append(
              below ? rectangle(at, top, right, bottom) : rectangle(left, top, at, bottom),
              svg('path', {d: `M${at} ${top}V${bottom}`}));
        } else if (column === y) {
          const at = tenth(Math.min(bottom, Math.max(top, top + this.scaleY(bound))));
          area.append(
              below ? rectangle(left, top, right, at) : rectangle(left, at, right, bottom),
              svg('path', {d: `M${left} ${at}H${right}`}));
        }
      }
      return area;
    });
  }

  #hit(event) {
    const frame = this.#picture.getBoundingClientRect(), {state, shown} = this.#app.derived;
    const x = event.clientX - frame.left, y = event.clientY - frame.top;
    let nearest = null, least = kReach ** 2;
    for (const row of shown) {
      if (!state[row]) continue;
      // Points of a frontier are easier to hit than those that it leaves behind.
      const distance = (this.#px[row] - x) ** 2 + (this.#py[row] - y) ** 2 - (state[row] === kFrontier ? 40 : 0);
      if (distance < least) [nearest, least] = [row, distance];
    }
    return nearest;
  }

  // Arrows go to the next point by x or y of the same chart, with Shift along the frontiers only; Home and End are the
  // ends of those; Page Up and Down go to the next chart.
  #key(event) {
    const app = this.#app,
          step = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    const {derived: {state, panels, x, y}} = app, from = app.cursor ?? app.derived.winner?.row;
    const place = Math.max(0, panels.findIndex(({rows}) => rows.includes(from)));
    const {rows, best} = panels[place];
    if (event.key === 'Enter' || event.key === ' ') app.pin(app.cursor);
    else if (event.key === 'Escape') app.hover(null);
    else if (event.key === 'Home') app.hover(best[0] ?? null);
    else if (event.key === 'End') app.hover(best.at(-1) ?? null);
    else if (event.key === 'PageDown' || event.key === 'PageUp') {
      const next = panels[place + (event.key === 'PageDown' ? 1 : -1)];
      if (next) app.hover(next.best[0] ?? next.rows[0]);
    } else if (step) {
      const values = step[0] ? x.values : y.values;
      const way = rows.filter((row) => state[row] >= (event.shiftKey ? kFrontier : kQualifies))
                      .sort((a, b) => values[a] - values[b] || a - b);
      app.hover(way[Math.min(way.length - 1, Math.max(0, way.indexOf(from) + step[0] + step[1]))] ?? null);
    } else return;
    event.preventDefault();
  }
}

const onScale = (view, {x, y}, row) => Number.isFinite(x.values[row]) && Number.isFinite(y.values[row]) &&
    (!view.x.log || x.values[row] > 0) && (!view.y.log || y.values[row] > 0);

function spanOf(column, rows) {
  const [low, high] = extent(column.values, rows);
  return low <= high ? [low, high] : [1, 10];
}

// "TTFT p99 (s, log), lower is better"
function axisTitle(column, {better, log}, lower, higher) {
  const arrow = better === 'higher' ? higher : lower, facts = [axisUnit(column), log && 'log'].filter(Boolean);
  const name = `${column.label}${facts.length ? ` (${facts.join(', ')})` : ''}`;
  return `${better === 'lower' ? arrow : ''}${name}, ${better} is better${better === 'higher' ? arrow : ''}`;
}

const rectangle = (left, top, right, bottom) =>
    svg('rect',
        {x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top), fill: 'url(#hatch)'});

const hatching = () => svg(
    'defs', {},
    svg('pattern', {id: 'hatch', width: 7, height: 7, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'},
        svg('path', {class: 'hatch', d: 'M0 0V7'})));
