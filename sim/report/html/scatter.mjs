// SPDX-License-Identifier: Apache-2.0
// The plot of all points: axes, limits, points, the frontier of each group, intervals, and what is pinned.
import {svg} from './dom.mjs';
import {roundText} from './format.mjs';
import {colourClass, crossPath, markerPath} from './markers.mjs';
import {makeScale, tenth} from './scale.mjs';
import {extent, kAlike, kFrontier, kInvalid, kMisses, kQualifies} from './view.mjs';

const kMargin = {
  left: 62,
  right: 20,
  top: 40,
  bottom: 48
};
const kReach = 28;  // pixels from which a point is still hit

export class Scatter {
  #app;
  #root;
  #frame = svg('g');
  #points = svg('g');
  #pins = svg('g', {class: 'pins'});
  #cursor = svg('g', {class: 'cursor'});
  #picture;
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
    const {data, view, derived} = this.#app, {x, y, state} = derived;
    const width = Math.max(320, this.#root.clientWidth),
          height = Math.round(Math.min(600, Math.max(380, width * 0.62)));
    this.#picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
    this.#picture.setAttribute('height', height);
    const drawn = data.rows.filter((row) => data.valid[row] ? onScale(view, derived, row) : state[row] === kInvalid);
    this.box = {left: kMargin.left, right: width - kMargin.right, top: kMargin.top, bottom: height - kMargin.bottom};
    if (!drawn.length) drawn.push(...data.rows.filter((row) => onScale(view, derived, row)));
    const scaleX = this.scaleX = makeScale(...spanOf(x, drawn), this.box.left, this.box.right, view.x.log);
    const scaleY = this.scaleY = makeScale(...spanOf(y, drawn), this.box.bottom, this.box.top, view.y.log);
    this.#px = Float64Array.from(x.values, (value) => tenth(scaleX(value)));
    this.#py = Float64Array.from(y.values, (value) => tenth(scaleY(value)));
    this.#frame.replaceChildren(...this.#axes(), ...this.#limits());
    this.drawPoints();
  }

  // What a slider changes; the scales stay.
  drawPoints() {
    const {derived} = this.#app;
    const {state, groups, frontiers, members} = derived;
    const dominated = groups.names.map(() => ''), alike = groups.names.map(() => '');
    let invalid = '', missing = '';
    for (const row of this.#app.data.rows) {
      if (state[row] === kInvalid) invalid += crossPath(this.#px[row], this.#py[row], 3);
      else if (state[row] === kMisses) missing += markerPath(groups.of[row], this.#px[row], this.#py[row], 2.6);
    }
    members.forEach((rows, group) => {
      for (const row of rows)
        if (state[row] !== kFrontier)
          (state[row] === kAlike ? alike : dominated)[group] += markerPath(group, this.#px[row], this.#py[row], 3.4);
    });
    const layers = [svg('path', {class: 'missing', d: missing}), svg('path', {class: 'invalid', d: invalid})];
    for (const [kind, paths] of [['dominated', dominated], ['alike', alike]])
      paths.forEach((d, group) => d && layers.push(svg('path', {class: `${kind} ${colourClass(group)}`, d})));
    frontiers.forEach((rows, group) => rows.length && layers.push(this.#frontier(rows, group)));
    this.#points.replaceChildren(...layers);
    this.#frame.querySelector('.limits')?.replaceWith(...this.#limits());
    this.drawPins();
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

  // Where a point stands, in pixels of the plot.
  at(row) { return [this.#px[row], this.#py[row]]; }

  #frontier(rows, group) {
    const d = rows.map((row, i) => `${i ? 'L' : 'M'}${this.#px[row]} ${this.#py[row]}`).join('');
    const marks = rows.map((row) => markerPath(group, this.#px[row], this.#py[row], 5)).join('');
    return svg(
        'g', {class: `frontier ${colourClass(group)}`}, svg('path', {class: 'whiskers', d: this.#whiskers(rows)}),
        svg('path', {class: 'line', d}), svg('path', {class: 'marks', d: marks}));
  }

  #whiskers(rows) {
    const {x, y} = this.#app.derived, held = (value, low, high) => tenth(Math.min(high, Math.max(low, value)));
    const across = (value) => held(this.scaleX(value), this.box.left, this.box.right);
    const along = (value) => held(this.scaleY(value), this.box.top, this.box.bottom);
    let d = '';
    for (const row of rows) {
      if (x.low[row] < x.high[row]) {
        const from = across(x.low[row]), to = across(x.high[row]);
        d += `M${from} ${this.#py[row] - 4}v8m0 -4H${to}m0 -4v8`;
      }
      if (y.low[row] < y.high[row]) {
        const from = along(y.low[row]), to = along(y.high[row]);
        d += `M${this.#px[row] - 4} ${from}h8m-4 0V${to}m-4 0h8`;
      }
    }
    return d;
  }

  #axes() {
    const {view, derived: {x, y}} = this.#app, {left, right, top, bottom} = this.box, parts = [];
    for (const tick of this.scaleX.ticks(Math.round((right - left) / 110)))
      parts.push(
          svg('path', {class: 'grid', d: `M${tenth(this.scaleX(tick))} ${top}V${bottom}`}),
          svg('text', {class: 'tick', x: tenth(this.scaleX(tick)), y: bottom + 18, 'text-anchor': 'middle'},
              roundText(tick, x.unit)));
    for (const tick of this.scaleY.ticks(6))
      parts.push(
          svg('path', {class: 'grid', d: `M${left} ${tenth(this.scaleY(tick))}H${right}`}),
          svg('text', {class: 'tick', x: left - 8, y: tenth(this.scaleY(tick)) + 4, 'text-anchor': 'end'},
              roundText(tick, y.unit)));
    parts.push(
        svg('path', {class: 'edge', d: `M${left} ${top}V${bottom}H${right}`}),
        svg('text', {class: 'title', x: right, y: bottom + 40, 'text-anchor': 'end'}, axisTitle(x, view.x, '← ', ' →')),
        svg('text', {class: 'title', x: 8, y: 20}, axisTitle(y, view.y, '↓ ', ' ↑')));
    return parts;
  }

  // The side of a limit on which no point qualifies, where the limited metric is on an axis.
  #limits() {
    const {derived: {x, y, limits}} = this.#app, {left, right, top, bottom} = this.box;
    const area = svg('g', {class: 'limits'});
    for (const {column, bound, below} of limits) {
      if (column === x) {
        const at = Math.min(right, Math.max(left, this.scaleX(bound)));
        area.append(
            below ? rectangle(at, top, right, bottom) : rectangle(left, top, at, bottom),
            svg('path', {d: `M${at} ${top}V${bottom}`}));
      } else if (column === y) {
        const at = Math.min(bottom, Math.max(top, this.scaleY(bound)));
        area.append(
            below ? rectangle(left, top, right, at) : rectangle(left, at, right, bottom),
            svg('path', {d: `M${left} ${at}H${right}`}));
      }
    }
    return [area];
  }

  #hit(event) {
    const frame = this.#picture.getBoundingClientRect(), {state} = this.#app.derived;
    const x = event.clientX - frame.left, y = event.clientY - frame.top;
    let nearest = null, least = kReach ** 2;
    for (const row of this.#app.data.rows) {
      if (!state[row]) continue;
      // Points of a frontier are easier to hit than those that it leaves behind.
      const distance = (this.#px[row] - x) ** 2 + (this.#py[row] - y) ** 2 - (state[row] === kFrontier ? 40 : 0);
      if (distance < least) [nearest, least] = [row, distance];
    }
    return nearest;
  }

  // Arrows go to the next point by x or y, with Shift along the frontiers only; Home and End are the ends of those.
  #key(event) {
    const app = this.#app,
          step = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
    const {derived: {state, best, x, y}, data} = app;
    if (event.key === 'Enter' || event.key === ' ') app.pin(app.cursor);
    else if (event.key === 'Escape') app.hover(null);
    else if (event.key === 'Home') app.hover(best[0] ?? null);
    else if (event.key === 'End') app.hover(best.at(-1) ?? null);
    else if (step) {
      const values = step[0] ? x.values : y.values;
      const way = data.rows.filter((row) => state[row] >= (event.shiftKey ? kFrontier : kQualifies))
                      .sort((a, b) => values[a] - values[b] || a - b);
      const from = way.indexOf(app.cursor ?? app.derived.winner?.row);
      app.hover(way[Math.min(way.length - 1, Math.max(0, from + step[0] + step[1]))] ?? null);
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

function axisTitle(column, {better}, lower, higher) {
  const arrow = better === 'higher' ? higher : lower;
  return `${better === 'lower' ? arrow : ''}${column.label}, ${better} is better${better === 'higher' ? arrow : ''}`;
}

const rectangle = (left, top, right, bottom) =>
    svg('rect',
        {x: left, y: top, width: Math.max(0, right - left), height: Math.max(0, bottom - top), fill: 'url(#hatch)'});

const hatching = () => svg(
    'defs', {},
    svg('pattern', {id: 'hatch', width: 7, height: 7, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'},
        svg('path', {class: 'hatch', d: 'M0 0V7'})));
