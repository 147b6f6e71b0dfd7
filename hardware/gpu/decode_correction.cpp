// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/decode_correction.hpp"

#include "hardware/gpu/correction_features.hpp"

namespace llmscape::hardware {

double DecodeCorrection::factor(const models::DecodeAttention& attention) {
  if (attention.tokens_per_sequence != tokens_per_sequence_) {
    tokens_per_sequence_ = attention.tokens_per_sequence;
    lines_.clear();
  }
  const auto sequences = static_cast<std::size_t>(attention.sequences);
  if (sequences >= lines_.size()) lines_.resize(sequences + 1);
  std::optional<CorrectionLine>& line = lines_[sequences];
  if (!line) line.emplace(correction_, features_of(attention), Feature::context);
  return line->factor(static_cast<double>(attention.attended.sum) / static_cast<double>(attention.sequences));
}

}  // namespace llmscape::hardware
