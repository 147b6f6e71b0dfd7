// SPDX-License-Identifier: Apache-2.0
#include "hardware/residuals.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

double supposed_half_width(Tag tag) {
  switch (tag) {
    case Tag::measured: return 0.05;
    case Tag::fitted: return 0.15;
    case Tag::datasheet:
    case Tag::fitted_end_to_end:
    case Tag::assumed: break;
  }
  return 0.30;
}

}  // namespace

Regime regime_of(std::int64_t tokens) {
  if (tokens <= 64) return Regime::small;
  return tokens <= 1024 ? Regime::medium : Regime::large;
}

bool known(const Residuals& residuals) {
  return !residuals.small.empty() || !residuals.medium.empty() || !residuals.large.empty();
}

const Fields<Residuals>& residuals_fields() {
  static const Fields<Residuals> fields = [] {
    using P = Residuals;
    Fields<P> f("residuals",
                "quantiles of log(measured / predicted) over rows that the fit had not seen, evenly spaced from the "
                "least to the greatest");
    f.add("small", &P::small, "in steps of up to 64 tokens").between(-5, 5);
    f.add("medium", &P::medium, "in steps of up to 1,024 tokens").between(-5, 5);
    f.add("large", &P::large, "in larger steps").between(-5, 5);
    f.check([](const P& residuals, const YamlNode& node, Diagnostics& diagnostics) {
      for (const auto* quantiles : {&residuals.small, &residuals.medium, &residuals.large})
        if (quantiles->size() == 1 || !std::ranges::is_sorted(*quantiles))
          diagnostics.error(node.where, "quantiles are two or more numbers that do not fall");
    });
    return f;
  }();
  return fields;
}

Spread spread_of(Tag tag, const Residuals& residuals) {
  const double half_width = supposed_half_width(tag);
  Spread spread = {residuals.small, residuals.medium, residuals.large};
  for (auto& quantiles : spread)
    if (quantiles.empty()) quantiles = {std::log1p(-half_width), std::log1p(half_width)};
  return spread;
}

Spread wider(const Spread& a, const Spread& b) {
  const auto width = [](const std::vector<double>& quantiles) { return quantiles.back() - quantiles.front(); };
  Spread wide = a;
  for (std::size_t regime = 0; regime < kRegimes; ++regime)
    if (width(b[regime]) > width(a[regime])) wide[regime] = b[regime];
  return wide;
}

double factor_at(std::span<const double> quantiles, double rank) {
  const double place = rank * static_cast<double>(quantiles.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), quantiles.size() - 2);
  return std::exp(std::lerp(quantiles[below], quantiles[below + 1], place - static_cast<double>(below)));
}

}  // namespace llmscape::hardware
