// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/backend.hpp"

#include <cuda_runtime_api.h>

namespace llmscape::hardware::harness {

std::unique_ptr<Backend> make_cuda_backend(int device, std::string& reason) {
  int devices = 0;
  const auto status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) {
    reason = std::string("no CUDA device: ") + cudaGetErrorString(status);
  } else if (device < 0 || device >= devices) {
    reason = "there is no CUDA device " + std::to_string(device) + ": this machine has " + std::to_string(devices);
  } else {
    reason = "not there yet";
  }
  return nullptr;
}

}  // namespace llmscape::hardware::harness
