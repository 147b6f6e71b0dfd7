// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "hardware/cim/macro.hpp"
#include "hardware/step_shape.hpp"

namespace llmscape::hardware {

// How streamed matrices share the rounds in which all macros compute at once.
enum class Packing {
  packed,     // the tiles of different matrices fill a round together
  by_matrix,  // each matrix starts a round of its own
};

// Macros that one matrix fills: ceil(k / rows) ceil(n / weight columns) (cost-model 5).
std::int64_t tiles(const models::Linear&, const models::Format& weights, const Macro&);

// A set of matrices cut into tiles.
class TiledSet {
 public:
  TiledSet() = default;
  TiledSet(const MatrixSet&, const Macro&);
  [[nodiscard]] std::int64_t tiles() const { return tiles_; }
  [[nodiscard]] std::int64_t matrices() const { return static_cast<std::int64_t>(tiles_of_.size()); }
  // Additions across tiles for one vector: sum of (ceil(k / rows) - 1) n.
  [[nodiscard]] double partial_sums() const { return partial_sums_; }
  // Rounds that `sets` such sets take on `macros` macros: ceil(sum q / X), or the sum of ceil(q / X) (cost-model 5). Of
  // experts, `sets` is a mean and need not be whole.
  [[nodiscard]] double rounds(double sets, Packing, std::int64_t macros) const;

 private:
  std::vector<std::int64_t> tiles_of_;  // of each matrix
  std::int64_t tiles_ = 0;
  double partial_sums_ = 0;
};

// Where the weights of a model lie: whole layers are pinned in macros of their own until those are full, then the head;
// the rest streams through the macros that remain.
struct Mapping {
  struct Layers {
    TiledSet common, expert;
    int pinned = 0, streamed = 0;
  };
  Mapping(const StepShape&, const Macro&, std::int64_t pinnable_macros);

  std::vector<Layers> layers;  // as in StepShape
  TiledSet head;
  bool head_pinned = false;
  std::int64_t pinned_macros = 0;
  [[nodiscard]] bool streams() const;  // something is left to stream
};

}  // namespace llmscape::hardware
