// SPDX-License-Identifier: Apache-2.0
// Which points qualify, and which of them nothing beats. Columns are arrays with NaN where a run has no value.

// A limit is {values, bound, below}: at most the bound, or at least it. A run without the value misses every limit.
export function meets(limits, row) {
  return limits.every(({values, bound, below}) => below ? values[row] <= bound : values[row] >= bound);
}

// The rows of `rows` that no other row beats in one of two objectives without being worse in the other, by growing x.
// `better` is 'higher' or 'lower' of each. Rows without one of the values are no candidates.
export function paretoFrontier(rows, x, y, betterX, betterY) {
  const signX = betterX === 'higher' ? -1 : 1, signY = betterY === 'higher' ? -1 : 1;
  const sorted = rows.filter((row) => !Number.isNaN(x[row]) && !Number.isNaN(y[row]))
                     .sort((a, b) => signX * (x[a] - x[b]) || signY * (y[a] - y[b]) || a - b);
  const frontier = [];
  let best = Infinity, bestX = NaN;
  for (const row of sorted) {
    const value = signY * y[row];
    if (value < best || (value === best && x[row] === bestX)) {
      frontier.push(row);
      best = value;
      bestX = x[row];
    }
  }
  return signX < 0 ? frontier.reverse() : frontier;
}

// Where a frontier bends: the row furthest on the good side of the line between its ends, both axes scaled to its
// range; undefined where none lies so.
export function knee(frontier, x, y, betterX, betterY) {
  const loss = (values, better) => {
    const all = frontier.map((row) => better === 'higher' ? -values[row] : values[row]);
    const least = Math.min(...all), range = Math.max(...all) - least;
    return all.map((value) => range > 0 ? (value - least) / range : 0);
  };
  const across = loss(x, betterX), along = loss(y, betterY);
  let most = 1e-9, place;
  frontier.forEach((row, i) => {
    const merit = 1 - across[i] - along[i];
    if (merit > most) [most, place] = [merit, row];
  });
  return place;
}

// The row with the best value, the first of equals; undefined if none has a value.
export function bestRow(rows, values, better) {
  let best;
  for (const row of rows)
    if (!Number.isNaN(values[row]) &&
        (best === undefined || (better === 'higher' ? values[row] > values[best] : values[row] < values[best])))
      best = row;
  return best;
}

// The share of a distribution, given by its quantiles at growing levels, that lies at or below a value.
export function shareBelow(levels, quantiles, value) {
  if (value < quantiles[0]) return 0;
  let i = quantiles.length - 1;
  if (value >= quantiles[i]) return 1;
  while (quantiles[i] > value) --i;
  const part = (value - quantiles[i]) / (quantiles[i + 1] - quantiles[i]);
  return levels[i] + part * (levels[i + 1] - levels[i]);
}
