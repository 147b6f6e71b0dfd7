// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "models/step_memory.hpp"

namespace llmscape::serving {

// What the fullest rank of a replica holds, whatever runs.
struct MemoryConfig {
  Bytes weights;  // of the model, of adapters that stay resident, of a model that makes drafts
  Bytes block;    // of KV entries
  std::int64_t device_blocks = std::numeric_limits<std::int64_t>::max();  // of the pool; those beyond lie on the host
  std::int64_t slot_blocks = 0;  // allocated for slots of a static cache, used or not; 0: there are none
  models::StepMemory steps{};
};

// The memory of that rank over the steps of a run: what comes and goes with each, and the largest of them by kind.
class MemoryLedger {
 public:
  explicit MemoryLedger(MemoryConfig config)
      : held_(config.weights), peak_(config.weights), config_(std::move(config)) {
    largest_.by_kind.of(models::MemoryKind::weights) = config_.weights;
  }

  struct Step {
    models::MemoryByKind by_kind{};
    Seconds start;
    std::int64_t prompt_tokens = 0, decodes = 0;
  };
  // Of each step that is planned for good, `kv_blocks` in use while it runs: whether one of so many tokens and rows of
  // logits at most may be the largest yet. Only those have to be counted.
  bool may_be_largest(std::int64_t tokens, std::int64_t rows, std::int64_t kv_blocks) {
    return !(hold(kv_blocks) + config_.steps.at_most(tokens, rows) < peak_);
  }
  void count(const models::Batch& batch, std::int64_t kv_blocks, Seconds start);
  // The largest of all steps; the first of equals. Before any step: weights alone.
  [[nodiscard]] const Step& largest() const { return largest_; }
  [[nodiscard]] Bytes peak() const { return peak_; }
  // INV-18. Throws std::logic_error.
  void check_invariants(int replica) const;

 private:
  Bytes hold(std::int64_t kv_blocks) {
    const std::int64_t blocks =
        config_.slot_blocks > 0 ? config_.slot_blocks : std::min(kv_blocks, config_.device_blocks);
    held_blocks_ = blocks;
    held_ = config_.weights + static_cast<double>(blocks) * config_.block;
    return held_;
  }

  Bytes held_;  // weights and KV entries
  Bytes peak_;  // of that and what the step took beside it
  std::int64_t held_blocks_ = 0;
  MemoryConfig config_;
  Step largest_;
};

}  // namespace llmscape::serving
