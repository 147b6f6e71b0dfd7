// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/row_tiles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace llmscape::hardware {
namespace {

using models::GroupedGemm;

constexpr std::array<std::int64_t, 5> kMarlinRows = {8, 16, 32, 48, 64};
constexpr double kMarlinFill = 0.9;

double own_rows(const GroupedGemm& g) { return static_cast<double>(g.rows) / std::max(1, g.experts_held); }

// Kernels that were not told of other tokens see the rank's own rows.
double seen_rows(const GroupedGemm& g) {
  return g.seen_tokens > 0 ? static_cast<double>(g.seen_tokens) * g.experts_per_token / std::max(1, g.experts_held)
                           : own_rows(g);
}

std::int64_t power_of_two(const RowTiles& tiles, double rows) {
  const auto whole = static_cast<std::uint64_t>(std::ceil(std::max(1.0, rows / static_cast<double>(tiles.per_expert))));
  return std::clamp(static_cast<std::int64_t>(std::bit_ceil(whole)), tiles.least, tiles.most);
}

std::int64_t marlin_rows(double rows) {
  const auto* enough = std::ranges::find_if(
      kMarlinRows, [&](std::int64_t tile) { return rows < kMarlinFill * static_cast<double>(tile); });
  return enough == kMarlinRows.end() ? kMarlinRows.back() : *enough;
}

// Rows of an expert of the rank's own and of all that it sees, in the mean, and whether there are few tokens.
std::optional<std::int64_t> chosen(const RowTiles& tiles, double own, double seen, bool few) {
  switch (tiles.choice) {
    case RowTiles::Choice::fastest: break;
    case RowTiles::Choice::own_rows: return power_of_two(tiles, own);
    case RowTiles::Choice::seen_rows: return power_of_two(tiles, seen);
    case RowTiles::Choice::marlin: return marlin_rows(seen);
    case RowTiles::Choice::few_tokens: return few ? tiles.least : tiles.most;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> tile_rows(const RowTiles& tiles, const GroupedGemm& g) {
  return chosen(tiles, own_rows(g), seen_rows(g), (g.seen_tokens > 0 ? g.seen_tokens : g.rows) <= g.experts_held);
}

std::optional<std::int64_t> tile_rows(const RowTiles& tiles, std::int64_t rows) {
  const double all = static_cast<double>(rows);
  return chosen(tiles, all, all, rows <= 1);
}

const Fields<RowTiles>& row_tiles_fields() {
  static const Fields<RowTiles> fields = [] {
    using Choice = RowTiles::Choice;
    Fields<RowTiles> f("row_tiles", "how a kernel chooses the rows of its tiles");
    f.add_enum(
        "choice", &RowTiles::choice,
        {{"fastest", Choice::fastest},
         {"own_rows", Choice::own_rows},
         {"seen_rows", Choice::seen_rows},
         {"marlin", Choice::marlin},
         {"few_tokens", Choice::few_tokens}},
        "fastest: whichever shape is; own_rows, seen_rows: the shortest power of two that takes the mean rows of "
        "an expert, of the rank's own or of all that it sees, or all rows of a product; marlin: 8, 16, 32, 48 or 64, "
        "as Marlin's experts "
        "do by the rows seen; few_tokens: least while no more tokens than experts, then most");
    f.add("least", &RowTiles::least, "rows of the shortest tile").between(8, 256).power_of_two();
    f.add("most", &RowTiles::most, "rows of the longest tile").between(8, 256).power_of_two();
    f.add("per_expert", &RowTiles::per_expert, "tiles that the mean rows of an expert are cut into").between(1, 8);
    f.check([](const RowTiles& tiles, const YamlNode& node, Diagnostics& diagnostics) {
      if (tiles.least > tiles.most) diagnostics.error(node.where, "'least' must not be above 'most'");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
