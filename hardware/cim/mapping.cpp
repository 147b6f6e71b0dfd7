// SPDX-License-Identifier: Apache-2.0
#include "hardware/cim/mapping.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

std::int64_t tiles_of(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::int64_t tiles(const models::Linear& matrix, const models::Format& weights, const Macro& macro) {
  return tiles_of(matrix.k, *macro.rows) * tiles_of(matrix.n, weight_columns(macro, weights));
}

TiledSet::TiledSet(const MatrixSet& set, const Macro& macro) {
  for (const auto& matrix : set.matrices) {
    tiles_of_.push_back(hardware::tiles(matrix, matrix.format, macro));
    tiles_ += tiles_of_.back();
    partial_sums_ += static_cast<double>((tiles_of(matrix.k, *macro.rows) - 1) * matrix.n);
  }
}

double TiledSet::rounds(double sets, Packing packing, std::int64_t macros) const {
  if (packing == Packing::packed) return std::ceil(sets * static_cast<double>(tiles_) / static_cast<double>(macros));
  std::int64_t rounds = 0;
  for (const auto q : tiles_of_) rounds += tiles_of(q, macros);
  return sets * static_cast<double>(rounds);
}

Mapping::Mapping(const StepShape& shape, const Macro& macro, std::int64_t pinnable_macros) : head(shape.head, macro) {
  for (const auto& layer : shape.layers) {
    Layers mapped{TiledSet(layer.common, macro), TiledSet(layer.expert, macro)};
    const std::int64_t one = mapped.common.tiles() + layer.experts * mapped.expert.tiles();
    mapped.pinned = static_cast<int>(std::min<std::int64_t>(layer.count, (pinnable_macros - pinned_macros) / one));
    mapped.streamed = layer.count - mapped.pinned;
    pinned_macros += mapped.pinned * one;
    layers.push_back(std::move(mapped));
  }
  if (pinned_macros + head.tiles() <= pinnable_macros) {
    head_pinned = true;
    pinned_macros += head.tiles();
  }
}

bool Mapping::streams() const {
  return !head_pinned || std::any_of(layers.begin(), layers.end(), [](const Layers& l) { return l.streamed > 0; });
}

}  // namespace llmscape::hardware
