// SPDX-License-Identifier: Apache-2.0
// What a whole is made of, for one or two points: stacked bars to one scale, with a key that gives the figures.
import {html, svg} from './dom.mjs';

const kBarsWidth = 340, kBar = 24;

// bars: [{letter: 'A', parts: {name: value}}]; text(value) is what the key says. With `whole` each bar is as long as
// the chart, and parts are shares; else the longest is.
export function stackedBars({title, note, bars, text, whole = false}) {
  const names = [...new Set(bars.flatMap(({parts}) => Object.keys(parts)))].filter(
      (name) => bars.some(({parts}) => parts[name] > 0));
  const totals = bars.map(({parts}) => names.reduce((sum, name) => sum + (parts[name] ?? 0), 0));
  const longest = Math.max(...totals);
  const picture =
      svg('svg',
          {class: 'bars', viewBox: `0 0 ${kBarsWidth} ${bars.length * (kBar + 8)}`, role: 'img', 'aria-label': title});
  bars.forEach(({letter, parts}, i) => {
    const scale = (kBarsWidth - 24) / (whole ? totals[i] || 1 : longest || 1), y = i * (kBar + 8);
    picture.append(svg('text', {class: 'letter', x: 0, y: y + 17}, letter));
    let x = 24;
    names.forEach((name, place) => {
      const width = (parts[name] ?? 0) * scale;
      if (width > 0)
        picture.append(
            svg('rect', {class: partClass(place), x, y, width: Math.max(0.5, width - 1), height: kBar},
                svg('title', {}, `${letter}: ${name} ${text(parts[name])}`)));
      x += width;
    });
  });
  const key = html(
      'table', {class: 'key'},
      html(
          'tbody', {},
          ...names.map(
              (name, place) => html(
                  'tr', {}, html('td', {}, html('i', {class: `swatch ${partClass(place)}`}), name.replaceAll('_', ' ')),
                  ...bars.map(
                      ({parts}) => html('td', {class: 'number'}, parts[name] > 0 ? text(parts[name]) : '–'))))));
  return html('figure', {}, html('h4', {}, title), picture, key, note && html('figcaption', {}, note));
}

const partClass = (place) => `part-${place % 8}`;
