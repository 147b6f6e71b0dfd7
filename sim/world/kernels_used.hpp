// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/scenario/scenario.hpp"

namespace llmscape::world {

// Whose kernels each group of devices runs, where these know several sets, by name: "h200: sglang", or "h100-sxm: vllm
// (none of sglang)". Empty where none does.
std::string kernels_used(const scenario::Scenario& scenario);

}  // namespace llmscape::world
