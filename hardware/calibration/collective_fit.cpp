// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/collective_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/fitted_group.hpp"
#include "hardware/calibration/size_correction_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>

namespace llmscape::hardware {
namespace {

using traces::TimedCollective;
using Kind = models::Collective::Kind;

constexpr std::int64_t kBytesOfToken = 8192;  // 4,096 values of 16 bits
// vLLM's own all-reduce leaves tensors of 8 MiB and more to NCCL (custom_all_reduce.py, max_size); SGLang 0.5.14's
// takes 16 MiB itself: 55.5 us over two H200 where NCCL's takes 76.2, and as long as NCCL's from 32 MiB on. In four
// digits, as device files have them, on the right side of these sizes.
std::optional<std::int64_t> own_below(const TimedCollective& r) {
  if (r.implementation.starts_with("vllm_")) return 8'388'000;
  if (r.implementation.starts_with("sglang_")) return 16'780'000;
  return std::nullopt;
}
// From this size on vLLM reduces in two shots (a reduce-scatter and an all-gather) what it reduces in one below: 512
// KiB over four ranks, 256 KiB over eight (csrc/custom_all_reduce.cuh). In four digits as well.
std::optional<Bytes> two_shots_from(const TimedCollective& r) {
  if (!r.implementation.starts_with("vllm_") || r.ranks <= 2) return std::nullopt;
  return Bytes(r.ranks <= 4 ? 524'200.0 : 262'100.0);
}
// Timed with a copy of the buffer and the launch, which steps pay elsewhere.
bool eager(const TimedCollective& r) { return r.implementation.ends_with("_eager"); }

std::optional<Kind> kind_named(std::string_view name) {
  if (name == "all_reduce") return Kind::all_reduce;
  if (name == "all_gather") return Kind::all_gather;
  if (name == "reduce_scatter") return Kind::reduce_scatter;
  if (name == "all_to_all") return Kind::all_to_all;
  if (name == "send") return Kind::send;
  return std::nullopt;
}

models::Collective operation(const TimedCollective& r, Kind kind) {
  return {kind, static_cast<double>(r.bytes), static_cast<int>(r.ranks)};
}

// Wide: links of a server reach from 2 GB/s through its host to 900 GB/s in a switch.
std::vector<FreeParameter> free_parameters() {
  return {{"latency", 0.5e-6, 1e-3, 10e-6, 1.0},
          {"bandwidth", 0.5e9, 2e12, 200e9, 1.0},
          {"root_term", 1e-12, 1e-6, 5e-9, 1.0}};
}

// No collective on a smaller tensor needs twice what it needs for the next larger one and the next smaller.
constexpr double kDisturbed = 2;

void leave_disturbed(std::vector<TimedCollective>& by_size) {
  const auto disturbed = [&](std::size_t i) {
    const Seconds limit = by_size[i].time / kDisturbed;
    return by_size[i - 1].time < limit && by_size[i + 1].time < limit;
  };
  std::vector<TimedCollective> kept;
  for (std::size_t i = 0; i < by_size.size(); ++i)
    if (i == 0 || i + 1 == by_size.size() || !disturbed(i)) kept.push_back(by_size[i]);
  by_size = std::move(kept);
}

// Of sorted messages.
CollectiveCalibration fit(std::span<const TimedCollective> records, Kind kind) {
  const TimedCollective& first = records.front();
  FormProblem problem;
  problem.family = "collectives";
  problem.parameters = free_parameters();
  for (const TimedCollective& r : records) {
    problem.measured.push_back(r.time.si());
    problem.groups.push_back({r.bytes, 0});
    problem.regime.push_back(regime_of(r.bytes / kBytesOfToken));
  }
  const auto parameters_of = [&](std::span<const double> free) {
    CollectiveFit p;
    p.kind = kind;
    p.ranks = static_cast<int>(first.ranks);
    p.latency = Seconds(free[0]);
    p.bandwidth = BytesPerSecond(free[1]);
    p.root_term = Seconds(free[2]);
    return p;
  };
  problem.form = [&](std::span<const double> free) {
    return [&, links = Links{{parameters_of(free)}, {}, {}, {}}](std::size_t row) {
      return collective_time(links, operation(records[row], kind)).si();
    };
  };
  CollectiveCalibration calibration;
  calibration.implementation = first.implementation;
  calibration.report = fit_and_validate(problem);
  calibration.parameters = parameters_of(values_of(calibration.report.fitted));

  const auto correction = [&](const FormProblem::Pricing& form, std::span<const std::size_t> seen) {
    std::vector<SizeResidual> residuals;
    for (const std::size_t row : seen)
      residuals.push_back({static_cast<double>(records[row].bytes), std::log(problem.measured[row] / form(row))});
    return size_correction(residuals, Bytes(static_cast<double>(first.bytes)), two_shots_from(first));
  };
  problem.refined = [&](const FormProblem::Pricing& form, std::span<const std::size_t> seen) {
    return [&, form, factors = correction(form, seen)](std::size_t row) {
      return form(row) * factors.factor(static_cast<double>(records[row].bytes));
    };
  };
  FamilyReport refined = fit_and_validate(problem);
  if (refined.held_out.mean < calibration.report.held_out.mean) {
    refined.form = "physical + residual table";
    refined.data +=
        fmt::format(" (form alone MAPE {:.1f} %, corrected by size)", 100 * calibration.report.held_out.mean);
    std::vector<std::size_t> all(records.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    calibration.parameters.correction = correction(problem.form(values_of(refined.fitted)), all);
    calibration.report = std::move(refined);
  }
  calibration.report.data =
      fmt::format("{}, {}, {} ranks, {}", first.kind, first.implementation, first.ranks, calibration.report.data);
  calibration.parameters.tag = Tag::fitted;
  if (const auto below = own_below(first)) calibration.parameters.below = Bytes(static_cast<double>(*below));
  return calibration;
}

}  // namespace

std::string why_no_collective(const TimedCollective& record) {
  if (!kind_named(record.kind)) return fmt::format("no collective is called {}", in_quotes(record.kind));
  if (record.ranks_per_node != record.ranks) return "across nodes, whose links are the scenario's";
  if (eager(record)) return "timed with a copy of the tensor and the launch, which steps pay elsewhere";
  if (const auto below = own_below(record); below && record.bytes >= *below)
    return fmt::format("tensors that {} leaves to another kernel", in_quotes(record.implementation));
  return "";
}

std::vector<CollectiveCalibration> fit_collectives(std::span<const TimedCollective> records) {
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::vector<TimedCollective>> sets;
  for (const TimedCollective& r : records)
    if (why_no_collective(r).empty()) sets[{r.kind, r.implementation, r.ranks}].push_back(r);
  std::vector<CollectiveCalibration> all;
  for (auto& [what, set] : sets) {
    if (set.size() < kFewestMessages) continue;
    std::ranges::stable_sort(set, {}, [](const TimedCollective& r) { return r.bytes; });
    leave_disturbed(set);
    all.push_back(fit(set, *kind_named(std::get<0>(what))));
  }
  return all;
}

Residuals pooled_residuals(std::span<const CollectiveCalibration> fits, Kind kind) {
  FamilyReport by_regime;
  for (const CollectiveCalibration& fit : fits)
    if (fit.parameters.kind == kind)
      by_regime.rows.insert(by_regime.rows.end(), fit.report.rows.begin(), fit.report.rows.end());
  FamilyReport together = by_regime;
  for (RowReport& row : together.rows) row.regime = Regime::small;
  const auto quantiles = [](FamilyReport& report) {
    score(report, std::vector<double>(report.rows.size(), 1.0));  // in-sample errors are not asked for
    return residuals_of(report);
  };
  Residuals residuals = quantiles(by_regime);
  const std::vector<double> all = quantiles(together).small;
  for (auto* regime : {&residuals.small, &residuals.medium, &residuals.large})
    if (regime->empty()) *regime = all;
  return residuals;
}

}  // namespace llmscape::hardware
