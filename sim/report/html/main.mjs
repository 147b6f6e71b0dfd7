// SPDX-License-Identifier: Apache-2.0
// The page: reads the data, keeps the view, and draws what a change touches.
import {drawComparison} from './comparison.mjs';
import {drawAxes, drawKinds, drawLegend, Limits} from './controls.mjs';
import {readData} from './data.mjs';
import {byId} from './dom.mjs';
import {drawNotes} from './notes.mjs';
import {Scatter} from './scatter.mjs';
import {drawFacts, drawSummary} from './summary.mjs';
import {PointTable} from './table.mjs';
import {Tooltip} from './tooltip.mjs';
import {derive, firstView} from './view.mjs';

const data = readData(JSON.parse(byId('data').textContent));
const app = {data, view: firstView(data), derived: null, cursor: null, change, hover, pin};
app.derived = derive(data, app.view);
document.body.classList.toggle('single', data.count === 1);

const kRest = 150;  // ms
let rest;

const scatter = new Scatter(byId('plot'), app), tooltip = new Tooltip(byId('tooltip'));
const limits = new Limits(byId('limits'), app), table = new PointTable(byId('table'), app);

// Changes the view by a function. While a limit is dragged, the scales of the plot stay, and what lies below it follows
// when the hand rests.
function change(edit, what = 'all') {
  const focused = document.activeElement?.id;
  edit(app.view);
  app.derived = derive(data, app.view);
  drawSummary(byId('answer'), app);
  drawLegend(byId('legend'), app);
  limits.draw();
  if (what === 'limits') scatter.drawPoints();
  else {
    drawAxes(byId('axes'), app);
    scatter.draw();
  }
  clearTimeout(rest);
  if (what === 'limits') rest = setTimeout(drawBelow, kRest);
  else drawBelow();
  if (focused && document.activeElement?.id !== focused) byId(focused)?.focus();
}

function drawBelow() {
  drawComparison(byId('comparison'), app);
  table.draw();
}

function hover(row, tip = true) {
  app.cursor = row;
  scatter.drawCursor(row);
  if (row === null || !tip) tooltip.hide();
  else tooltip.show(app, row, scatter.at(row));
  if (row !== null && tip) byId('spoken').textContent = data.labels[row];
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
