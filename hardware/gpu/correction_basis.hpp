// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quick_logs.hpp"

#include "hardware/gpu/correction.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace llmscape::hardware {

inline constexpr std::size_t kMostAxes = 4;
inline constexpr double kMostPercent = 69.3;  // a factor of 2, or of a half

inline std::size_t points(const CorrectionTable& table) {
  std::size_t product = 1;
  for (const CorrectionAxis& axis : table.axes) product *= static_cast<std::size_t>(axis.points);
  return product;
}

// log2 of a value above 0, exact of powers of two: first points of tables are such, nearly all, and sides of models
// often.
inline double log2_of_point(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<int>(bits >> 52);
  return (bits & 0xfffffffffffffu) == 0 && exponent > 0 ? exponent - 1023 : quick_log2(value);
}

// Where features lie in a table of at least one axis and at most kMostAxes: the cell, and how far off the table's edge.
class TablePlace {
 public:
  TablePlace(const CorrectionTable& table, const Features& features) : axes_(table.axes.size()) {
    std::size_t stride = 1;
    for (std::size_t i = axes_; i-- > 0;) {
      const CorrectionAxis& axis = table.axes[i];
      const auto last = static_cast<double>(axis.points - 1);
      const double asked = (features.log2(axis.feature) - log2_of_point(axis.first)) / axis.octaves;
      const double inside = std::clamp(asked, 0.0, last);
      const auto below = std::min(static_cast<std::int64_t>(inside), std::max<std::int64_t>(0, axis.points - 2));
      const bool ends_hold = axis.feature == Feature::seconds && std::isfinite(asked);
      if (!ends_hold) octaves_off_ = std::max(octaves_off_, std::abs(asked - inside) * axis.octaves);
      share_[i] = inside - static_cast<double>(below);
      stride_[i] = stride;
      corner_ += stride * static_cast<std::size_t>(below);
      stride *= static_cast<std::size_t>(axis.points);
    }
  }

  [[nodiscard]] double octaves_off() const { return octaves_off_; }

  // Calls visit(point, weight) for the corners of the cell that weigh something; the weights sum to 1. Where a feature
  // lies on a point of its axis, as sides of models mostly do, only half of them do.
  template <class Visit>
  void each_corner(Visit visit) const {
    std::array<std::size_t, std::size_t{1} << kMostAxes> points;
    std::array<double, std::size_t{1} << kMostAxes> weights;
    points[0] = corner_;
    weights[0] = 1;
    std::size_t corners = 1;
    for (std::size_t i = 0; i < axes_; ++i) {
      if (share_[i] == 0) continue;
      for (std::size_t corner = 0; corner < corners; ++corner) {
        points[corners + corner] = points[corner] + stride_[i];
        weights[corners + corner] = weights[corner] * share_[i];
        weights[corner] *= 1 - share_[i];
      }
      corners *= 2;
    }
    for (std::size_t corner = 0; corner < corners; ++corner)
      if (weights[corner] > 0) visit(points[corner], weights[corner]);
  }

 private:
  std::size_t axes_;
  std::array<double, kMostAxes> share_;
  std::array<std::size_t, kMostAxes> stride_;
  std::size_t corner_ = 0;
  double octaves_off_ = 0;
};

}  // namespace llmscape::hardware
