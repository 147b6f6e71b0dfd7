// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "sim/serving/replica/replica.hpp"

namespace llmscape::serving {

// Data-parallel ranks of a mixture: each has its own queue, sequences, KV pool and limits, but their experts are
// shared, so that they step together. A step begins on all ranks at once and lasts as long as on the slowest; a rank
// that has nothing to compute runs a dummy pass of one token (vLLM: execute_dummy_batch, vllm/v1/engine/core.py,
// DPEngineCoreProc).
class RankGroup {
 public:
  // What they send between nodes, where that is flows: ReplicaConfig::exchange of each.
  explicit RankGroup(StepExchange* exchange = nullptr) : exchange_(exchange) {}
  // All have the same number of steps in flight (BatcherPolicy::depth) and ReplicaConfig::rank_of_group set.
  void add(Replica& rank) { ranks_.push_back(&rank); }

  // As Replica's.
  [[nodiscard]] Seconds next_event() const;
  void wake(Seconds now);

 private:
  bool plan_step(Seconds now);

  StepExchange* exchange_;
  ExchangedStep exchanged_;
  std::vector<Replica*> ranks_;
};

}  // namespace llmscape::serving
