// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/report.hpp"
#include "hardware/cpu_forms.hpp"
#include "traces/kernel_record.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

inline constexpr std::array<std::string_view, 4> kCpuFamilies = {"gemm", "prefill_attention", "decode_attention",
                                                                 "elementwise"};

// What the harness's records say of a processor, per thread. A family that was not fitted has no report.
struct CpuCalibration {
  CpuProducts products;
  CpuAttention prefill_attention, decode_attention;
  CpuElementwise elementwise;
  std::vector<FamilyReport> reports;  // in the order of kCpuFamilies
};

struct CpuFamilies {
  std::vector<std::string> wanted;  // of kCpuFamilies; empty: all
  std::size_t most_rows = 1500;     // of one, drawn at random; the same ones every time
};

// Whether the form of element-wise kernels has a row for this kind.
bool is_cpu_elementwise_kind(std::string_view kind);

// Fits the forms to the fp32 rows that the CPU backend timed on one thread, family by family, where there are
// kFewestFittedRows of one; element-wise kernels want rows of each kind as well.
CpuCalibration fit_cpu(const traces::KernelTables& tables, const CpuFamilies& families = {});

}  // namespace llmscape::hardware
