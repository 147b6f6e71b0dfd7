// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <span>
#include <vector>

namespace llmscape::hardware {

// A measured function of a few counts: linear between neighbouring points on every axis, the first axis outermost. The
// points need not fill a box: each slice has those that were measured in it. Below the first point of an axis the value
// is that of the first point; beyond the last the line through the last two goes on.
class Grid {
 public:
  // All points have the same number of axes, at least one; a point that comes twice keeps its later value.
  void add(std::span<const double> point, double value);
  [[nodiscard]] bool empty() const { return slices_.empty(); }
  [[nodiscard]] double at(std::span<const double> point) const;
  // The largest coordinate on each axis: beyond it at() extrapolates.
  [[nodiscard]] std::span<const double> largest() const { return largest_; }
  [[nodiscard]] bool covers(std::span<const double> point) const;
  // The coordinates of the first axis, ascending.
  [[nodiscard]] std::vector<double> firsts() const;

 private:
  struct Slice {
    std::map<double, Slice> below;
    double value = 0;  // where no axis is left
  };
  static double at(const std::map<double, Slice>& slices, std::span<const double> point);
  static double at(const Slice& slice, std::span<const double> rest);

  std::vector<double> largest_;
  std::map<double, Slice> slices_;
};

}  // namespace llmscape::hardware
