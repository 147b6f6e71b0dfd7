// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"
#include "traces/microbench_record.hpp"

#include <string>
#include <vector>

namespace llmscape::hardware::harness {

// Mean power of a GPU at rest and over six steady loops (GEMM in bf16 and fp8, a GEMM of few rows, prefill and decode
// attention, a copy), each for about as long. Shares are of the peaks that follow from the device's own attributes:
// multiprocessors x highest clock x dense bf16 operations per clock, and memory clock x bus width x 2. Loops that the
// device cannot run are left out. Nothing, with the reason, where there is no such device or it does not tell its
// power.
std::vector<traces::PowerRow> measure_power(int device, Seconds each, std::string& reason);

}  // namespace llmscape::hardware::harness
