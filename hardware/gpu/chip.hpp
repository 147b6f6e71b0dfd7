// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/part_cost.hpp"
#include "hardware/peaks.hpp"

#include <cstdint>

namespace llmscape::hardware {

// What the data sheet says of a GPU.
struct Chip : Peaks {
  Sourced<BytesPerSecond> hbm_bandwidth;
  Sourced<Bytes> hbm_capacity;  // as the driver reports it, before the runtime takes its share
  Sourced<std::int64_t> multiprocessors;
  Sourced<Bytes> l2;
};

}  // namespace llmscape::hardware
