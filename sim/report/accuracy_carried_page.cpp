// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/table.hpp"
#include "hardware/gpu/carried_spread.hpp"
#include "sim/report/accuracy_sections.hpp"
#include "sim/report/units.hpp"

namespace llmscape::report {
namespace {

using hardware::FamilyReport;
using hardware::RowReport;

// The rows of all engines together, by family and format.
std::map<std::pair<std::string, std::string>, std::vector<RowReport>> pooled(const std::vector<FamilyReport>& reports) {
  std::map<std::pair<std::string, std::string>, std::vector<RowReport>> all;
  for (const FamilyReport& report : reports) {
    auto& rows = all[{report.family, report.data}];
    rows.insert(rows.end(), report.rows.begin(), report.rows.end());
  }
  return all;
}

// What `run --intervals` takes for a family of reports.
std::optional<double> interval_of(const std::string& family) {
  using hardware::OperatorFamily;
  if (family == "gemm") return hardware::carried_half_width(OperatorFamily::gemm);
  if (family == "expert_gemm") return hardware::carried_half_width(OperatorFamily::grouped_gemm);
  if (family.ends_with("prefill_attention")) return hardware::carried_half_width(OperatorFamily::prefill_attention);
  if (family.ends_with("decode_attention")) return hardware::carried_half_width(OperatorFamily::decode_attention);
  return hardware::carried_half_width(OperatorFamily::collective);
}

// Errors of some rows as cells, with the share of them that an interval holds.
std::vector<std::string> cells_of(const std::string& family, const std::string& format,
                                  const std::vector<RowReport>& rows) {
  std::vector<double> predicted, measured, residuals;
  std::size_t inside = 0;
  const auto interval = interval_of(family);
  for (const RowReport& row : rows) {
    predicted.push_back(row.held_out);
    measured.push_back(row.measured);
    residuals.push_back(std::log(row.measured / row.held_out));
    if (interval && std::abs(residuals.back()) <= *interval) ++inside;
  }
  const auto errors = hardware::summarise(predicted, measured);
  const auto width = hardware::conformal_half_width(residuals, 0.9);
  return {family,
          format,
          fmt::format("{}", rows.size()),
          percent(errors.median),
          percent(errors.mean),
          signed_percent(errors.bias),
          width ? fmt::format("a factor of {:.2f}", std::exp(*width)) : "-",
          percent(static_cast<double>(inside) / static_cast<double>(rows.size()))};
}

}  // namespace

CarriedTotal total_of(const CarriedAccuracy& pair) {
  std::vector<double> errors;
  std::size_t inside = 0;
  for (const FamilyReport& report : pair.families)
    for (const RowReport& row : report.rows) {
      errors.push_back(std::abs(row.held_out / row.measured - 1));
      const auto interval = interval_of(report.family);
      if (interval && std::abs(std::log(row.measured / row.held_out)) <= *interval) ++inside;
    }
  if (errors.empty()) return {};
  std::ranges::sort(errors);
  return {errors.size(), errors[errors.size() / 2], errors[errors.size() * 9 / 10],
          static_cast<double>(inside) / static_cast<double>(errors.size())};
}

std::string carried_section(const std::vector<CarriedAccuracy>& pairs) {
  std::string text =
      "## A chip that was never measured\n\nKernels of one chip, predicted by the fits of another one at the figures "
      "of "
      "both data sheets, as a scenario that lays a new chip's peaks, bandwidth, multiprocessors and L2 over a known "
      "one "
      "does; engines together. A format, or an engine, whose kernels the other chip lacks is priced by its own 16-bit "
      "ones at the new peak. What `run --intervals` takes for such fits comes from the first pair, all formats of a "
      "family "
      "together, latent attention or not; the other pairs check it.\n\n";
  for (const CarriedAccuracy& pair : pairs) {
    Table table({"family", "format", "rows", "median", "mean", "bias", "90 % of rows within", "intervals hold"});
    std::map<std::string, std::vector<RowReport>> whole;
    for (const auto& [which, rows] : pooled(pair.families)) {
      table.row(cells_of(which.first, which.second, rows));
      whole[which.first].insert(whole[which.first].end(), rows.begin(), rows.end());
    }
    for (const auto& [family, rows] : whole) table.row(cells_of(family, "all", rows));
    for (const std::string family : {"prefill_attention", "decode_attention"}) {
      std::vector<RowReport> both = whole[family];
      const std::vector<RowReport>& latent = whole["latent_" + family];
      both.insert(both.end(), latent.begin(), latent.end());
      if (!latent.empty()) table.row(cells_of("latent or not: " + family, "all", both));
    }
    text += fmt::format("### {} by the fits of {}\n\n{}\n", pair.to, pair.from, table.markdown());
  }
  return text;
}

}  // namespace llmscape::report
