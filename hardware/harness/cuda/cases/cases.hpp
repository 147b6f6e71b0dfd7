// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/cases/cuda_case.hpp"
#include "traces/kernel_record.hpp"

#include <cstdint>
#include <memory>

namespace llmscape::hardware::harness::cuda {

// Each makes a case on random data, or nothing where there is no such kernel here or too little memory for it.
std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::GemmCase& what, std::uint64_t seed);
std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::GroupedGemmCase& what, std::uint64_t seed);
std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::DecodeAttentionCase& what, std::uint64_t seed);
std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::PrefillAttentionCase& what, std::uint64_t seed);
std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::MixedAttentionCase& what, std::uint64_t seed);
std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::ElementwiseCase& what, std::uint64_t seed);
std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::CopyCase& what, std::uint64_t seed);
std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::LaunchCase& what, std::uint64_t seed);
std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::CollectiveCase& what, std::uint64_t seed);

// Any case; nothing for kinds without a kernel of ours.
std::unique_ptr<CudaCase> prepare_any(Machine& machine, const traces::KernelCase& what, std::uint64_t seed);

}  // namespace llmscape::hardware::harness::cuda
