// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/gpu/correction.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {

inline constexpr std::size_t kMostAxes = 4;
inline constexpr double kMostPercent = 69.3;  // a factor of 2, or of a half

inline std::size_t points(const CorrectionTable& table) {
  std::size_t product = 1;
  for (const CorrectionAxis& axis : table.axes) product *= static_cast<std::size_t>(axis.points);
  return product;
}

// Where features lie in a table of at least one axis and at most kMostAxes: the cell, and how far off the table's edge.
class TablePlace {
 public:
  TablePlace(const CorrectionTable& table, const Features& features) : axes_(table.axes.size()) {
    for (std::size_t i = 0; i < axes_; ++i) {
      const CorrectionAxis& axis = table.axes[i];
      const double first = std::log2(axis.first), last = static_cast<double>(axis.points - 1);
      const double asked = (features.log2(axis.feature) - first) / axis.octaves;
      const double inside = std::clamp(asked, 0.0, last);
      const double below = std::min(std::floor(inside), std::max(0.0, last - 1));
      octaves_off_ = std::max(octaves_off_, std::abs(asked - inside) * axis.octaves);
      share_[i] = inside - below;
      stride_[i] = axis.points > 1 ? 1 : 0;
      for (std::size_t j = 0; j < i; ++j) stride_[j] *= static_cast<std::size_t>(axis.points);
      corner_ = corner_ * static_cast<std::size_t>(axis.points) + static_cast<std::size_t>(below);
    }
  }

  [[nodiscard]] double octaves_off() const { return octaves_off_; }

  // Calls visit(point, weight) for the corners of the cell; the weights sum to 1.
  template <class Visit>
  void each_corner(Visit visit) const {
    for (std::size_t corner = 0; corner < std::size_t{1} << axes_; ++corner) {
      std::size_t point = corner_;
      double weight = 1;
      for (std::size_t i = 0; i < axes_; ++i) {
        const bool upper = corner >> i & 1;
        point += upper ? stride_[i] : 0;
        weight *= upper ? share_[i] : 1 - share_[i];
      }
      if (weight > 0) visit(point, weight);
    }
  }

 private:
  std::size_t axes_;
  std::array<double, kMostAxes> share_{};
  std::array<std::size_t, kMostAxes> stride_{};
  std::size_t corner_ = 0;
  double octaves_off_ = 0;
};

}  // namespace llmscape::hardware
