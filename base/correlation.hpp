// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

namespace llmscape {

// Pearson's, of two lists of one length; nothing where one of them does not vary.
std::optional<double> correlation(const std::vector<double>& xs, const std::vector<double>& ys);

// Spearman's: that of their ranks. Equal values share the mean of their ranks, and values that differ by less than a
// billionth are equal: rounding alone puts nothing in an order.
std::optional<double> rank_correlation(const std::vector<double>& xs, const std::vector<double>& ys);

}  // namespace llmscape
