// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/decode_table.hpp"

#include <cmath>

namespace llmscape::hardware {

const DecodeTable::Kept& DecodeTable::keep(const models::DecodeAttention& attention) {
  if (attention.tokens_per_sequence != tokens_per_sequence_) {
    tokens_per_sequence_ = attention.tokens_per_sequence;
    by_sequences_.clear();
  }
  const auto sequences = static_cast<std::size_t>(attention.sequences);
  if (sequences >= by_sequences_.size()) by_sequences_.resize(sequences + 1);
  std::optional<Kept>& kept = by_sequences_[sequences];
  const double from = hardware::grouped_from(chip_, parameters_, attention);
  kept.emplace(kernel(attention, std::isinf(from)));
  if (from > 0 && !std::isinf(from)) {
    kept->grouped_from = from;
    kept->apart = std::make_unique<const Kept>(kernel(attention, true));
  }
  return *kept;
}

DecodeTable::Kept DecodeTable::kernel(const models::DecodeAttention& attention, bool apart) const {
  Kept kept{DecodeAttentionForm(chip_, parameters_, attention, apart), std::nullopt, 0, nullptr};
  if (const Correction* correction = correction_of(parameters_, attention, apart))
    kept.line.emplace(*correction, features_of(attention, apart), Feature::context, attention.window);
  return kept;
}

}  // namespace llmscape::hardware
