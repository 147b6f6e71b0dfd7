// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace llmscape::hardware {

// Of predicted / measured - 1 over some rows: mean, median and 95th percentile of its size, and its mean with the sign.
struct ErrorSummary {
  std::size_t rows = 0;
  double mean = 0, median = 0, p95 = 0, bias = 0;  // 0 without rows

  template <class Message>
  void cross(Message& m) {
    m(rows, mean, median, p95, bias);
  }
};
ErrorSummary summarise(std::span<const double> predicted, std::span<const double> measured);

// Half-width of the interval that holds a fresh residual with this probability: the ceil((m + 1) coverage)-th smallest
// of the sizes of m held-out residuals (split conformal prediction). Nothing when there are too few of them.
std::optional<double> conformal_half_width(std::vector<double> held_out_residuals, double coverage);

}  // namespace llmscape::hardware
