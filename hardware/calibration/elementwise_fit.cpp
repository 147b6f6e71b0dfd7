// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/elementwise_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"
#include "models/format.hpp"
#include "models/operator_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string_view>

namespace llmscape::hardware {
namespace {

using traces::TimedElementwise;
using ElementwiseKind = models::Elementwise::Kind;

constexpr std::size_t kFewestWidths = 3;
constexpr double kElementBytes = 2;  // tables of element-wise kernels are of 16-bit formats

constexpr std::string_view kAdd = "add", kSampling = "sampling", kQuantise = "quantise";

// A kind of kernel with a row of its own.
struct Row {
  std::string_view kind;
  ElementwiseKind what;  // of Elementwise; sampling is an operator apart
  double per_element;    // read and written of one element of the width (cost model 3.3)
  StreamParameters& (*parameters)(ElementwiseParameters&);
};
constexpr std::array kRows = {
    Row{"norm", ElementwiseKind::norm, 2, [](ElementwiseParameters& p) -> StreamParameters& { return p.norm; }},
    Row{"activation", ElementwiseKind::activation, 3,
        [](ElementwiseParameters& p) -> StreamParameters& { return p.activation; }},
    Row{"rope", ElementwiseKind::rope, 2, [](ElementwiseParameters& p) -> StreamParameters& { return p.rope; }},
    Row{kAdd, ElementwiseKind::add, 3,
        [](ElementwiseParameters& p) -> StreamParameters& { return p.add ? *p.add : p.add.emplace(); }},
    Row{"embedding", ElementwiseKind::embedding, 2,
        [](ElementwiseParameters& p) -> StreamParameters& { return p.embedding; }},
    Row{kQuantise, ElementwiseKind::quantise, 0,
        [](ElementwiseParameters& p) -> StreamParameters& { return p.quantise ? *p.quantise : p.quantise.emplace(); }},
    Row{kSampling, ElementwiseKind::norm, 0, [](ElementwiseParameters& p) -> StreamParameters& { return p.sampling; }},
};

// Whether a record is one of a row: a quantisation is named after the format that it writes, which has to be narrow.
bool is_of(const Row& row, const TimedElementwise& r) {
  if (r.kind != row.kind) return false;
  if (row.kind != kQuantise) return true;
  const auto format = models::format_named(r.format);
  return format && models::quantised_bytes(r.rows, r.width, *format) > 0;
}

// Rows of kRows that have records enough.
std::vector<const Row*> rows_of(std::span<const TimedElementwise> records) {
  std::vector<const Row*> rows;
  for (const Row& row : kRows)
    if (std::ranges::count_if(records, [&row](const auto& r) { return is_of(row, r); }) >=
        static_cast<std::ptrdiff_t>(kFewestElementwise))
      rows.push_back(&row);
  return rows;
}

// Whether a kind was timed in widths enough to hold some of them out.
bool many_widths(std::span<const TimedElementwise> records, const Row& row) {
  std::set<std::int64_t> widths;
  for (const TimedElementwise& r : records)
    if (r.kind == row.kind) widths.insert(r.width);
  return widths.size() >= kFewestWidths;
}

KernelCost cost(const Chip& chip, const ElementwiseParameters& p, const Row& row, const TimedElementwise& r) {
  if (row.kind == kSampling) return sample_cost(chip, p, {r.rows, r.width});
  if (row.kind == kQuantise) {
    const double bytes = models::quantised_bytes(r.rows, r.width, *models::format_named(r.format));
    return elementwise_cost(chip, p, {row.what, bytes});
  }
  const double elements = static_cast<double>(r.rows) * static_cast<double>(r.width);
  return elementwise_cost(chip, p, {row.what, row.per_element * kElementBytes * elements});
}

}  // namespace

std::string why_no_elementwise(const TimedElementwise& record) {
  const auto* row = std::ranges::find(kRows, std::string_view(record.kind), &Row::kind);
  if (row == kRows.end()) return fmt::format("no kernel is called {}", in_quotes(record.kind));
  return is_of(*row, record) ? "" : fmt::format("quantised to {}, which is not narrow", in_quotes(record.format));
}

ElementwiseCalibration fit_elementwise(const Chip& chip, std::span<const TimedElementwise> records,
                                       const ElementwiseParameters& before) {
  const std::vector<const Row*> rows = rows_of(records);
  ElementwiseCalibration calibration{before, {}};
  calibration.all_kinds = std::ranges::all_of(kRows, [&](const Row& row) {
    const bool unpriced = (row.kind == kAdd && !before.add) || (row.kind == kQuantise && !before.quantise);
    return unpriced || std::ranges::find(rows, &row) != rows.end();
  });
  if (rows.empty()) return calibration;

  FormProblem problem;
  problem.family = "elementwise";
  std::vector<bool> by_width;
  for (const Row* row : rows) {
    by_width.push_back(many_widths(records, *row));
    problem.parameters.push_back({fmt::format("{}.launch", row->kind), 0.1e-6, 200e-6, 2.5e-6, 0.7});
    problem.parameters.push_back({fmt::format("{}.efficiency", row->kind), 0.02, 3, 0.5, 0.7});
  }
  std::vector<const TimedElementwise*> timed;
  std::vector<std::size_t> row_of;
  for (const TimedElementwise& r : records) {
    const auto row = std::ranges::find_if(rows, [&r](const Row* known) { return is_of(*known, r); });
    if (row == rows.end()) continue;
    timed.push_back(&r);
    row_of.push_back(static_cast<std::size_t>(row - rows.begin()));
    problem.measured.push_back(r.time.si());
    problem.groups.push_back({row - rows.begin(), by_width[row_of.back()] ? r.width : r.rows});
    problem.regime.push_back(regime_of(r.rows));
  }
  const auto parameters_of = [&](std::span<const double> free) {
    ElementwiseParameters p = before;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i]->parameters(p) = {Seconds(free[2 * i]), free[2 * i + 1]};
    return p;
  };
  problem.form = [&](std::span<const double> free) {
    return [&, p = parameters_of(free)](std::size_t i) { return cost(chip, p, *rows[row_of[i]], *timed[i]).time.si(); };
  };

  calibration.report = fit_and_validate(problem);
  calibration.parameters = parameters_of(values_of(calibration.report.fitted));
  const bool quantisation_alone = rows.size() == 1 && rows.front()->kind == kQuantise;
  if (!quantisation_alone) calibration.parameters.tag = Tag::fitted;
  std::vector<std::string_view> kinds;
  for (const Row* row : rows) kinds.push_back(row->kind);
  calibration.report.data = fmt::format("{}; {}", fmt::join(kinds, ", "), calibration.report.data);
  return calibration;
}

}  // namespace llmscape::hardware
