// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "base/fields.hpp"
#include "models/batch.hpp"

namespace llmscape::hardware {

// The shapes that a dataflow graph was compiled for. An empty list: any.
struct StaticShapes {
  std::vector<std::int64_t> batch_slots;      // decodes, ascending
  std::vector<std::int64_t> context_buckets;  // tokens of context, ascending
};
const Fields<StaticShapes>& static_shapes_fields();

// The smallest size that holds `value`; beyond the largest, a multiple of it; 0 stays 0.
std::int64_t rounded_up(std::int64_t value, const std::vector<std::int64_t>& sizes);

// A batch as the machine runs it: every slot of the graph computes, each attends to the whole context bucket of the
// longest, and prompts are padded to whole tiles. Static kernels take no shorter when slots are empty.
class PaddedBatch {
 public:
  // `windows` are the KV laws of the model, 0 for full attention.
  PaddedBatch(StaticShapes shapes, std::int64_t tile_tokens, std::vector<std::int64_t> windows)
      : shapes_(std::move(shapes)), tile_tokens_(tile_tokens), windows_(std::move(windows)) {}
  // Valid until the next call.
  const models::Batch& pad(const models::Batch&);
  // Tiles of tokens in the padded batch.
  [[nodiscard]] double tiles() const { return static_cast<double>(tiles_); }

 private:
  [[nodiscard]] std::int64_t tiles_of(std::int64_t tokens) const { return (tokens + tile_tokens_ - 1) / tile_tokens_; }

  StaticShapes shapes_;
  std::int64_t tile_tokens_;
  std::vector<std::int64_t> windows_;
  std::vector<models::PrefillChunk> chunks_;
  std::vector<models::Attended> attended_;
  models::Batch batch_;
  std::int64_t tiles_ = 0;
};

}  // namespace llmscape::hardware
