// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/state_kernels.hpp"

#include "hardware/state_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace llmscape::hardware {
namespace {

constexpr double kShownLatency = 12;   // tokens whose latency a convolution shows
constexpr double kCornerPower = 1.5;   // how latency and memory of a convolution come together
constexpr double kLongScanPasses = 3;  // Mamba 2: chunk states are written, passed on and read, each 4 bytes wide

// Counts of one layer, as the fits have them.
struct Counts {
  double sequences, tokens;  // tokens of one sequence
  double channels, values;
  double states;  // bytes
  double moved;   // bytes of queries, keys, values and outputs

  explicit Counts(const models::StateUpdate& u)
      : sequences(static_cast<double>(u.sequences)), tokens(static_cast<double>(u.tokens) / sequences),
        channels(2.0 * u.key_heads * u.key_dim + u.heads * u.value_dim), values(u.heads * u.value_dim),
        states(sequences * u.heads * u.key_dim * u.value_dim * u.state_bytes),
        moved(sequences * tokens * (channels + values) * u.element_bytes) {}
};

// The state is read once and written after each token, of which speculation has several.
Seconds update_time(const Chip& chip, const StateStream& kernel, const Counts& c) {
  return kernel.launch + Bytes((1 + c.tokens) * c.states + c.moved) / (kernel.memory_efficiency * *chip.hbm_bandwidth);
}

Seconds convolution_update_time(const Chip& chip, const StateStream& kernel, const models::StateUpdate& u,
                                const Counts& c) {
  const double kept = u.convolution - 1;
  const double elements = 2 * kept + (c.tokens - 1) + 2 * c.tokens;  // kept inputs read and written, tokens in and out
  return kernel.launch + Bytes(c.sequences * c.channels * elements * u.element_bytes) /
                             (kernel.memory_efficiency * *chip.hbm_bandwidth);
}

Seconds convolution_scan_time(const Chip& chip, const StateStream& kernel, const models::StateUpdate& u,
                              const Counts& c) {
  const Seconds latency = kernel.launch + std::min(c.tokens, kShownLatency) * kernel.per_token;
  const double elements = 2 * c.tokens + u.convolution - 1;
  const Seconds memory =
      Bytes(c.sequences * c.channels * elements * u.element_bytes) / (kernel.memory_efficiency * *chip.hbm_bandwidth);
  return Seconds(
      std::pow(std::pow(latency.si(), kCornerPower) + std::pow(memory.si(), kCornerPower), 1 / kCornerPower));
}

double chunks_of(const StateScan& kernel, const Counts& c) {
  return std::ceil(c.tokens / static_cast<double>(kernel.chunk_tokens));
}

// What states take of a scan's traffic.
double scanned_states(const StateScan& kernel, const Counts& c) {
  return (kernel.compute_efficiency > 0 ? kLongScanPasses * chunks_of(kernel, c) : 2) * c.states;
}

Seconds scan_time(const Chip& chip, const StateScan& kernel, const models::StateUpdate& u, const Counts& c) {
  const BytesPerSecond bandwidth = kernel.memory_efficiency * *chip.hbm_bandwidth;
  const Seconds streamed = Bytes(c.moved + scanned_states(kernel, c)) / bandwidth;
  if (kernel.compute_efficiency > 0)
    return kernel.launch + std::max(Flops(load_of(u).flops) / (kernel.compute_efficiency * *chip.peak_bf16), streamed);
  const double waves = std::ceil(c.sequences * u.heads / static_cast<double>(*chip.multiprocessors));
  return kernel.launch + waves * (kernel.block + chunks_of(kernel, c) * kernel.chunk) / chip.clock + streamed;
}

const Fields<StateStream>& stream_fields() {
  static const Fields<StateStream> fields = [] {
    Fields<StateStream> f("state_stream", "a kernel that streams states or tokens");
    f.add("launch", &StateStream::launch, "fixed time").required().at_least(0);
    f.add("per_token", &StateStream::per_token, "latency of each of a prompt's first 12 tokens").at_least(0);
    f.add("memory_efficiency", &StateStream::memory_efficiency, "share of the memory bandwidth").required().above(0);
    return f;
  }();
  return fields;
}

const Fields<StateScan>& scan_fields() {
  static const Fields<StateScan> fields = [] {
    Fields<StateScan> f("state_scan", "the scan of prompts, chunk by chunk or all chunks at once");
    f.add("launch", &StateScan::launch, "fixed time").required().at_least(0);
    f.add("block", &StateScan::block, "of a thread block, which scans one head of one sequence").at_least(0);
    f.add("chunk", &StateScan::chunk, "of one chunk in it").at_least(0);
    f.add("chunk_tokens", &StateScan::chunk_tokens, "tokens of a chunk").between(1, 4096);
    f.add("memory_efficiency", &StateScan::memory_efficiency, "share of the memory bandwidth").required().above(0);
    f.add("compute_efficiency", &StateScan::compute_efficiency,
          "share of the peak where chunks are scanned at once; 0: one after another")
        .between(0, 1);
    return f;
  }();
  return fields;
}

// Figures of state_kernels in hardware/catalog/h100-sxm.yaml. Mamba 2's scan was not timed by anybody whose tables are
// public: a share of the peak and of the bandwidth that scans of its kind reach (+- 50 %).
std::array<StateKernels, 3> made_assumed() {
  const auto us = [](double value) { return Seconds(value * 1e-6); };
  StateKernels delta;
  delta.update = {us(4.203), {}, 0.8874};
  delta.convolution_update = {us(1.877), {}, 0.6904};
  delta.scan = {us(1.558), us(7.368), us(2.835), 64, 3.312, 0};
  delta.convolution_scan = {us(2.183), us(0.1463), 0.6549};
  StateKernels mamba = delta, kimi = delta;
  mamba.scan = {us(15), {}, {}, 128, 0.7, 0.25};
  kimi.scan = {us(18.1), us(1.317), us(1.009), 16, 0.5258, 0};
  return {mamba, delta, kimi};
}

}  // namespace

const StateKernels& assumed_state_kernels(models::StateForm form) {
  static const std::array<StateKernels, 3> kernels = made_assumed();
  return kernels[static_cast<std::size_t>(form)];
}

KernelCost state_cost(const Chip& chip, const StateKernels& k, const models::StateUpdate& u) {
  if (u.sequences == 0 || u.tokens == 0) return {};
  const Counts counts(u);
  const StateLoad load = load_of(u);
  const Seconds time =
      u.scan ? scan_time(chip, k.scan, u, counts) + convolution_scan_time(chip, k.convolution_scan, u, counts)
             : update_time(chip, k.update, counts) + convolution_update_time(chip, k.convolution_update, u, counts);
  const double more = u.scan ? scanned_states(k.scan, counts) - 2 * counts.states : 0;  // than load_of() says
  const Seconds launch = u.scan ? k.scan.launch : k.update.launch + k.convolution_update.launch;
  return {time,
          Flops(load.flops),
          Flops(load.flops),
          Bytes(load.bytes + more),
          Bytes(),
          Flops(),
          std::min(2 * kLongestLaunch, launch)};
}

const Fields<StateKernels>& state_kernels_fields() {
  static const Fields<StateKernels> fields = [] {
    using K = StateKernels;
    Fields<K> f("state_kernels", "kernels that update recurrent states");
    f.add_group("update", &K::update, stream_fields(), "decodes: states read and written").required();
    f.add_group("convolution_update", &K::convolution_update, stream_fields(), "decodes: the short convolution")
        .required();
    f.add_group("scan", &K::scan, scan_fields(), "prompts").required();
    f.add_group("convolution_scan", &K::convolution_scan, stream_fields(), "prompts: the short convolution").required();
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
