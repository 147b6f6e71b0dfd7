// SPDX-License-Identifier: Apache-2.0
#include "workloads/laws.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace llmscape::workloads {

Law fixed_law(double value) {
  return [value](RandomStream&) { return value; };
}

Law uniform_law(double low, double high) {
  return [low, width = high - low](RandomStream& stream) { return low + width * stream.uniform(); };
}

Law exponential_law(double mean) {
  return [mean](RandomStream& stream) { return stream.exponential(mean); };
}

Law log_normal_law(double mean, double cv) {
  const double variance = std::log1p(cv * cv);
  return [log_mean = std::log(mean) - variance / 2, log_sd = std::sqrt(variance)](RandomStream& stream) {
    return stream.log_normal(log_mean, log_sd);
  };
}

Law gamma_law(double mean, double cv) {
  return [shape = 1 / (cv * cv), scale = mean * cv * cv](RandomStream& stream) { return stream.gamma(shape, scale); };
}

Law pareto_law(double mean, double shape) {
  return [minimum = mean * (shape - 1) / shape, shape](RandomStream& stream) { return stream.pareto(minimum, shape); };
}

Law geometric_law(double mean) {
  if (mean <= 1) return fixed_law(1);
  return [log_go_on = std::log1p(-1 / mean)](RandomStream& stream) {
    return 1 + std::floor(std::log(stream.uniform()) / log_go_on);
  };
}

Law zipf_law(std::int64_t low, std::int64_t high, double exponent) {
  return [low, ranks = Zipf(high - low + 1, exponent)](RandomStream& stream) {
    return static_cast<double>(low + ranks.draw(stream));
  };
}

Law empirical_law(std::vector<double> values, std::vector<double> weights) {
  return [observed = Empirical(std::move(values), std::move(weights))](RandomStream& stream) {
    return observed.draw(stream);
  };
}

double quantile(const std::vector<double>& shares, const std::vector<double>& values, double share) {
  // The last share is 1 and no draw reaches it, the first is 0 and all are above it.
  const auto right = static_cast<std::size_t>(std::upper_bound(shares.begin(), shares.end(), share) - shares.begin());
  const double within = (share - shares[right - 1]) / (shares[right] - shares[right - 1]);
  return values[right - 1] + within * (values[right] - values[right - 1]);
}

Law quantile_law(std::vector<double> shares, std::vector<double> values) {
  return [shares = std::move(shares), values = std::move(values)](RandomStream& stream) {
    return quantile(shares, values, stream.uniform());
  };
}

}  // namespace llmscape::workloads
