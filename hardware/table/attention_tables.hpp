// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/table/grid.hpp"
#include "models/batch.hpp"
#include "traces/layer_tables.hpp"

#include <optional>
#include <string>

namespace llmscape::hardware {

// One layer's attention in a step, in seconds, from the times that a profiler measured (engines.md 11): decodes at
// their mean context, plus the share that unequal contexts add; a prompt chunk together with the decodes beside it; of
// several chunks the longest so, and the others as what each adds to a chunk alone. A chunk shorter than the shortest
// measured counts as that one.
class AttentionTables {
 public:
  explicit AttentionTables(const traces::LayerTables& tables);
  struct Time {
    double prefill = 0, decode = 0;  // decode: what the decodes add where there are chunks
  };
  [[nodiscard]] Time at(const models::Batch& batch) const;
  // Whether the step lies within the tables.
  [[nodiscard]] bool covers(const models::Batch& batch) const;
  // What they hold, for messages.
  [[nodiscard]] std::string range() const;

 private:
  [[nodiscard]] double decodes_alone(double sequences, double mean, double longest) const;
  [[nodiscard]] double together(const models::PrefillChunk& chunk, double sequences, double mean, double longest) const;
  [[nodiscard]] double alone(const models::PrefillChunk& chunk) const;

  Grid chunks_;           // by chunk and cached tokens
  Grid decodes_;          // by sequences and context
  Grid mixed_;            // by chunk, cached tokens, sequences and context
  Grid decodes_unequal_;  // share by sequences
  Grid mixed_unequal_;    // share by chunk, cached tokens and sequences
};

}  // namespace llmscape::hardware
