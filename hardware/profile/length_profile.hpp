// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>
#include <vector>

namespace llmscape::hardware {

// A quantity that was measured at some prompt lengths: linear between them, and beyond them as in the nearest piece,
// but for short prompts at least in proportion to their length: a steep first piece would fall below 0.
class LengthProfile {
 public:
  struct Point {
    double tokens, value;
  };
  // At least two points, by rising length, from above 0 on.
  explicit LengthProfile(std::vector<Point> points) : points_(std::move(points)) {}
  [[nodiscard]] double at(double tokens) const;
  // Between the shortest and the longest that was measured.
  [[nodiscard]] bool covers(double tokens) const { return shortest() <= tokens && tokens <= longest(); }
  [[nodiscard]] double shortest() const { return points_.front().tokens; }
  [[nodiscard]] double longest() const { return points_.back().tokens; }

 private:
  std::vector<Point> points_;
};

}  // namespace llmscape::hardware
