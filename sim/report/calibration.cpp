// SPDX-License-Identifier: Apache-2.0
#include "sim/report/calibration.hpp"
#include "sim/report/units.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/table.hpp"

namespace llmscape::report {
namespace {

using hardware::ErrorSummary;
using hardware::FamilyReport;
using Json = nlohmann::ordered_json;

Json json_of(const ErrorSummary& errors) {
  return {{"rows", errors.rows},
          {"mape", errors.mean},
          {"median", errors.median},
          {"p95", errors.p95},
          {"bias", errors.bias}};
}

Json json_of(const FamilyReport& report) {
  Json json = {{"family", report.family},
               {"form", report.form},
               {"data", report.data},
               {"in_sample", json_of(report.in_sample)},
               {"held_out", json_of(report.held_out)}};
  if (report.half_width) json["half_width"] = *report.half_width;
  for (const auto& regime : report.regimes) {
    Json& out = json["regimes"][regime.name] = json_of(regime.held_out);
    if (regime.half_width) out["half_width"] = *regime.half_width;
    if (!regime.residual_quantiles.empty()) out["residual_quantiles"] = regime.residual_quantiles;
  }
  for (const auto& p : report.fitted)
    json["parameters"][p.name] = {
        {"value", p.value}, {"standard_error", p.standard_error}, {"identified", p.identified()}};
  if (!report.warnings.empty()) json["warnings"] = report.warnings;
  return json;
}

// With what a part of its rows is, where it is not all of them by one form.
std::string name_of(const FamilyReport& report) {
  const bool whole = report.form.empty() || report.form.starts_with("physical");
  return whole ? report.family : report.family + ": " + report.form;
}

}  // namespace

std::string calibration_text(const std::vector<FamilyReport>& reports, int width) {
  Table errors({"family", "data", "MAPE", "median", "p95", "bias", "90 % within"});
  Table parameters({"family", "parameter", "value", "+-"});
  std::string warnings;
  for (const FamilyReport& report : reports) {
    const ErrorSummary& e = report.held_out;
    errors.row({name_of(report), report.data, percent(e.mean), percent(e.median), percent(e.p95), percent(e.bias),
                percent(report.half_width)});
    for (const auto& p : report.fitted)
      parameters.row({report.family, p.name, fmt::format("{:.4g}", p.value),
                      p.identified() ? percent(p.standard_error) : "not identified"});
    for (const std::string& warning : report.warnings) warnings += fmt::format("{}: {}\n", report.family, warning);
  }
  std::string text = "Errors on shapes that the fit had not seen:\n" + errors.text(width) +
                     "\nParameters, in s and B/s where they have units:\n" + parameters.text(width);
  if (!warnings.empty()) text += "\n" + warnings;
  return text;
}

std::string calibration_json(const std::vector<FamilyReport>& reports) {
  Json json = {{"schema", "calibration/1"}, {"families", Json::array()}};
  for (const FamilyReport& report : reports) json["families"].push_back(json_of(report));
  return json.dump(2) + "\n";
}

}  // namespace llmscape::report
