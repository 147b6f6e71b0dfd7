// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "base/quantity.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace llmscape::traces {

// Times of the parts of a step, each called once, of one model at one tensor-parallel degree: what the profiler of
// LLMServingSim (github.com casys-kaist/LLMServingSim; MIT) measures inside vLLM.
struct LayerTables {
  struct Count {  // of tokens or sequences
    std::int64_t count = 0;
    Seconds time;
  };
  // One layer's attention, its cache write included: a prompt chunk of `chunk` tokens (0: none) behind `cached` ones,
  // beside `decodes` sequences whose caches hold `context` tokens each before the step.
  struct Attention {
    std::int64_t chunk = 0, cached = 0, decodes = 0, context = 0;
    Seconds time;
  };
  // One layer's expert block over `tokens` that touch `experts` of them.
  struct Experts {
    std::int64_t tokens = 0, experts = 0;
    Seconds time;
  };
  // Where the attention of `decodes` sequences, some of them with four times the context of the others, lies between
  // all at the mean context (0) and all at the longest (1), beside a chunk or alone (0). Scatters beyond 0 and 1 where
  // the two hardly differ.
  struct UnequalContexts {
    std::int64_t chunk = 0, cached = 0, decodes = 0;
    double share = 0;
  };

  std::map<std::string, std::vector<Count>> dense;         // by layer and tokens, ascending
  std::map<std::string, std::vector<Count>> per_sequence;  // lm_head, sampler: by sequences, ascending
  std::vector<Attention> attention;
  std::vector<Experts> experts;  // empty for a dense model
  std::vector<UnequalContexts> unequal;
};

// Reads dense.csv, per_sequence.csv, attention.csv, and where they are there moe.csv and skew.csv of `folder`, plain or
// compressed (.gz, .zst). Times in the files are microseconds. Nothing after reporting mistakes with file:line:col.
std::optional<LayerTables> read_layer_tables(const std::filesystem::path& folder, Diagnostics& diagnostics);

}  // namespace llmscape::traces
