// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/gpu.hpp"

#include <array>
#include <span>
#include <string>
#include <vector>

namespace llmscape::hardware {

// Remembers the first operator of each family that lay outside the range its parameters were fitted on.
class FittedRange {
 public:
  explicit FittedRange(const Gpu& gpu) : gpu_(gpu) {}
  // Whether it lies inside.
  bool check(const models::AnyOperator& op);
  // `fit` is what priced it: one of the chip's.
  bool check(const models::DecodeAttention& attention, const DecodeAttentionParameters& fit);
  // One layer over `chunks`, which stand in for those of `shape`.
  bool check(const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks);
  [[nodiscard]] std::vector<std::string> warnings() const;
  // A bit for each kind of warning that operators leave, and those that were left: prices that are kept for several say
  // with them which of theirs were outside.
  static unsigned bit_of(const models::AnyOperator& op);
  [[nodiscard]] unsigned noted() const;

 private:
  std::string& first(OperatorFamily family) { return first_[static_cast<std::size_t>(family)]; }
  // Narrow weights that are priced with the fit to 16-bit ones are outside, whatever their shape.
  template <class G>
  bool check_product(OperatorFamily family, const GemmParameters& fit, const GemmParameters& of_16_bits, const G& g,
                     std::int64_t rows);

  bool check_sparse(const models::PrefillAttention& shape);
  bool check_indexed(const models::KvFormat& kv);

  const Gpu& gpu_;
  std::array<std::string, kOperatorFamilies> first_;  // what left the range; empty: nothing has
  std::string unknown_kernel_;                        // a sparse one that the device does not know
  std::string unknown_state_;                         // likewise, of a recurrent state
  std::string unknown_index_;                         // format of chosen entries, likewise
};

}  // namespace llmscape::hardware
