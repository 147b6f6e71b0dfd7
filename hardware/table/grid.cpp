// SPDX-License-Identifier: Apache-2.0
#include "hardware/table/grid.hpp"

#include <algorithm>
#include <iterator>

namespace llmscape::hardware {

void Grid::add(std::span<const double> point, double value) {
  largest_.resize(point.size());
  std::map<double, Slice>* slices = &slices_;
  for (std::size_t axis = 0; axis < point.size(); ++axis) {
    largest_[axis] = std::max(largest_[axis], point[axis]);
    Slice& slice = (*slices)[point[axis]];
    if (axis + 1 == point.size()) slice.value = value;
    slices = &slice.below;
  }
}

double Grid::at(std::span<const double> point) const { return at(slices_, point); }

double Grid::at(const std::map<double, Slice>& slices, std::span<const double> point) {
  const double x = point.front();
  const auto rest = point.subspan(1);
  auto right = slices.lower_bound(x);
  if (right == slices.begin() || slices.size() == 1 || (right != slices.end() && right->first == x))
    return at(right == slices.end() ? slices.begin()->second : right->second, rest);
  if (right == slices.end()) --right;
  const auto left = std::prev(right);
  const double a = at(left->second, rest), b = at(right->second, rest);
  return a + (b - a) * (x - left->first) / (right->first - left->first);
}

double Grid::at(const Slice& slice, std::span<const double> rest) {
  return rest.empty() ? slice.value : at(slice.below, rest);
}

bool Grid::covers(std::span<const double> point) const {
  return std::equal(point.begin(), point.end(), largest_.begin(), [](double x, double most) { return x <= most; });
}

std::vector<double> Grid::firsts() const {
  std::vector<double> all;
  for (const auto& [x, slice] : slices_) all.push_back(x);
  return all;
}

}  // namespace llmscape::hardware
