// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/decode_table.hpp"

#include "hardware/gpu/correction_features.hpp"

namespace llmscape::hardware {

KernelCost DecodeTable::cost(const models::DecodeAttention& attention) {
  if (attention.sequences <= 0) return {};
  const Kept& of = kept(attention);
  KernelCost cost = of.form.cost(attention.attended);
  if (of.line)
    cost.time *=
        of.line->factor(static_cast<double>(attention.attended.sum) / static_cast<double>(attention.sequences));
  return cost;
}

const DecodeTable::Kept& DecodeTable::kept(const models::DecodeAttention& attention) {
  if (attention.tokens_per_sequence != tokens_per_sequence_) {
    tokens_per_sequence_ = attention.tokens_per_sequence;
    by_sequences_.clear();
  }
  const auto sequences = static_cast<std::size_t>(attention.sequences);
  if (sequences >= by_sequences_.size()) by_sequences_.resize(sequences + 1);
  std::optional<Kept>& kept = by_sequences_[sequences];
  if (kept) return *kept;
  kept.emplace(Kept{DecodeAttentionForm(chip_, parameters_, attention), std::nullopt});
  if (parameters_.correction && attention.kernel == parameters_.kernel)
    kept->line.emplace(*parameters_.correction, features_of(attention), Feature::context);
  return *kept;
}

}  // namespace llmscape::hardware
