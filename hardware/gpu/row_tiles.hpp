// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "models/operator.hpp"

#include <cstdint>
#include <optional>

namespace llmscape::hardware {

// How a kernel of products or of experts chooses the rows of its tiles: by a count that it knows before it runs, or by
// trials.
struct RowTiles {
  enum class Choice : std::uint8_t {
    fastest,    // whichever of the shapes is (tuned kernels)
    own_rows,   // the shortest power of two that takes the mean of the rank's rows for each of its experts
    seen_rows,  // the same with the rows of all tokens that the rank sees, whosever experts they go to
    marlin,     // of 8, 16, 32, 48 and 64 the shortest that `seen_rows` fill to less than nine tenths (Marlin's experts
                // in vLLM and SGLang: fused_marlin_moe)
    few_tokens,  // `least` while the rank sees no more tokens than it has experts, then `most` (Triton's fused experts
                 // in vLLM and SGLang: get_default_config)
  };
  Choice choice = Choice::fastest;
  std::int64_t least = 16, most = 256;  // rows of the shortest and of the longest tile
  std::int64_t per_expert = 1;          // tiles that the mean is cut into, where it is what counts
  bool operator==(const RowTiles&) const = default;
};
const Fields<RowTiles>& row_tiles_fields();

// Rows of the tiles that these experts run in; absent: whichever are fastest.
std::optional<std::int64_t> tile_rows(const RowTiles& tiles, const models::GroupedGemm& experts);
// Of a product of so many rows: one expert that takes them all.
std::optional<std::int64_t> tile_rows(const RowTiles& tiles, std::int64_t rows);

}  // namespace llmscape::hardware
