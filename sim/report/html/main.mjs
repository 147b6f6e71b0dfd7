// SPDX-License-Identifier: Apache-2.0
// The page: reads the data, keeps the view, and draws what a change touches.
import {drawComparison} from './comparison.mjs';
import {drawAxes, drawKinds, drawLegend, Filters, Limits} from './controls.mjs';
import {readData} from './data.mjs';
import {derive} from './derive.mjs';
import {byId} from './dom.mjs';
import {fragmentOf, viewOf} from './link.mjs';
import {drawNotes} from './notes.mjs';
import {Scatter} from './scatter.mjs';
import {drawFacts, drawSummary} from './summary.mjs';
import {PointTable} from './table.mjs';
import {Tooltip} from './tooltip.mjs';

const data = readData(JSON.parse(byId('data').textContent));
const app = {data, view: viewOf(data, location.hash.slice(1)), derived: null, cursor: null, change, hover, pin, single: (group) => scatter.single(group)};
app.derived = derive(data, app.view);
document.body.classList.toggle('single', data.count === 1);

const kRest = 150;  // ms
let rest;

const scatter = new Scatter(byId('plot'), app), tooltip = new Tooltip(byId('tooltip'));
const limits = new Limits(byId('limits'), app), filters = new Filters(byId('filters'), app);
const table = new PointTable(byId('table'), app);

// Changes the view by a function. While a limit is dragged or a filter is typed, what lies below the plot follows when
// the hand rests; a limit leaves the scales of the plot as they are, and of the table alone nothing else depends.
function change(edit, what = 'all') {
  const focused = document.activeElement?.id;
  edit(app.view);
  if (what !== 'table') {
    app.derived = derive(data, app.view);
    drawSummary(byId('answer'), app);
    drawLegend(byId('legend'), app);
    limits.draw();
    if (what === 'limits') {
      scatter.drawPoints();
    } else {
      filters.draw();
      drawAxes(byId('axes'), app);
      scatter.draw();
    }
  }
  if (what !== 'limits') table.draw();
  clearTimeout(rest);
  rest = setTimeout(() => settle(what), what === 'limits' || what === 'filter' ? kRest : 0);
  if (focused && document.activeElement?.id !== focused) byId(focused)?.focus();
}

function settle(what) {
  if (what === 'limits') table.draw();
  if (what !== 'table') drawComparison(byId('comparison'), app);
  const fragment = fragmentOf(data, app.view);
  if (fragment !== location.hash.slice(1)) history.replaceState(null, '', fragment ? `#${fragment}` : location.pathname);
}

function hover(row, tip = true) {
  app.cursor = row;
  scatter.drawCursor(row);
  if (row === null || !tip) tooltip.hide();
  else tooltip.show(app, row, scatter.at(row));
  if (row !== null && tip) byId('spoken').textContent = spoken(row);
}

function spoken(row) {
  const {x, y} = app.derived, state = data.valid[row] ? '' : `, ${data.verdicts[row]}`;
  return `${data.labels[row]}: ${y.label} ${y.text(row)}, ${x.label} ${x.text(row)}${state}`;
}

// The first pin is A, the next B; a third takes the place of B, and a pinned point is let go.
function pin(row) {
  if (row === null || row === undefined) return;
  change((view) => {
    const pins = view.pins ?? app.derived.pins;
    view.pins = pins.includes(row) ? pins.filter((other) => other !== row) : view.pins?.length ? [pins[0], row] : [row];
  }, 'pins');
}

change(() => {});
drawFacts(byId('facts'), app);
drawKinds(byId('kinds'), app);
drawNotes(byId('notes'), app);
new ResizeObserver(() => scatter.draw()).observe(byId('plot'));
// A link to another view of this page.
addEventListener('hashchange', () => change(() => {
  app.view = viewOf(data, location.hash.slice(1));
}));
