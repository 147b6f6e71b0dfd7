// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "traces/kernel_record.hpp"

#include <string_view>
#include <vector>

namespace llmscape::hardware::harness {

// What a backend ("cpu" or "cuda") is asked to time, family by family. The quick list holds the first points of each
// family's design, which are spread like all of them. Shapes are evenly spread in the log (a scrambled Sobol sequence);
// widths of GEMMs are multiples of 64 but no powers of two, and half the GEMMs have at most 256 rows.
std::vector<traces::KernelCase> kernel_cases(std::string_view backend, bool quick);

// Kernels whose power a backend measures, each long enough (0.3 ms at a GPU's rough rates) that gaps between launches
// do not dilute it; none on a CPU.
std::vector<traces::KernelCase> power_cases(std::string_view backend, bool quick);

// Five cases that are timed at the start, in the middle and at the end of a run.
std::vector<traces::KernelCase> sentinel_cases(std::string_view backend);

}  // namespace llmscape::hardware::harness
