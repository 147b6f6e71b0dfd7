// SPDX-License-Identifier: Apache-2.0
// From values to pixels and back.

// Pixels to a tenth: more says nothing and makes paths long.
export const tenth = (value) => Math.round(value * 10) / 10;

export function makeScale(low, high, from, to, log) {
  const forward = log ? (value) => Math.log10(Math.max(0, value)) : (value) => value;  // 0 and less: beyond the low end
  const back = log ? (value) => 10 ** value : (value) => value;
  const [a, b] = padded(forward(low), forward(high), log);
  const scale = (value) => from + (forward(value) - a) / (b - a) * (to - from);
  scale.invert = (pixel) => back(a + (pixel - from) / (to - from) * (b - a));
  scale.ticks = (count) => log ? logTicks(back(a), back(b), count) : linearTicks(a, b, count);
  return scale;
}

const kTickCharacter = 6.6, kSpace = 8;  // pixels of a label's text, and between two

// The texts of ticks below an axis that do not run into one another or beyond its end: [{tick, at, text}, ...].
export function tickLabels(ticks, scale, text, end) {
  const labels = [];
  let free = -Infinity;
  for (const tick of ticks) {
    const label = text(tick), half = kTickCharacter * label.length / 2, at = Math.min(scale(tick), end - half);
    if (at - half < free) continue;
    labels.push({tick, at: tenth(at), text: label});
    free = at + half + kSpace;
  }
  return labels;
}

// A margin on both sides; one that does not cross zero where no value does.
function padded(low, high, log) {
  if (low === 0 && high === 0) return [0, 1];
  if (low === high) return log ? [low - 0.3, high + 0.3] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2];
  const margin = 0.045 * (high - low);
  return [!log && low >= 0 ? Math.max(0, low - margin) : low - margin, high + margin];
}

export function linearTicks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

// Decades; with fewer than `count` of them also their halves and fifths.
export function logTicks(low, high, count) {
  for (const factors of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 8]]) {
    const ticks = [];
    for (let decade = Math.floor(Math.log10(low)); decade <= Math.log10(high); ++decade)
      for (const factor of factors) {
        const tick = Number((factor * 10 ** decade).toPrecision(12));
        if (tick >= low && tick <= high) ticks.push(tick);
      }
    if (ticks.length >= Math.min(count, 4)) return thinned(ticks, count * 1.6);
  }
  return linearTicks(low, high, count);
}

function thinned(ticks, most) {
  const every = Math.ceil(ticks.length / most);
  return ticks.filter((_, i) => i % every === 0);
}
