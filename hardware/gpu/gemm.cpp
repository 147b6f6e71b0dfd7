// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/gemm.hpp"

#include "hardware/gpu/correction_features.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace llmscape::hardware {
namespace {

struct Tile {
  int rows, columns;
  [[nodiscard]] constexpr double outputs() const { return static_cast<double>(rows) * columns; }
};
constexpr std::array kTiles = {Tile{16, 64},   Tile{16, 128},  Tile{32, 64},  Tile{32, 128},
                               Tile{64, 32},   Tile{64, 64},   Tile{64, 128}, Tile{128, 64},
                               Tile{128, 128}, Tile{128, 256}, Tile{256, 128}};
// Fused expert kernels and those that widen narrow weights (Marlin) have short tiles, because they see few tokens.
constexpr std::int64_t kShortTileRows = 16;
// Columns of tiles whose rows follow from counts.
constexpr std::array kTileColumns = {64, 128, 256};
constexpr std::array kSplits = {1, 2, 4, 8, 16};
constexpr int kDepthStep = 64;                  // a tile walks K in steps of 64
constexpr double kLeastSplitDepth = 256;        // K is not split into shorter pieces
constexpr double kBlocksPerMultiprocessor = 2;  // that draw from memory at a time
constexpr double kTileOutputs = 128 * 128;      // of the tile that GemmParameters::tile is of
constexpr double kNarrowestOutput = 2;          // bytes
constexpr double kHairAbove = 1 + 1e-12;        // more than rounding makes of a time

// std::ceil() of what is not negative and fits 63 bits, without a call.
double rounded_up(double value) {
  const auto below = static_cast<double>(static_cast<std::int64_t>(value));
  return below < value ? below + 1 : below;
}
double ceil_div(double a, double b) { return rounded_up(a / b); }

// A GEMM cut into `blocks` thread blocks of one tile over a depth of K / split: so many for each multiprocessor
// (`waves`), each computing for `block_seconds`, what it costs besides its depth included.
struct Grid {
  double blocks, waves, depth;
  Tile tile;
  double block_seconds;
};

// Times of the main kernel without launch. What does not depend on how it is cut is worked out once: fits price
// millions.
class MainKernel {
 public:
  // `bytes` is the traffic of the whole GEMM.
  MainKernel(const Chip& chip, const GemmParameters& p, FlopsPerSecond peak, double bytes, double weight_bytes,
             double activation_bytes)
      : sms_(static_cast<double>(*chip.multiprocessors)),
        tile_flops_per_second_(p.compute_efficiency * peak.si() / sms_), wave_quantisation_(p.wave_quantisation),
        memory_bandwidth_(p.memory_efficiency * chip.hbm_bandwidth.value.si()), cta_bandwidth_(p.cta_bandwidth.si()),
        l2_bandwidth_(p.l2_bandwidth.si()), bytes_(bytes), least_memory_(bytes / memory_bandwidth_),
        weight_bytes_(weight_bytes), activation_bytes_(activation_bytes) {}

  [[nodiscard]] double waves_of(double blocks) const { return blocks / sms_; }
  // What `outputs` of a tile take over that depth.
  [[nodiscard]] double computing(double outputs, double depth) const {
    return 2.0 * outputs * depth / tile_flops_per_second_;
  }
  // Whether no cut of K makes `best` less, from `blocks` of whole depth `k`: every cut computes, draws and moves
  // through L2 at least as much, and adds something of its own.
  [[nodiscard]] bool hopeless(double best, double blocks, const Tile& tile, double k, double block_seconds) const {
    const double compute = waves_of(blocks) * block_seconds;
    const double through_l2 = blocks * k * moved(tile) / l2_bandwidth_;
    return fourth(compute) + fourth(least_memory_) + fourth(through_l2) >= kHairAbove * fourth(kHairAbove * best);
  }
  // The lesser of `best` and the time of the grid with `extra` seconds behind it.
  [[nodiscard]] double best_of(double best, const Grid& grid, double extra) const {
    const double waves = std::max(1.0, grid.waves + wave_quantisation_ * (rounded_up(grid.waves) - grid.waves));
    const double compute = waves * grid.block_seconds;
    return std::max(compute, least_memory_) + extra >= best ? best : worked_out(best, grid, compute, extra);
  }

 private:
  // The same of one that may be the lesser, its arithmetic taking `compute`.
  [[nodiscard]] double worked_out(double best, const Grid& grid, double compute, double extra) const {
    const double drawn = std::min(grid.blocks, kBlocksPerMultiprocessor * sms_) * cta_bandwidth_;
    const double memory = drawn < memory_bandwidth_ ? bytes_ / drawn : least_memory_;
    const double through_l2 = grid.blocks * grid.depth * moved(grid.tile) / l2_bandwidth_;
    const double top = std::max({compute, memory, through_l2});
    if (top + extra >= best) return best;
    // Fourth powers tell without roots that it is not the lesser; rounding leaves the close ones to what follows.
    const double limit = kHairAbove * best - extra;
    if (fourth(compute) + fourth(memory) + fourth(through_l2) >= kHairAbove * fourth(limit)) return best;
    return std::min(best, (top > 0 ? blend(compute, memory, through_l2, top) : 0) + extra);
  }
  // (a^4 + b^4 + c^4)^(1/4), scaled by the largest so that nothing overflows; never below it.
  static double blend(double a, double b, double c, double top) {
    return top * std::sqrt(std::sqrt(fourth(a / top) + fourth(b / top) + fourth(c / top)));
  }
  // Bytes that a block of this tile reads for each step of K.
  [[nodiscard]] double moved(const Tile& tile) const {
    return tile.rows * activation_bytes_ + tile.columns * weight_bytes_;
  }
  static double fourth(double x) {
    const double square = x * x;
    return square * square;
  }

  double sms_, tile_flops_per_second_, wave_quantisation_, memory_bandwidth_, cta_bandwidth_, l2_bandwidth_, bytes_,
      least_memory_, weight_bytes_, activation_bytes_;
};

// K in pieces, whatever the tile. Pieces and outputs of tiles are powers of two: to scale by them is exact.
struct Cut {
  double pieces, depth;
  double computing;  // of an output of a tile, over that depth
  double extra;      // partial sums in 4 bytes are written and read once through L2
};
class Cuts {
 public:
  Cuts(const MainKernel& kernel, const GemmParameters& p, double m, double n, double k) {
    const double partial = 8.0 * m * n / p.l2_bandwidth.si();
    for (const int split : kSplits) {
      if (split > 1 && k / split < kLeastSplitDepth) break;
      const double depth = kDepthStep * ceil_div(k / split, kDepthStep);
      cuts_[count_++] = {static_cast<double>(split), depth, kernel.computing(1, depth),
                         split > 1 ? p.split.si() + split * partial : 0};
    }
  }
  [[nodiscard]] std::span<const Cut> all() const { return {cuts_.data(), count_}; }

 private:
  std::array<Cut, kSplits.size()> cuts_;
  std::size_t count_ = 0;
};

// Rows that the shortest tile computes, whether they were asked for or not. Watts of experts that see few rows (tables
// of H200, B200 and GB200) are met best by 64, the rows of one matrix instruction of a warp group, not by 16, 32 or
// 128.
std::int64_t least_rows_of(const GemmParameters& p, const models::Format& weights, const models::Format& inputs) {
  return weights.bytes < inputs.bytes ? kShortTileRows : p.least_tile_rows;
}

// `rows` are asked for and `computed` are computed.
KernelCost cost_of(const Chip& chip, FlopsPerSecond peak, double seconds, double rows, double computed,
                   double flops_of_row, double bytes) {
  const double flops = rows * flops_of_row;
  KernelCost cost{Seconds(seconds), Flops(flops), Flops(flops * (*chip.peak_bf16 / peak)), Bytes(bytes)};
  cost.padding = Flops(std::max(0.0, computed - rows) * flops_of_row);
  return cost;
}

}  // namespace

KernelCost gemm_cost(const Chip& chip, const GemmParameters& p, const models::Gemm& g) {
  const double m = static_cast<double>(g.m), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
  if (m <= 0 || n <= 0 || k <= 0) return {};
  const FlopsPerSecond peak = chip.peak(g.weights, g.activations);
  const double weight_bytes = g.weights.bytes_with_scales(), activation_bytes = g.activations.bytes;
  const double output_bytes = std::max(kNarrowestOutput, activation_bytes);
  const double bytes = k * n * weight_bytes + m * (k * activation_bytes + n * output_bytes);

  const MainKernel kernel(chip, p, peak, bytes, weight_bytes, activation_bytes);
  double best = std::numeric_limits<double>::infinity();
  const std::int64_t least_rows = least_rows_of(p, g.weights, g.activations);
  const auto tile_seconds = [&p](double outputs) { return outputs / kTileOutputs * p.tile.si(); };
  if (p.deep_gemm) {
    const DeepGemmGrid grid = deep_gemm_grid(*p.deep_gemm, g.m, g.n, *chip.multiprocessors);
    const Tile tile{static_cast<int>(grid.tile_rows), static_cast<int>(grid.tile_columns)};
    const double steps = ceil_div(k, kDeepGemmStep), depth = kDeepGemmStep * steps, outputs = tile.outputs();
    best = kernel.best_of(best,
                          {grid.blocks, kernel.waves_of(grid.blocks), depth, tile,
                           kernel.computing(outputs, depth) + tile_seconds(outputs)},
                          grid.turns * grid.missing_rows * steps * p.deep_gemm->missing_row.si());
  } else if (const auto chosen = tile_rows(p.row_tiles, g.m)) {
    const double depth = kDepthStep * ceil_div(k, kDepthStep);
    for (const int columns : kTileColumns) {
      const Tile tile{static_cast<int>(*chosen), columns};
      const double blocks = ceil_div(m, tile.rows) * ceil_div(n, columns), outputs = tile.outputs();
      best = kernel.best_of(
          best,
          {blocks, kernel.waves_of(blocks), depth, tile, kernel.computing(outputs, depth) + tile_seconds(outputs)}, 0);
    }
  } else {
    const Cuts cuts(kernel, p, m, n, k);
    const double whole = kernel.computing(1, k);
    const auto attempt = [&](const Tile& tile) {
      if (tile.rows < least_rows) return;
      const double outputs = tile.outputs();
      const double blocks = ceil_div(m, tile.rows) * ceil_div(n, tile.columns), waves = kernel.waves_of(blocks);
      if (kernel.hopeless(best, blocks, tile, k, outputs * whole + tile_seconds(outputs))) return;
      for (const Cut& cut : cuts.all())
        best = kernel.best_of(
            best,
            {blocks * cut.pieces, waves * cut.pieces, cut.depth, tile, outputs * cut.computing + tile_seconds(outputs)},
            cut.extra);
    };
    // The likely ones first: the others are seldom worked out whole.
    if (m > kTiles[kTiles.size() / 2].rows) std::ranges::for_each(kTiles.rbegin(), kTiles.rend(), attempt);
    else std::ranges::for_each(kTiles, attempt);
  }
  const Seconds by_form = p.launch + Seconds(best);
  const double factor = p.correction ? p.correction->factor(features_of(chip, g), by_form) : 1;
  const double shortest = static_cast<double>(least_rows);
  KernelCost cost = cost_of(chip, peak, factor * by_form.si(), m, shortest * ceil_div(m, shortest), 2 * n * k, bytes);
  cost.launch = std::min(kLongestLaunch, p.launch);
  return cost;
}

namespace {

// `tiles_of` a height of tiles.
template <class Tiles>
KernelCost cost_of_experts(const Chip& chip, const GemmParameters& p, const models::GroupedGemm& g,
                           const Tiles& tiles_of) {
  const double rows = static_cast<double>(g.rows), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
  if (rows <= 0 || n <= 0 || k <= 0) return {};
  const FlopsPerSecond peak = chip.peak(g.weights, g.activations);
  const double weight_bytes = g.weights.bytes_with_scales(), activation_bytes = g.activations.bytes;
  const double experts = std::max(1.0, g.experts_touched);
  const double bytes = experts * k * n * weight_bytes + rows * (k + n) * activation_bytes;

  const MainKernel kernel(chip, p, peak, bytes, weight_bytes, activation_bytes);
  double best = std::numeric_limits<double>::infinity();
  const double depth = kDepthStep * ceil_div(k, kDepthStep);
  const auto attempt = [&](const Tile& tile, double tiles) {
    const double blocks = tiles * ceil_div(n, tile.columns);
    best = kernel.best_of(
        best, {blocks, kernel.waves_of(blocks), depth, tile, kernel.computing(tile.outputs(), depth) + p.tile.si()}, 0);
  };
  if (const auto chosen = tile_rows(p.row_tiles, g)) {
    const auto tall = static_cast<int>(*chosen);
    const double tiles = tiles_of(tall);
    for (const int columns : kTileColumns) attempt({tall, columns}, tiles);
  } else {
    for (const Tile tile : kTiles)
      if (tile.rows >= p.row_tiles.least && tile.rows <= p.row_tiles.most) attempt(tile, tiles_of(tile.rows));
  }
  const Seconds by_form = p.launch + Seconds(best);
  const auto features = [&] { return features_of(g, is_tuned({p.tuned.begin(), p.tuned.end()}, g)); };
  const double factor = p.correction ? p.correction->factor(features(), by_form) : 1;
  const auto whole = static_cast<int>(least_rows_of(p, g.weights, g.activations));
  // A rank on average has as much to fill up for each expert that it touches as the fullest one.
  const auto spent = g.average.value_or(models::GroupedGemm::Average{rows, experts});
  const double filled = std::max(0.0, tiles_of(whole) * whole - rows) * (spent.experts_touched / experts);
  const double expert_bytes = spent.experts_touched * k * n * weight_bytes;
  KernelCost cost = cost_of(chip, peak, factor * by_form.si(), spent.rows, spent.rows, 2 * n * k,
                            expert_bytes + spent.rows * (k + n) * activation_bytes);
  cost.padding = Flops(filled * (2 * n * k));
  cost.expert_bytes = Bytes(expert_bytes);
  cost.launch = std::min(kLongestLaunch, p.launch);
  return cost;
}

}  // namespace

KernelCost grouped_gemm_cost(const Chip& chip, const GemmParameters& p, const models::GroupedGemm& g) {
  return cost_of_experts(chip, p, g, [&g](int tile_rows) { return expert_tiles(g, tile_rows); });
}
KernelCost grouped_gemm_cost(const Chip& chip, const GemmParameters& p, const models::GroupedGemm& g,
                             const ExpertTiles& tiles) {
  return cost_of_experts(chip, p, g, tiles);
}

namespace {

void add_tile_fields(Fields<GemmParameters>& f) {
  using P = GemmParameters;
  f.add("compute_efficiency", &P::compute_efficiency, "share of the peak inside full tiles")
      .required()
      .above(0)
      .at_most(1.3);
  f.add("memory_efficiency", &P::memory_efficiency, "share of the memory bandwidth").required().above(0).at_most(1.3);
  f.add("launch", &P::launch, "launch gap, prologue and epilogue inside a graph").required().at_least(0);
  f.add("tile", &P::tile, "what a tile costs beside its depth: of a GEMM the outputs of 128 x 128, of experts any")
      .required()
      .at_least(0);
  f.add("cta_bandwidth", &P::cta_bandwidth, "memory bandwidth that one thread block can draw").required().above(0);
  f.add("wave_quantisation", &P::wave_quantisation, "1 for classic waves, 0 for persistent kernels")
      .required()
      .between(0, 1);
  f.add("l2_bandwidth", &P::l2_bandwidth, "bandwidth from L2 to the multiprocessors").required().above(0);
  f.add("split", &P::split, "second pass of split-K").required().at_least(0);
  f.add("least_tile_rows", &P::least_tile_rows, "rows of the shortest tile").between(16, 64).power_of_two();
  f.add_group("row_tiles", &P::row_tiles, row_tiles_fields(), "how the rows of tiles are chosen");
}

void add_range_fields(Fields<GemmParameters>& f) {
  using P = GemmParameters;
  f.add("most_rows", &P::most_rows, "range of the fit: most tokens").required().at_least(1);
  f.add("least_width", &P::least_width, "range of the fit: narrower side of the weights").required().at_least(1);
  add_correction_field(f);
  add_fit_fields(f);
}

}  // namespace

const Fields<GemmParameters>& gemm_fields() {
  static const Fields<GemmParameters> fields = [] {
    Fields<GemmParameters> f("gemm", "GEMMs in tiles (docs: kernel model, form b)");
    add_tile_fields(f);
    f.add_group("deep_gemm", &GemmParameters::deep_gemm, deep_gemm_fields(),
                "products in the tiles of DeepGEMM, and no others");
    add_range_fields(f);
    return f;
  }();
  return fields;
}

const Fields<GemmParameters>& expert_gemm_fields() {
  static const Fields<GemmParameters> fields = [] {
    Fields<GemmParameters> f("expert_gemm", "GEMMs of experts in tiles (docs: kernel model, form b)");
    add_tile_fields(f);
    f.add_group("tuned", &GemmParameters::tuned, tuned_shape_fields(),
                "experts whose kernels are tuned, other than the rest");
    add_range_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
