// SPDX-License-Identifier: Apache-2.0
// The view as the fragment of the page's address, so that a link opens what its sender sees: the parts that differ from
// the view that the page opens with. What another report does not know is passed over.
import {firstView, statisticsOf} from './view.mjs';

const axisPart = ({name, better, log}) => `${name},${better},${log ? 'log' : 'linear'}`;
// Several limits may be on one metric: from the second on their place among these is in the key.
function limitKeys(limits) {
  return limits.map(({key}, i) => {
    const before = limits.slice(0, i).filter((other) => other.key === key).length;
    return before ? `${key}.${before + 1}` : key;
  });
}

const limitPart = ({statistic, bound}) => `${statistic ?? ''},${Number.isFinite(bound) ? bound : 'any'}`;

function partsOfView(data, view) {
  const parts = [
    ['x', axisPart(view.x)], ['y', axisPart(view.y)], ['group', view.group], ['facet', view.facet], ['label', view.label],
    ['filter', view.filter], ['invalid', view.showInvalid ? 'shown' : 'hidden'],
    ['sort', view.sort.name ? `${view.sort.name},${view.sort.down ? 'down' : 'up'}` : ''],
    ['metrics', view.allMetrics ? 'all' : 'main'],
    ['pins', view.pins ? view.pins.map((row) => data.points[row]).join(',') : 'answer'],
    ...limitKeys(view.limits).map((key, i) => [`limit.${key}`, limitPart(view.limits[i])])
  ];
  for (const [name, values] of view.hidden)
    for (const value of values) parts.push([`hide.${name}`, data.splits.get(name).texts[value]]);
  return parts;
}

export function fragmentOf(data, view) {
  const first = new Set(partsOfView(data, firstView(data)).map(String));
  return new URLSearchParams(partsOfView(data, view).filter((part) => !first.has(String(part)))).toString();
}

export function viewOf(data, fragment) {
  const view = firstView(data);
  for (const [key, value] of new URLSearchParams(fragment)) readPart(data, view, key, value);
  return view;
}

function readPart(data, view, key, value) {
  const [kind, name] = [key.split('.')[0], key.slice(key.indexOf('.') + 1)];
  const [first, ...rest] = value.split(',');
  if (kind === 'x' || kind === 'y') {
    if (data.numeric.some((column) => column.name === first))
      view[kind] = {name: first, better: rest[0] === 'higher' ? 'higher' : 'lower', log: rest[1] === 'log'};
  } else if (kind === 'group' || kind === 'facet' || kind === 'label') {
    if (value === '' || data.splits.has(value)) view[kind] = value;
  } else if (kind === 'filter') view.filter = value;
  else if (kind === 'invalid') view.showInvalid = value !== 'hidden';
  else if (kind === 'metrics') view.allMetrics = value === 'all';
  else if (kind === 'sort') {
    if (data.columns.has(first)) view.sort = {name: first, down: rest[0] === 'down'};
  } else if (kind === 'pins') {
    view.pins = value.split(',').filter(Boolean).map((point) => data.points.indexOf(Number(point))).filter((row) => row >= 0).slice(0, 2);
  } else if (kind === 'limit') {
    const limit = view.limits[limitKeys(view.limits).indexOf(name)];
    if (!limit) return;
    if (limit.statistic && statisticsOf(data, limit.key).includes(first)) limit.statistic = first;
    const bound = rest[0] ? Number(rest[0]) : NaN;
    limit.bound = Number.isFinite(bound) ? bound : limit.below ? Infinity : -Infinity;
  } else if (kind === 'hide') {
    const place = data.splits.get(name)?.texts.indexOf(value) ?? -1;
    if (place >= 0) view.hidden.set(name, (view.hidden.get(name) ?? new Set()).add(place));
  }
}
