// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cases.hpp"

#include "hardware/harness/case_design.hpp"

namespace llmscape::hardware::harness {

std::vector<traces::KernelCase> kernel_cases(std::string_view backend, bool quick) {
  return backend == "cuda" ? cuda_cases(quick) : cpu_cases(quick);
}

std::vector<traces::KernelCase> power_cases(std::string_view backend, bool quick) {
  return backend == "cuda" ? cuda_power_cases(quick) : std::vector<traces::KernelCase>();
}

std::vector<traces::KernelCase> sentinel_cases(std::string_view backend) {
  using namespace traces;
  if (backend == "cuda") {
    return {GemmCase{16, 6144, 4096, "bf16"}, GemmCase{2048, 6144, 4096, "bf16"},
            DecodeAttentionCase{32, 2048, 32, 8, 128, "bf16", "bf16"},
            PrefillAttentionCase{1, 2048, 0, 32, 8, 128, "bf16", "bf16"}, CopyCase{"device", 1 << 30, 0}};
  }
  return {GemmCase{1, 3072, 1536, "fp32"}, GemmCase{128, 1536, 1536, "fp32"},
          DecodeAttentionCase{8, 1000, 16, 4, 64, "fp32", "fp32"},
          PrefillAttentionCase{1, 128, 128, 16, 4, 64, "fp32", "fp32"}, CopyCase{"device", 64 << 20, 0}};
}

}  // namespace llmscape::hardware::harness
