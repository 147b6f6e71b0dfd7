// SPDX-License-Identifier: Apache-2.0
#include "hardware/dataflow/shapes.hpp"

#include <algorithm>

namespace llmscape::hardware {

std::int64_t rounded_up(std::int64_t value, const std::vector<std::int64_t>& sizes) {
  if (sizes.empty() || value == 0) return value;
  const auto size = std::lower_bound(sizes.begin(), sizes.end(), value);
  if (size != sizes.end()) return *size;
  return (value + sizes.back() - 1) / sizes.back() * sizes.back();
}

const models::Batch& PaddedBatch::pad(const models::Batch& batch) {
  tiles_ = 0;
  chunks_.assign(batch.chunks.begin(), batch.chunks.end());
  for (auto& chunk : chunks_) {
    tiles_ += tiles_of(chunk.tokens);
    chunk.tokens = tiles_of(chunk.tokens) * tile_tokens_;
  }
  batch_ = batch;
  batch_.chunks = chunks_;
  if (batch.decodes == 0) return batch_;

  batch_.decodes = rounded_up(batch.decodes, shapes_.batch_slots);
  tiles_ += tiles_of(batch_.decode_tokens());
  if (shapes_.context_buckets.empty() && batch_.decodes == batch.decodes) return batch_;
  attended_.assign(batch.attended.begin(), batch.attended.end());
  for (std::size_t law = 0; law < attended_.size(); ++law) {
    auto& entries = attended_[law];
    if (shapes_.context_buckets.empty()) {
      entries.sum += (batch_.decodes - batch.decodes) * entries.max;
      continue;
    }
    entries.max = rounded_up(entries.max, shapes_.context_buckets);
    if (windows_[law] > 0) entries.max = std::min(entries.max, windows_[law]);
    entries.sum = batch_.decodes * entries.max;
  }
  batch_.attended = attended_;
  return batch_;
}

const Fields<StaticShapes>& static_shapes_fields() {
  static const Fields<StaticShapes> fields = [] {
    using S = StaticShapes;
    Fields<S> f("static_shapes", "the shapes that a dataflow graph was compiled for; an empty list: any");
    f.add("batch_slots", &S::batch_slots, "numbers of decodes, ascending; a step is padded to the next").at_least(1);
    f.add("context_buckets", &S::context_buckets,
          "tokens of context, ascending; every slot attends to the whole of one")
        .at_least(1);
    f.check([](const S& shapes, const YamlNode& node, Diagnostics& diagnostics) {
      for (const auto* sizes : {&shapes.batch_slots, &shapes.context_buckets})
        if (!std::is_sorted(sizes->begin(), sizes->end()))
          diagnostics.error(node.where, "compiled shapes must be ascending");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
