// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/correction.hpp"
#include "models/operator.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace llmscape::hardware {

// The correction of the decodes of one model: heads stay, and contexts change with every step, so a line over contexts
// is kept for each number of sequences.
class DecodeCorrection {
 public:
  explicit DecodeCorrection(Correction correction) : correction_(std::move(correction)) {}
  // At least one sequence; attention that is not latent.
  double factor(const models::DecodeAttention& attention);

 private:
  Correction correction_;
  std::int64_t tokens_per_sequence_ = 0;  // of the lines
  std::vector<std::optional<CorrectionLine>> lines_;
};

}  // namespace llmscape::hardware
