// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/host_constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/catalog.hpp"
#include "base/yaml_lines.hpp"

namespace llmscape::validation {

namespace {

constexpr double kScale = 0.1;  // of a logarithm, where the loss turns from square to linear

struct Axis {
  double HostConstants::* constant;
  double step, finest;
};

}  // namespace

std::vector<std::string> HostConstants::overrides() const {
  return {fmt::format("hardware.devices[0].host.per_prefill_step={} ms", per_prefill_step_ms),
          fmt::format("serving.front_end.per_call={} ms", per_call_ms),
          fmt::format("serving.front_end.per_token={} us", per_token_us)};
}

double log_loss(double predicted, double measured) {
  const double r = std::log(predicted / measured) / kScale;
  return 2 * (std::sqrt(1 + r * r) - 1);
}

HostConstants fit_host_constants(const std::function<double(const HostConstants&)>& loss) {
  std::vector<Axis> axes = {{&HostConstants::per_prefill_step_ms, 8, 0.25},
                            {&HostConstants::per_call_ms, 8, 0.5},
                            {&HostConstants::per_token_us, 8, 0.25}};
  HostConstants best;
  double least = loss(best);
  const auto helps = [&](const Axis& axis, double step) {
    HostConstants tried = best;
    tried.*axis.constant = std::max(0.0, tried.*axis.constant + step);
    if (tried.*axis.constant == best.*axis.constant) return false;
    const double sum = loss(tried);
    if (sum >= least) return false;
    least = sum;
    best = tried;
    return true;
  };
  const auto goes_on = [](const Axis& axis) { return axis.step >= axis.finest; };
  while (std::ranges::any_of(axes, goes_on))
    for (Axis& axis : axes)
      if (goes_on(axis)) axis.step *= helps(axis, axis.step) || helps(axis, -axis.step) ? 2 : 0.5;
  return best;
}

const Fields<HostConstantsConfig>& host_constants_fields() {
  static const Fields<HostConstantsConfig> fields = [] {
    Fields<HostConstantsConfig> f("host_constants", "what a host and its engine cost beside the kernels");
    f.add("set", &HostConstantsConfig::set,
          "paths of a scenario and their values: {\"hardware.devices[0].host.per_prefill_step\": 8 ms, "
          "serving.front_end.per_call: 20 ms}")
        .required();
    f.add("source", &HostConstantsConfig::source, "where they come from");
    return f;
  }();
  return fields;
}

std::optional<std::vector<std::string>> read_host_constants(const std::filesystem::path& file,
                                                            Diagnostics& diagnostics) {
  const auto tree = description_file(file, "host_constants", diagnostics);
  HostConstantsConfig config;
  if (!tree || !host_constants_fields().read(config, *tree, diagnostics)) return std::nullopt;
  if (!config.set.is_mapping()) {
    diagnostics.error(config.set.where, "'set' is a mapping from paths to values");
    return std::nullopt;
  }
  std::vector<std::string> overrides;
  for (const YamlNode::Entry& entry : config.set.entries) overrides.push_back(entry.key + '=' + yaml_flow(entry.value));
  return overrides;
}

}  // namespace llmscape::validation
