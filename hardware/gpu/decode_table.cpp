// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/decode_table.hpp"

namespace llmscape::hardware {

const DecodeTable::Kept& DecodeTable::keep(const models::DecodeAttention& attention) {
  if (attention.tokens_per_sequence != tokens_per_sequence_) {
    tokens_per_sequence_ = attention.tokens_per_sequence;
    by_sequences_.clear();
  }
  const auto sequences = static_cast<std::size_t>(attention.sequences);
  if (sequences >= by_sequences_.size()) by_sequences_.resize(sequences + 1);
  std::optional<Kept>& kept = by_sequences_[sequences];
  kept.emplace(Kept{DecodeAttentionForm(chip_, parameters_, attention), std::nullopt});
  if (const Correction* correction = correction_of(parameters_, attention))
    kept->line.emplace(*correction, features_of(parameters_, attention), Feature::context, attention.window);
  return *kept;
}

}  // namespace llmscape::hardware
