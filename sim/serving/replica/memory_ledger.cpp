// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/memory_ledger.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace llmscape::serving {

using models::MemoryKind;

void MemoryLedger::count(const models::Batch& batch, std::int64_t kv_blocks, Seconds start) {
  hold(kv_blocks);
  models::MemoryByKind step;
  config_.steps.tell(batch, step);
  const Bytes beside = step.total();
  step.of(MemoryKind::weights) = config_.weights;
  step.of(MemoryKind::kv) = static_cast<double>(held_blocks_) * config_.block;
  peak_ = std::max(peak_, held_ + beside);
  if (step.total() > largest_.by_kind.total())
    largest_ = {step, start, batch.prefill_tokens(), batch.decodes - batch.padding};
}

void MemoryLedger::check_invariants(int replica) const {
  const Bytes kinds = largest_.by_kind.total();
  if (std::abs((kinds - peak_).si()) > 1e-9 * peak_.si())
    throw std::logic_error("INV-18: the kinds of memory of replica " + std::to_string(replica) + " sum to " +
                           std::to_string(kinds.si()) + " bytes, its peak is " + std::to_string(peak_.si()));
}

}  // namespace llmscape::serving
