// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/device_count.hpp"

#include <cuda_runtime_api.h>

namespace llmscape::hardware::harness::cuda {

bool has_device(int device, std::string& reason) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) {
    reason = std::string("no CUDA device: ") + cudaGetErrorString(status);
    return false;
  }
  if (device >= 0 && device < devices) return true;
  reason = "there is no CUDA device " + std::to_string(device) + ": this machine has " + std::to_string(devices);
  return false;
}

}  // namespace llmscape::hardware::harness::cuda
