// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "base/sourced.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace llmscape::hardware {

// Kernels err alike in steps of like size: up to 64 tokens, up to 1,024, more.
enum class Regime { small, medium, large };
inline constexpr std::size_t kRegimes = 3;
inline constexpr std::array<std::string_view, kRegimes> kRegimeNames = {"small", "medium", "large"};
Regime regime_of(std::int64_t tokens);

// How measurements lay about a fit: quantiles of log(measured / predicted) over rows that the fit had not seen, evenly
// spaced from the least to the greatest, by regime. An empty list: not known.
struct Residuals {
  std::vector<double> small, medium, large;
};
const Fields<Residuals>& residuals_fields();
// Of some regime at least.
bool known(const Residuals& residuals);

// The same for all regimes, known or supposed: never empty.
using Spread = std::array<std::vector<double>, kRegimes>;
// What is supposed where residuals are not known: even over +-5 % (measured), 15 % (fitted: the 90 % half-widths of
// fits from 160 rows), 30 % (the others: the error of carrying a fit to another generation; cost model 3.2, 4).
Spread spread_of(Tag tag, const Residuals& residuals = {});
// Of two, in each regime the one that reaches further.
Spread wider(const Spread& a, const Spread& b);

// The factor on predicted times at `rank`, 0 to 1, of the quantiles.
double factor_at(std::span<const double> quantiles, double rank);

}  // namespace llmscape::hardware
