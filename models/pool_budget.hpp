// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "models/model.hpp"

namespace llmscape::models {

// The KV budgets of a model's layers as a pool sees them whose blocks hold a token of all these layers: what a sequence
// holds is a mean over them by bytes, rounded up. Layers with a window of their own are left out.
class PoolBudget {
 public:
  PoolBudget() = default;  // none
  explicit PoolBudget(const ModelSpec& model);
  explicit PoolBudget(const KvBudget& of_all_layers);

  [[nodiscard]] bool limits() const { return !parts_.empty(); }
  [[nodiscard]] bool each_chunk() const { return each_chunk_; }
  // Of `tokens` tokens of a prompt, those whose entries stay.
  [[nodiscard]] std::int64_t kept(std::int64_t tokens) const;
  // The most that a decoding sequence holds; 0: it grows with its answer.
  [[nodiscard]] std::int64_t ring() const { return ring_; }

 private:
  struct Part {
    double weight;  // of the bytes of an entry
    KvBudget budget;
  };
  std::vector<Part> parts_;
  bool each_chunk_ = false;
  std::int64_t ring_ = 0;
};

}  // namespace llmscape::models
