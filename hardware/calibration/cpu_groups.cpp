// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/cpu_groups.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace llmscape::hardware {
namespace {

template <class Value>
YamlNode number(Value value) {
  if constexpr (std::is_same_v<Value, double>) return YamlNode::scalar(fmt::format("{:.4g}", value));
  else return YamlNode::scalar(format(Value(std::stod(fmt::format("{:.4g}", value.si())))));
}

YamlNode numbers(const std::vector<double>& values) {
  YamlNode list;
  list.kind = YamlNode::Kind::sequence;
  for (const double value : values) list.items.push_back(YamlNode::scalar(fmt::format("{:.3f}", value)));
  return list;
}

void add_fit(YamlNode& group, const Fit& fit, const FamilyReport& report, const std::string& source) {
  group.set("tag", YamlNode::scalar("fitted"));
  const ErrorSummary& errors = report.held_out;
  group.set("source",
            YamlNode::scalar(fmt::format("{}, {}; unseen shapes median {:.1f} %, MAPE {:.1f} %, p95 {:.0f} %", source,
                                         report.data, 100 * errors.median, 100 * errors.mean, 100 * errors.p95),
                             true));
  YamlNode residuals;
  const std::array<const std::vector<double>*, kRegimes> lists = {&fit.residuals.small, &fit.residuals.medium,
                                                                  &fit.residuals.large};
  for (std::size_t i = 0; i < lists.size(); ++i)
    if (!lists[i]->empty()) residuals.set(kRegimeNames[i], numbers(*lists[i]));
  if (!residuals.entries.empty()) group.set("residuals", std::move(residuals));
}

YamlNode group_of(const CpuProducts& p) {
  YamlNode group;
  group.set("rate", number(p.rate));
  group.set("hidden_rows", number(p.hidden_rows));
  group.set("bandwidth", number(p.bandwidth));
  group.set("launch", number(p.launch));
  return group;
}

YamlNode group_of(const CpuAttention& p) {
  YamlNode group;
  group.set("rate", number(p.rate));
  group.set("softmax", number(p.softmax));
  group.set("bandwidth", number(p.bandwidth));
  group.set("launch", number(p.launch));
  return group;
}

YamlNode group_of(const CpuElementwise& p) {
  YamlNode group;
  const auto add = [&group](std::string_view key, const CpuStream& stream) {
    YamlNode row;
    row.set("launch", number(stream.launch));
    row.set("bandwidth", number(stream.bandwidth));
    group.set(key, std::move(row));
  };
  add("norm", p.norm);
  add("activation", p.activation);
  add("rope", p.rope);
  add("add", p.add);
  add("embedding", p.embedding);
  add("sampling", p.sampling);
  return group;
}

}  // namespace

std::vector<YamlNode::Entry> groups_of(const CpuCalibration& calibration, const std::string& source) {
  std::vector<YamlNode::Entry> groups;
  const auto add = [&](const char* key, const auto& parameters) {
    YamlNode group = group_of(parameters);
    add_fit(group, parameters, calibration.reports[groups.size()], source);
    groups.push_back({key, {}, std::move(group)});
  };
  add("products", calibration.products);
  add("prefill_attention", calibration.prefill_attention);
  add("decode_attention", calibration.decode_attention);
  add("elementwise", calibration.elementwise);
  return groups;
}

}  // namespace llmscape::hardware
