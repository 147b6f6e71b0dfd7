// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"
#include "traces/microbench_record.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace llmscape::hardware::harness {

// Mean power of a GPU at rest, with a context and buffers, and over a steady loop of each kernel, each for about as
// long after a fifth of that to settle. The clock at the end is that of the load where the board lowers it. Kernels
// that the device cannot run are left out. Nothing, with the reason, where there is no such device or it does not
// count its energy. `progress` hears how many of all are done.
std::vector<traces::PowerRow> measure_power(int device, std::span<const traces::KernelCase> loads, Seconds each,
                                            const std::function<void(std::size_t done, std::size_t all)>& progress,
                                            std::string& reason);

}  // namespace llmscape::hardware::harness
