// SPDX-License-Identifier: Apache-2.0
// Stands in for the CUDA backend where the program is built without a CUDA toolkit.
#include "hardware/harness/backend.hpp"
#include "hardware/harness/power.hpp"

namespace llmscape::hardware::harness {
namespace {
constexpr const char* kReason = "this program was built without CUDA";
}

std::unique_ptr<Backend> make_cuda_backend(int, std::string& reason) {
  reason = kReason;
  return nullptr;
}

std::vector<traces::PowerRow> measure_power(int, std::span<const traces::KernelCase>, Seconds,
                                            const std::function<void(std::size_t, std::size_t)>&, std::string& reason) {
  reason = kReason;
  return {};
}

}  // namespace llmscape::hardware::harness
