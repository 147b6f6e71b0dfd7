// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/batch.hpp"

namespace llmscape::hardware {

// What a step computed, as far as its time depends on it and a log can say it.
struct StepComposition {
  std::int64_t prompts = 0;          // that have a part in the step
  std::int64_t prompt_tokens = 0;    // of them, computed in the step
  std::int64_t cached_tokens = 0;    // of them, computed before or found in a cache, all together
  std::int64_t decodes = 0;          // sequences that compute one token each
  std::int64_t context = 0;          // entries that they attend to, all together, the new ones included
  std::int64_t longest_context = 0;  // of one of them; 0: all alike
  std::int64_t padding = 0;          // tokens of a captured graph without a sequence
  bool operator==(const StepComposition&) const = default;
};

// Of a batch. Prompts of unlike lengths become as many equal ones with the same work of attention.
StepComposition composition_of(const models::Batch&);
// Whether the composition says all that the step's time depends on: not with speculation, adapters, layers that chunks
// skip, unlike ranks.
bool says_all(const models::Batch&);

// A composition as a batch with storage of its own, for a model with these laws (models::kv_laws).
class ComposedBatch {
 public:
  ComposedBatch(const StepComposition&, std::span<const std::int64_t> laws);
  ComposedBatch(const ComposedBatch&) = delete;
  ComposedBatch& operator=(const ComposedBatch&) = delete;
  [[nodiscard]] const models::Batch& batch() const { return batch_; }

 private:
  std::vector<models::PrefillChunk> chunks_;
  std::vector<models::Attended> attended_;
  models::Batch batch_;
};

// Where a step lies among others, in doublings: log2(1 + x) of its prompt tokens, of the entries / 256 that one of
// them attends to on average, of its decodes, and of the entries / 256 that one of those attends to on average.
// Contexts far below 256 entries are alike: weights are read whatever they are.
using StepPosition = std::array<double, 4>;
StepPosition position_of(const StepComposition&);
// Euclidean.
double distance(const StepPosition&, const StepPosition&);

}  // namespace llmscape::hardware
