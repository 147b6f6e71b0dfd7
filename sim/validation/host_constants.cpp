// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/host_constants.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>

namespace llmscape::validation {

namespace {

constexpr double kScale = 0.1;  // of a logarithm, where the loss turns from square to linear

double loss(double predicted, double measured) {
  const double r = std::log(predicted / measured) / kScale;
  return 2 * (std::sqrt(1 + r * r) - 1);
}

double total_loss(const std::vector<Deployment>& deployments, const HostConstants& constants,
                  const scenario::Catalogs& catalogs, Diagnostics& diagnostics) {
  double sum = 0;
  for (const Deployment& d : deployments) {
    const auto point = simulate(d, constants.overrides(), catalogs, diagnostics);
    if (point) sum += loss(point->ttft_s, d.ttft_s) + loss(point->tpot_s, d.tpot_s);
  }
  return sum;
}

struct Axis {
  double HostConstants::* constant;
  std::vector<double> values;
};

}  // namespace

std::vector<std::string> HostConstants::overrides() const {
  return {fmt::format("hardware.devices[0].host.per_prefill_step={} ms", per_prefill_step_ms),
          fmt::format("serving.front_end.per_call={} ms", per_call_ms),
          fmt::format("serving.front_end.per_token={} us", per_token_us)};
}

std::vector<Deployment> half_of(const std::vector<Deployment>& deployments, bool odd) {
  using Key = std::tuple<std::string, std::string, std::string, int, int, int, std::int64_t, std::int64_t>;
  std::map<Key, std::vector<Deployment>> groups;
  for (const Deployment& d : deployments)
    groups[{d.backend, d.model, d.device, d.plan.tensor, d.plan.expert, d.plan.data, d.input, d.output}].push_back(d);
  std::vector<Deployment> half;
  bool is_odd = false;
  for (const auto& [key, group] : groups) {
    if (is_odd == odd) half.insert(half.end(), group.begin(), group.end());
    is_odd = !is_odd;
  }
  return half;
}

HostConstants fit_host_constants(const std::vector<Deployment>& deployments, const scenario::Catalogs& catalogs,
                                 Diagnostics& diagnostics) {
  const std::vector<Axis> axes = {{&HostConstants::per_prefill_step_ms, {0, 2, 4, 8, 12}},
                                  {&HostConstants::per_call_ms, {5, 10, 15, 20, 30}},
                                  {&HostConstants::per_token_us, {2.25, 4.5, 9}}};
  HostConstants best;
  double least = total_loss(deployments, best, catalogs, diagnostics);
  for (int round = 0; round < 2; ++round)
    for (const Axis& axis : axes)
      for (const double value : axis.values) {
        if (value == best.*axis.constant) continue;
        HostConstants tried = best;
        tried.*axis.constant = value;
        const double sum = total_loss(deployments, tried, catalogs, diagnostics);
        if (sum >= least) continue;
        least = sum;
        best = tried;
      }
  return best;
}

}  // namespace llmscape::validation
