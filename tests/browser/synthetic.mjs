// SPDX-License-Identifier: Apache-2.0
// A sweep that never ran, in the files of one that did: results.csv, points/*.json and manifest.json. The figures
// follow simple laws (an M/M/1 queue, decode time by batch), so that frontiers and limits have the shape of real ones.
import {mkdirSync, writeFileSync} from 'node:fs';

const kHardware = [
  // name, tokens/s of one device, seconds per token, idle W, J per token, price
  ['h100-sxm', 2600, 0.009, 110, 0.11, 3.2],
  ['h200-sxm', 3400, 0.0072, 120, 0.1, 3.8],
  ['l4', 420, 0.034, 22, 0.13, 0.6],
  ['cim-edge-sram-64', 160, 0.019, 3, 0.024, 0.25],
  ['sn40l', 3000, 0.0031, 180, 0.19, 4.5],
];
const kCounts = [1, 2, 4, 8];
const kLevels = [
  0,   0.01, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3,   0.35, 0.4,   0.45, 0.5,   0.55,
  0.6, 0.65, 0.7,  0.75, 0.8,  0.85, 0.9,  0.925, 0.95, 0.975, 0.99, 0.999, 1
];
const kMetrics = ['ttft_s', 'tpot_s', 'e2e_s']
                     .flatMap((key) => ['mean', 'p50', 'p90', 'p95', 'p99', 'max'].map((s) => `${key}.${s}`))
                     .concat([
                       'requests_per_s', 'output_tokens_per_s', 'output_tokens_per_s_per_device', 'goodput_rps',
                       'slo_attainment', 'hit_rate', 'output_tokens_per_joule', 'joules_per_request', 'mean_w',
                       'peak_w', 'idle_share', 'cost_per_million_output_tokens'
                     ]);

// The same numbers on every machine (mulberry32).
function generator(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// A point of the sweep: its values, its metrics and what its file says.
function simulate(hardware, count, rate, sequences, random) {
  const [name, speed, step, idle, joules, price] = hardware;
  const tokens = 200, noise = () => 0.97 + 0.06 * random();
  const capacity = count * speed * Math.min(1, 0.25 + sequences / 170) / tokens;
  const load = rate / capacity, wait = 1 / Math.max(0.02, 1 - load) / capacity;
  const batch = Math.min(sequences, rate * tokens * step / count);
  const ttft = (0.02 + step * 4 + wait * 0.6) * noise(), tpot = step * (1 + batch / 60 + 0.8 * load * load) * noise();
  const quantile = (mean, q) => mean * (0.45 - 0.62 * Math.log(1 - Math.min(q, 0.9995)));
  const done = Math.min(rate, capacity) * noise(), out = done * tokens, watts = idle * count + joules * out * noise();
  const metrics = {};
  for (const [key, mean, spread] of [['ttft_s', ttft, 1], ['tpot_s', tpot, 0.22], ['e2e_s', ttft + tokens * tpot, 0.8]])
    for (const [statistic, q] of [
             ['mean', 0.632], ['p50', 0.5], ['p90', 0.9], ['p95', 0.95], ['p99', 0.99], ['max', 1]])
      metrics[`${key}.${statistic}`] = mean * (1 - spread) + spread * quantile(mean, q);
  Object.assign(metrics, {
    requests_per_s: done,
    output_tokens_per_s: out,
    output_tokens_per_s_per_device: out / count,
    goodput_rps: done * Math.min(1, 0.3 / metrics['ttft_s.p99']),
    slo_attainment: Math.min(1, 0.3 / metrics['ttft_s.p99']),
    hit_rate: 0.2 * random(),
    output_tokens_per_joule: out / watts,
    joules_per_request: watts / done,
    mean_w: watts,
    peak_w: 1.3 * watts,
    idle_share: idle * count / watts,
    cost_per_million_output_tokens: price * count / 3600 / out * 1e6,
  });
  const verdict = load > 1 ? 'saturated' : load > 0.97 ? 'unsteady' : 'valid';
  return {name, count, rate, sequences, metrics, verdict, load, batch};
}

function series({metrics, load, batch, count}, random) {
  const window_s = 2.5, at = Array.from({length: 80}, (_, i) => i);
  const wave = (mean) =>
      at.map((i) => mean * Math.min(1, (i + 1) / 6) * (0.8 + 0.3 * Math.sin(i / 7) + 0.2 * random()));
  return {
    window_s,
    waiting: wave(2 * load * load),
    batch: wave(batch * count),
    kv_blocks: wave(40 * batch * count),
    power_w: wave(metrics.mean_w)
  };
}

function pointFile(point, index, id, random) {
  const {metrics, verdict} = point, total = 400000 / metrics.output_tokens_per_joule;
  const curve = (key) =>
      kLevels.map((level) => metrics[`${key}.mean`] * (0.4 - 0.62 * Math.log(1 - Math.min(level, 0.9995))));
  const scenario = `schema: scenario/1\nmodel: llama-3.1-8b\nhardware:\n  devices:\n    - {preset: ${
                       point.name}, count: ${point.count}}\n` +
      `serving:\n  batcher: {policy: vllm_v1, max_num_seqs: ${point.sequences}}\n` +
      `workload: {preset: chat-1k, requests: 2000, arrivals: {kind: poisson, rate: ${
                       point.rate} /s}}\nslo: {ttft: 300 ms}\nseed: 1\n`;
  return {
    schema: 'point/1',
    point: index,
    id,
    repeat: 0,
    seed: 1,
    values: values(point),
    scenario,
    result: {
      schema: 'run/1',
      seed: 1,
      verdict: {state: verdict, reasons: verdict === 'valid' ? [] : ['the queue grew while requests arrived']},
      energy: {
        joules_per_output_token: 1 / metrics.output_tokens_per_joule,
        joules: {
          compute: 0.3 * total,
          memory: (0.7 - metrics.idle_share * 0.6) * total,
          static: metrics.idle_share * 0.6 * total
        }
      },
      provenance: {measured: 0, fitted: 0.7, datasheet: 0.2, assumed: 0.1, extrapolated: 0.04},
      warnings: [],
      breakdown: {
        requests: {count: 2000, whole_s: 1, queued_s: 0.1, prefill_s: 0.2, decode_s: 0.7},
        steps: {
          [point.name]:
              {seconds: 9, joules: 9, families: {gemm: {seconds: 9, joules: 9, bound_by: {memory: 6, arithmetic: 3}}}}
        },
      },
      time_share: {gemm: 0.62, prefill_attention: 0.03, decode_attention: 0.21, elementwise: 0.11, sampling: 0.03},
      model: 'llama-3.1-8b',
      hardware: `${point.count} x ${point.name}`,
      devices: point.count,
      replicas: point.count,
    },
    curves: {
      levels: kLevels,
      ttft_s: curve('ttft_s'),
      tpot_s: curve('tpot_s'),
      itl_s: curve('tpot_s'),
      e2e_s: curve('e2e_s')
    },
    series: series(point, random),
  };
}

const values = ({name, count, rate, sequences}) => ({
  'hardware.devices[0].preset': name,
  'hardware.devices[0].count': String(count),
  'workload.arrivals.rate': `${rate} /s`,
  'serving.batcher.max_num_seqs': String(sequences)
});

// Writes `points` of them (a multiple of 20) into a folder, and gives their rows. With `intervals` metrics have some.
export function writeSweep(folder, points, {intervals = false} = {}) {
  const random = generator(7), perSetting = points / (kHardware.length * kCounts.length), rows = [];
  for (const hardware of kHardware)
    for (const count of kCounts)
      for (let i = 0; i < perSetting; ++i) {
        const top = hardware[1] * count / 200;
        const rate = Number((top * (0.08 + 1.05 * (i + random()) / perSetting)).toPrecision(3));
        rows.push(simulate(hardware, count, rate, [32, 64, 128, 256][i % 4], random));
      }
  mkdirSync(`${folder}/points`, {recursive: true});
  const axes = Object.keys(values(rows[0])),
        header = kMetrics.flatMap((name) => intervals ? [name, `${name}.low`, `${name}.high`] : [name]);
  const lines = [['point', 'id', ...axes, 'repeat', 'seed', 'verdict', ...header].join(',')];
  rows.forEach((row, index) => {
    const id = index.toString(16).padStart(8, '0');
    const cells = kMetrics.flatMap((name) => {
      const value = row.metrics[name], width = 0.02 + 0.06 * random();
      return intervals ? [value, value * (1 - width), value * (1 + width)] : [value];
    });
    lines.push([index, id, ...Object.values(values(row)), 0, 1, row.verdict, ...cells].join(','));
    writeFileSync(`${folder}/points/${id}.json`, JSON.stringify(pointFile(row, index, id, random)));
  });
  writeFileSync(`${folder}/results.csv`, lines.join('\n') + '\n');
  writeFileSync(
      `${folder}/manifest.json`,
      JSON.stringify({schema: 'manifest/1', tool: {version: '0.1.0', revision: 'abc'}, plan_hash: '0123abcd'}));
  return rows;
}
