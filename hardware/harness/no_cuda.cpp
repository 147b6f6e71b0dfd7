// SPDX-License-Identifier: Apache-2.0
// Stands in for the CUDA backend where the program is built without a CUDA toolkit.
#include "hardware/harness/backend.hpp"

namespace llmscape::hardware::harness {

std::unique_ptr<Backend> make_cuda_backend(int, std::string& reason) {
  reason = "this program was built without CUDA";
  return nullptr;
}

}  // namespace llmscape::hardware::harness
