// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"

namespace llmscape::cli {

// What a command line of vLLM's server says about a scenario.
struct VllmCommand {
  std::string model;         // "meta-llama/Llama-3.1-8B-Instruct", or a path
  YamlNode formats;          // weights, activations, kv: what the flags say of number formats
  YamlNode serving;          // the `serving` section
  std::int64_t devices = 1;  // tensor x pipeline x data parallel
  std::vector<std::string>
      defaults;  // "max_num_seqs 256": not given; vLLM's own choice varies with its version and device
};

// Reads "vllm serve MODEL --flags" (or "python -m vllm.entrypoints.openai.api_server --model MODEL --flags"), with
// dashes or underscores, as one shell word or many. Flags that do not change a time are passed over; unknown ones are
// warnings, wrong values errors, all with their place in the command. Nothing after an error.
std::optional<VllmCommand> read_vllm_command(const std::string& command, Diagnostics& diagnostics);

}  // namespace llmscape::cli
