// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/law_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "workloads/fit/fit_lengths.hpp"

namespace llmscape::workloads {
namespace {

constexpr std::size_t kMostCounts = 40;

YamlNode list_node(const std::vector<double>& values) {
  YamlNode out;
  out.kind = YamlNode::Kind::sequence;
  for (const double value : values) out.items.push_back(number_node(value));
  return out;
}

}  // namespace

YamlNode number_node(double value) { return YamlNode::scalar(fmt::format("{:.5g}", value)); }

YamlNode quantile_lengths(std::vector<double> values) {
  std::ranges::sort(values);
  YamlNode out;
  if (values.front() == values.back()) {
    out.set("kind", YamlNode::scalar("fixed"));
    out.set("value", YamlNode::scalar(fmt::format("{:.0f}", values.front())));
    return out;
  }
  std::vector<double> shares, quantiles;
  for (const double share : law_shares(values)) {
    const double quantile = quantile_of(values, share);
    // Between two that are alike it says nothing.
    if (const std::size_t n = quantiles.size(); n > 1 && quantiles[n - 2] == quantile && quantiles[n - 1] == quantile) {
      shares.back() = share;
      continue;
    }
    shares.push_back(share);
    quantiles.push_back(quantile);
  }
  out.set("kind", YamlNode::scalar("quantiles"));
  out.set("shares", list_node(shares));
  out.set("values", list_node(quantiles));
  out.set("min", YamlNode::scalar("0"));
  return out;
}

YamlNode observed_counts(std::vector<double> values) {
  std::map<double, double> counts;
  for (const double value : values) ++counts[value];
  if (counts.size() == 1 || counts.size() > kMostCounts) return quantile_lengths(std::move(values));
  std::vector<double> observed, weights;
  for (const auto& [value, count] : counts) {
    observed.push_back(value);
    weights.push_back(count);
  }
  YamlNode out;
  out.set("kind", YamlNode::scalar("empirical"));
  out.set("values", list_node(observed));
  out.set("weights", list_node(weights));
  return out;
}

YamlNode log_normal_durations(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, values.size()));
  const double mean = sum / count, variance = squares / count - mean * mean;
  YamlNode out;
  if (variance <= 1e-9 * mean * mean) {
    out.set("kind", YamlNode::scalar("fixed"));
    out.set("value", YamlNode::scalar(fmt::format("{:.5g} s", mean)));
    return out;
  }
  out.set("kind", YamlNode::scalar("log_normal"));
  out.set("mean", YamlNode::scalar(fmt::format("{:.5g} s", mean)));
  out.set("cv", number_node(std::sqrt(variance) / mean));
  return out;
}

}  // namespace llmscape::workloads
