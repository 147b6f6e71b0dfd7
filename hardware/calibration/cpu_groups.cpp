// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/cpu_groups.hpp"

#include "hardware/calibration/fitted_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llmscape::hardware {

std::vector<YamlNode::Entry> groups_of(const CpuCalibration& calibration, const std::string& source) {
  std::vector<YamlNode::Entry> groups;
  const auto add = [&](const char* key, const auto& fields, auto parameters) {
    const auto report = std::ranges::find(calibration.reports, key, &FamilyReport::family);
    if (report == calibration.reports.end()) return;
    const ErrorSummary& errors = report->held_out;
    parameters.tag = Tag::fitted;
    parameters.source = fmt::format("{}, {}; unseen shapes median {:.1f} %, MAPE {:.1f} %, p95 {:.0f} %", source,
                                    report->data, 100 * errors.median, 100 * errors.mean, 100 * errors.p95);
    groups.push_back({key, {}, fitted_group(fields, std::move(parameters))});
  };
  add("gemm", cpu_products_fields(), calibration.products);
  add("prefill_attention", cpu_attention_fields(), calibration.prefill_attention);
  add("decode_attention", cpu_attention_fields(), calibration.decode_attention);
  add("elementwise", cpu_elementwise_fields(), calibration.elementwise);
  return groups;
}

}  // namespace llmscape::hardware
