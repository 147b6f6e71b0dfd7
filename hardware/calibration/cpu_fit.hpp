// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/cpu_forms.hpp"
#include "traces/kernel_record.hpp"

#include <vector>

namespace llmscape::hardware {

// What the harness's records say of a processor, per thread.
struct CpuCalibration {
  CpuProducts products;
  CpuAttention prefill_attention, decode_attention;
  CpuElementwise elementwise;
  std::vector<FamilyReport> reports;  // in this order
};

// Fits the forms to the fp32 rows that the CPU backend timed on one thread. Throws std::invalid_argument that names the
// operator (or kind of element-wise kernel) without rows.
CpuCalibration fit_cpu(const traces::KernelTables& tables);

}  // namespace llmscape::hardware
