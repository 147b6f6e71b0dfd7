// SPDX-License-Identifier: Apache-2.0
// Small sweeps as the page's data have them.
import {readData} from '../../sim/report/html/data.mjs';

// An axis of names as the page's data have it.
export const axis = (name, role, texts, of) => ({name, short: name, role, texts, of, numbers: null});

// Two machines under two workloads at two rates.
export function twoByTwo() {
  // cim is twice as good under each, and 20 times across them.
  const machines = [0, 0, 0, 0, 1, 1, 1, 1], works = [0, 0, 1, 1, 0, 0, 1, 1], rates = [0, 1, 0, 1, 0, 1, 0, 1];
  const tokens = machines.map((m, i) => (m ? 1 : 2) * (works[i] ? 1 : 10) * (rates[i] ? 2 : 1));
  return readData({
    name: 'sweep', verdicts: Array(8).fill('valid'), points: [0, 1, 2, 3, 4, 5, 6, 7], scenarios: {lines: [], texts: []}, details: {}, limits: [],
    group: 'hardware', charts: [{y: 'tokens', x: 'ttft', better: {tokens: 'higher', ttft: 'lower'}}],
    axes: [
      axis('hardware', 'hardware', ['cim', 'l4'], machines), axis('workload', 'workload', ['edit', 'rag'], works),
      axis('rate', 'load', ['1 /s', '2 /s'], rates)
    ],
    metrics: [
      {name: 'tokens', unit: '', better: 'higher', values: tokens},
      {name: 'ttft', unit: 's', better: 'lower', values: rates.map((rate) => rate ? 0.3 : 0.1)}
    ],
  });
}
