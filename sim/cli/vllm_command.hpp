// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"
#include "sim/cli/command_words.hpp"
#include "sim/cli/vllm_batch.hpp"
#include "sim/cli/vllm_sections.hpp"

namespace llmscape::cli {

// What a command line of vLLM's server says about a scenario.
struct VllmCommand {
  std::string model;                  // "meta-llama/Llama-3.1-8B-Instruct", or a path
  YamlNode formats;                   // weights, activations, kv: what the flags say of number formats
  YamlNode serving;                   // the `serving` section
  std::int64_t devices = 1;           // tensor x pipeline x data parallel
  VllmSectionsRead sections;          // what sections of `serving` leave to be filled, and what was assumed in them
  std::vector<std::string> defaults;  // "max_num_seqs 256": not given, vLLM's own choice for the device
};

// The release in a version as logs and images print it: "0.11.2" of "v0.11.2.post1"; empty if there is none.
std::string release_in(const std::string& version);

// Reads "vllm serve MODEL --flags" (or "python -m vllm.entrypoints.openai.api_server --model MODEL --flags", or "docker
// run ... vllm/vllm-openai ..."), with dashes or underscores, as one shell word or many. Flags that do not change a
// time are passed over; unknown ones are warnings; wrong values, and what changes the meaning and is not modelled,
// errors, all with their place in the command. Where it does not say how large steps are, `otherwise` does: of it no
// more sequences than the tokens of a step are enough for, with their drafts. Nothing after an error.
// An unknown flag before the model takes the word behind it, unless no other word is the model.
std::optional<VllmCommand> read_vllm_command(const std::string& command, const VllmBatchDefaults& otherwise,
                                             Diagnostics& diagnostics);
// The same of its words, whoever divided them.
std::optional<VllmCommand> read_vllm_command(std::vector<CommandWord> words, const VllmBatchDefaults& otherwise,
                                             Diagnostics& diagnostics);

}  // namespace llmscape::cli
