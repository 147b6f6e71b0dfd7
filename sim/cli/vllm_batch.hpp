// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/diagnostics.hpp"
#include "base/quantity.hpp"

namespace llmscape::cli {

// What vLLM's server takes for a step where its command does not say.
struct VllmBatchDefaults {
  std::int64_t max_num_batched_tokens = 8192, max_num_seqs = 1024;
};

// 8,192 tokens and 1,024 sequences on devices with 70 GiB or more whose name has no "A100", else 2,048 and 256
// (arg_utils.py, EngineArgs.get_batch_defaults, usage context of the API server).
VllmBatchDefaults vllm_batch_defaults(const std::string& device, Bytes memory);
// Of a device of the catalogue, or of a description in a file. Nothing after reporting.
std::optional<VllmBatchDefaults> vllm_batch_defaults_of(const std::string& device, Diagnostics& diagnostics);

}  // namespace llmscape::cli
