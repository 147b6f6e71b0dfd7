// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace llmscape::hardware::harness::cuda {

// Whether there is such a CUDA device and a driver for it; else why not.
bool has_device(int device, std::string& reason);

}  // namespace llmscape::hardware::harness::cuda
