// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "base/quantity.hpp"
#include "models/execution.hpp"
#include "models/memory.hpp"

namespace llmscape::models {

// What the memory of a rank is for. kv: entries of sequences that run; activations: hidden states and the widest part
// of a layer; copies: entries of the layer whose concatenated cache is made anew.
enum class MemoryKind : std::uint8_t { weights, kv, activations, scores, logits, copies };
inline constexpr int kMemoryKinds = 6;
inline constexpr std::array<std::string_view, kMemoryKinds> kMemoryKindNames = {"weights", "kv",     "activations",
                                                                                "scores",  "logits", "copies"};

struct MemoryByKind {
  std::array<Bytes, kMemoryKinds> bytes{};
  Bytes& of(MemoryKind kind) { return bytes[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Bytes of(MemoryKind kind) const { return bytes[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] Bytes total() const { return std::accumulate(bytes.begin(), bytes.end(), Bytes()); }
};

// What steps take on the fullest rank beside weights and KV entries, at the moment at which they take most:
//   in a mixer       tokens x (2 hidden + what it keeps) of activations; with eager attention the scores, heads x new
//                    tokens x context in the format of hidden states, of the layer with the most; with a concatenated
//                    cache a copy of one layer's entries
//   in a feed-forward  tokens x (2 hidden + what is between up and down)
//   at the head      tokens x hidden, and logits: 32 bits for each row that a token is drawn from; with logits of all
//                    tokens, those in the format of hidden states beside them (transformers converts the last row
//                    alone)
// memory_need, which sizes pools, adds these up.
class StepMemory {
 public:
  StepMemory() = default;  // of no model: nothing
  StepMemory(const ModelSpec& model, const ParallelPlan& plan, const Execution& execution);
  // Sets these four kinds.
  void tell(const Batch& batch, MemoryByKind& memory) const;
  // No less than the sum of these for a batch of so many tokens and rows of logits at most; infinite where contexts
  // count.
  [[nodiscard]] Bytes at_most(std::int64_t tokens, std::int64_t rows) const {
    return static_cast<double>(tokens) * most_of_token_ + static_cast<double>(rows) * of_row_;
  }

 private:
  ModelSpec model_;
  ParallelPlan plan_;
  Execution execution_;
  double hidden_bytes_ = 0;  // of an element
  TokenActivations token_;
  Bytes most_of_token_, of_row_;  // of at_most()
};

}  // namespace llmscape::models
