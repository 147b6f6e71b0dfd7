// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/attention_decode.hpp"
#include "hardware/gpu/correction.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace llmscape::hardware {

// Attention of the decodes of one model's layers, correction included: heads stay, and contexts change with every step,
// so that all else is kept for each number of sequences, and of the correction a line over contexts.
class DecodeTable {
 public:
  // Both outlive it.
  DecodeTable(const Chip& chip, const DecodeAttentionParameters& parameters) : chip_(chip), parameters_(parameters) {}
  // Nothing where there is no sequence. The heads are those of the first call.
  KernelCost cost(const models::DecodeAttention& attention) {
    return attention.sequences > 0 ? of_some(attention) : KernelCost{};
  }

 private:
  KernelCost of_some(const models::DecodeAttention& attention) {
    const Kept& grouped = kept(attention);
    const Kept& of = grouped.apart && attention.mean_context() < grouped.grouped_from ? *grouped.apart : grouped;
    KernelCost cost = of.form.cost(attention.attended, attention.contexts);
    if (of.line) cost.time *= of.line->factor(of.form.mean(attention.attended));
    return cost;
  }
  struct Kept {
    DecodeAttentionForm form;
    std::optional<CorrectionLine> line;
    // The same for heads that run apart, of contexts in the mean below so many entries.
    double grouped_from = 0;
    std::unique_ptr<const Kept> apart;
  };
  [[nodiscard]] Kept kernel(const models::DecodeAttention& attention, bool apart) const;
  const Kept& kept(const models::DecodeAttention& attention) {
    const auto sequences = static_cast<std::size_t>(attention.sequences);
    if (attention.tokens_per_sequence == tokens_per_sequence_ && sequences < by_sequences_.size() &&
        by_sequences_[sequences])
      return *by_sequences_[sequences];
    return keep(attention);
  }
  const Kept& keep(const models::DecodeAttention& attention);

  const Chip& chip_;
  const DecodeAttentionParameters& parameters_;
  std::int64_t tokens_per_sequence_ = 0;  // of what is kept
  std::vector<std::optional<Kept>> by_sequences_;
};

}  // namespace llmscape::hardware
