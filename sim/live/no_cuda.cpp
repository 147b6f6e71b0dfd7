// SPDX-License-Identifier: Apache-2.0
// Stands in for the CUDA executor where the program is built without a CUDA toolkit.
#include "sim/live/executor.hpp"

namespace llmscape::live {

std::unique_ptr<Executor> make_cuda_executor(const LlamaShape&, const ExecutorLimits&, bool, std::string& reason) {
  reason = "this program was built without CUDA";
  return nullptr;
}

}  // namespace llmscape::live
