// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/sampling.hpp"
#include "hardware/gpu/gpu.hpp"
#include "traces/kernel_record.hpp"

#include <span>
#include <string>
#include <vector>

namespace llmscape::hardware {

// What a reading of power says of the energy form: the work and traffic of its kernel in the time that it took.
struct PowerLoad {
  enum class Kind { dense, experts, attention };
  Kind kind = Kind::dense;
  std::string format;       // of the weights that are multiplied, or of the KV entries
  Flops flops, bf16_flops;  // the latter: in units of bf16 work at equal unit time
  Flops padding;            // KernelCost::padding, beside `flops`
  Bytes bytes;
  Seconds time;
  Seconds launch;  // KernelCost::launch, of that time
  Watts power;
  Group shape{};        // kind of kernel first; readings of one shape are held out together
  std::int64_t tokens;  // that it computes

  bool operator==(const PowerLoad&) const = default;
};
// As the simulator prices the kernel, so that figures fitted to it are joules of what it counts. Throws
// std::invalid_argument for a format that is not known.
PowerLoad power_load(const Gpu& gpu, const traces::PowerReading& reading);

// The readings that tell what a kernel draws. Left out are kernels below 200 us (a sensor averages over gaps between
// launches), an engine's products of a format whose fastest takes longer than 20 us below three times that floor (timed
// outside graphs), layers of experts that are not dealt out evenly or lie on several ranks, prompts of one token, and
// formats without a name.
std::vector<traces::PowerReading> telling(std::span<const traces::PowerReading> readings);

// Of those, the ones that were repeated for as long as the sensor averages over. Readings of one and the same load come
// in two groups: those of steady work, and others from two thirds of them down to idle power (2,560 x 51,200 x 7,168 in
// fp8_block on a B200: 589 W at 2,379 Tflop/s; 2,816 x 65,536 x 8,192: 977 W at 2,423). Nothing but its like tells
// which one a reading is. It is diluted where it lies a fifth below the third highest of the nine that are next to it
// in flop/s and byte/s, among those of its kind, format and width of heads; where these are fewer, it counts as steady.
std::vector<PowerLoad> steady(std::span<const PowerLoad> loads);

}  // namespace llmscape::hardware
