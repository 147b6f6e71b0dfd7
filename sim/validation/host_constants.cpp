// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/host_constants.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "base/catalog.hpp"
#include "base/yaml_lines.hpp"

namespace llmscape::validation {

namespace {

constexpr double kScale = 0.1;  // of a logarithm, where the loss turns from square to linear

struct Axis {
  double HostConstants::* constant;
  std::vector<double> values;
};

double total_loss(const MeasuredTable& table, const std::vector<RowPoint>& points) {
  double sum = 0;
  for (const RowPoint& point : points) {
    if (!point.refused.empty()) continue;
    for (const std::string_view name : {"ttft", "tpot"})
      for (std::size_t i = 0; i < table.metrics.size(); ++i)
        if (table.metrics[i].name == name && point.predicted[i] && point.row->measured[i])
          sum += log_loss(*point.predicted[i], *point.row->measured[i]);
  }
  return sum;
}

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
  const std::vector<Axis> axes = {{&HostConstants::per_prefill_step_ms, {0, 2, 4, 8, 12}},
                                  {&HostConstants::per_call_ms, {5, 10, 15, 20, 30}},
                                  {&HostConstants::per_token_us, {2.25, 4.5, 9}}};
  HostConstants best;
  double least = loss(best);
  for (int round = 0; round < 2; ++round)
    for (const Axis& axis : axes)
      for (const double value : axis.values) {
        if (value == best.*axis.constant) continue;
        HostConstants tried = best;
        tried.*axis.constant = value;
        const double sum = loss(tried);
        if (sum >= least) continue;
        least = sum;
        best = tried;
      }
  return best;
}

std::vector<const MeasuredRow*> half_of(const std::vector<const MeasuredRow*>& rows,
                                        const std::vector<std::string>& columns, bool odd) {
  std::map<std::vector<Value>, std::vector<const MeasuredRow*>> groups;
  for (const MeasuredRow* row : rows) {
    std::vector<Value> key;
    for (const std::string& column : columns) key.push_back(row->value(column).value_or(std::string()));
    groups[key].push_back(row);
  }
  std::vector<const MeasuredRow*> half;
  bool is_odd = false;
  for (const auto& [key, group] : groups) {
    if (is_odd == odd) half.insert(half.end(), group.begin(), group.end());
    is_odd = !is_odd;
  }
  return half;
}

HostConstants fit_host_constants(const MeasuredTable& table, const std::vector<const MeasuredRow*>& rows,
                                 const scenario::Catalogs& catalogs, int jobs) {
  return fit_host_constants([&](const HostConstants& constants) {
    return total_loss(table, simulate_rows(table, rows, constants.overrides(), catalogs, jobs));
  });
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
