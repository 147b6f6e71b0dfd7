// SPDX-License-Identifier: Apache-2.0
// The page: reads the data, keeps the view, and draws what a change touches.
import {drawComparison} from './comparison.js';
import {drawAxes, drawLegend, Limits} from './controls.js';
import {readData} from './data.js';
import {byId} from './dom.js';
import {drawNotes} from './notes.js';
import {Scatter} from './scatter.js';
import {drawSummary} from './summary.js';
import {PointTable} from './table.js';
import {Tooltip} from './tooltip.js';
import {derive, firstView} from './view.js';

const data = readData(JSON.parse(byId('data').textContent));
const app = {data, view: firstView(data), derived: null, cursor: null, change, hover, pin};
app.derived = derive(data, app.view);
document.body.classList.toggle('single', data.count === 1);

const scatter = new Scatter(byId('plot'), app), tooltip = new Tooltip(byId('tooltip'));
const limits = new Limits(byId('limits'), app), table = new PointTable(byId('table'), app);

// Changes the view by a function; `what` is 'limits' where the scales of the plot stay.
function change(edit, what = 'all') {
  edit(app.view);
  const pins = app.derived.pins;
  app.derived = derive(data, app.view);
  drawSummary(byId('answer'), app);
  drawLegend(byId('legend'), app);
  limits.draw();
  if (what === 'limits') scatter.drawPoints();
  else {
    drawAxes(byId('axes'), app);
    scatter.draw();
  }
  table.draw();
  if (what !== 'limits' || String(pins) !== String(app.derived.pins)) drawComparison(byId('comparison'), app);
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
drawNotes(byId('notes'), app);
new ResizeObserver(() => scatter.draw()).observe(byId('plot'));
