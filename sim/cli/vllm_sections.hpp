// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"

namespace llmscape::cli {

// A value of vLLM's command line, and where it stands.
struct VllmText {
  std::string text;
  SourceRange where;
};

// The options of vLLM that say a whole section of `serving`, in JSON or by several flags.
struct VllmSections {
  std::optional<VllmText> speculation;                             // --speculative-config
  std::optional<VllmText> compilation;                             // --compilation-config
  std::optional<VllmText> kv_transfer;                             // --kv-transfer-config
  std::optional<VllmText> kv_offloading;                           // --kv-offloading-size: GiB of all ranks together
  bool lora = false;                                               // --enable-lora
  std::optional<std::int64_t> max_loras, max_lora_rank, adapters;  // of --lora-modules as many as it names
};

// What `serving` says then, and what was taken for granted because the command leaves it open, in words.
struct VllmSectionsRead {
  std::vector<std::string> assumed;
  // Drafts of heads that are a layer of the model each (EAGLE, Medusa, multi-token prediction): as many passes of one
  // layer a step. Its share of a step needs the number of the model's layers.
  std::optional<std::int64_t> draft_layers;
  // The model that makes drafts, as the command names it.
  std::optional<VllmText> draft_model;
};

// Writes `speculation`, `cuda_graphs`, `lora` and `kv_tiers` into `serving`. What changes what a command means and is
// not modelled is an error, what changes a figure only a warning.
VllmSectionsRead read_vllm_sections(const VllmSections& said, std::int64_t tensor_parallel, YamlNode& serving,
                                    Diagnostics& diagnostics);

}  // namespace llmscape::cli
