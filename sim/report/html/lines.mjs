// SPDX-License-Identifier: Apache-2.0
// A small chart of one to two lines, with a reading of all of them where the pointer is.
import {html, svg} from './dom.mjs';
import {roundText, valueText} from './format.mjs';
import {makeScale, tenth, tickLabels} from './scale.mjs';

const kWidth = 340, kHeight = 190, kBox = {
  left: 48,
  right: 10,
  top: 12,
  bottom: 26
};

// lines: [{letter: 'A', x: [...], y: [...], step: bool}] by growing x; x and y: {unit, log, low, high}, the ends of an
// axis where they are not those of the lines; marks: [{at, text}] upright lines.
export function lineChart({title, note, lines, x, y, marks = []}) {
  const right = kWidth - kBox.right, bottom = kHeight - kBox.bottom;
  const across = makeScale(...ends(lines.flatMap((line) => line.x), x), kBox.left, right, x.log);
  const along = makeScale(...ends(lines.flatMap((line) => line.y), y), bottom, kBox.top, false);
  const picture = svg('svg', {class: 'lines', viewBox: `0 0 ${kWidth} ${kHeight}`, role: 'img', 'aria-label': title});
  for (const {tick, at, text} of tickLabels(across.ticks(4), across, (value) => roundText(value, x.unit), kWidth))
    picture.append(
        svg('path', {class: 'grid', d: `M${tenth(across(tick))} ${kBox.top}V${bottom}`}),
        svg('text', {class: 'tick', x: at, y: bottom + 16, 'text-anchor': 'middle'}, text));
  for (const tick of along.ticks(4))
    picture.append(
        svg('path', {class: 'grid', d: `M${kBox.left} ${tenth(along(tick))}H${right}`}),
        svg('text', {class: 'tick', x: kBox.left - 6, y: tenth(along(tick)) + 4, 'text-anchor': 'end'},
            roundText(tick, y.unit)));
  for (const {at, text} of marks) {
    const place = tenth(Math.min(right, Math.max(kBox.left, across(at))));
    picture.append(svg('path', {class: 'mark-line', d: `M${place} ${kBox.top}V${bottom}`}, svg('title', {}, text)));
  }
  for (const line of lines)
    picture.append(svg('path', {class: `line line-${line.letter}`, d: pathOf(line, across, along)}));
  const cross = svg('path', {class: 'cross'}), reading = html('figcaption', {class: 'reading'}, note ?? ' ');
  picture.append(cross);
  picture.addEventListener('pointermove', (event) => {
    const frame = picture.getBoundingClientRect(), pixel = (event.clientX - frame.left) * kWidth / frame.width;
    if (pixel < kBox.left || pixel > right) return;
    const at = across.invert(pixel);
    cross.setAttribute('d', `M${tenth(pixel)} ${kBox.top}V${bottom}`);
    reading.textContent = `${valueText(at, x.unit)}: ` +
        lines.map((line) => `${line.letter} ${valueText(valueAt(line, at), y.unit)}`).join(', ');
  });
  picture.addEventListener('pointerleave', () => {
    cross.setAttribute('d', '');
    reading.textContent = note ?? ' ';
  });
  return html('figure', {}, html('h4', {}, title), picture, reading);
}

function ends(values, {low = Math.min(...values), high = Math.max(...values), log}) {
  return log && low <= 0 ? [Math.min(...values.filter((value) => value > 0)), high] : [low, high];
}

function pathOf({x, y, step}, across, along) {
  let d = '';
  x.forEach((value, i) => {
    const px = tenth(across(value)), py = tenth(along(y[i]));
    if (!Number.isFinite(px)) return;
    d += d === '' ? `M${px} ${py}` : step ? `H${px}V${py}` : `L${px} ${py}`;
  });
  return d;
}

function valueAt({x, y, step}, at) {
  const after = x.findIndex((value) => value > at);
  if (after < 0) return y.at(-1);
  if (after === 0) return y[0];
  if (step) return y[after - 1];
  return y[after - 1] + (y[after] - y[after - 1]) * (at - x[after - 1]) / (x[after] - x[after - 1]);
}
