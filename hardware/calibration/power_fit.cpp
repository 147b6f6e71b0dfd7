// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/power_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/family_fits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace llmscape::hardware {
namespace {

using LoadKind = PowerLoad::Kind;
using traces::PowerReading;

constexpr std::uint64_t kReadingsKey = 0x77617474;  // any fixed number
constexpr double kAtLimit = 0.95;                   // of the limit that was set
constexpr double kPico = 1e-12;

// Where the parameters of the form stand among those that are fitted.
struct Layout {
  std::vector<FreeParameter> parameters;
  std::vector<std::function<void(EnergyParameters&, double)>> setters;

  void add(FreeParameter parameter, std::function<void(EnergyParameters&, double)> set) {
    parameters.push_back(std::move(parameter));
    setters.push_back(std::move(set));
  }
  // Leaves out what is held at the figure of the base.
  void hold(std::span<const std::string> held) {
    Layout left;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (std::ranges::find(held, parameters[i].name) == held.end()) left.add(parameters[i], setters[i]);
    *this = std::move(left);
  }
  [[nodiscard]] EnergyParameters laid_on(EnergyParameters energy, std::span<const double> free) const {
    for (std::size_t i = 0; i < setters.size(); ++i) setters[i](energy, free[i]);
    return energy;
  }
};

bool wide(const std::string& format) { return format == "bf16" || format == "fp16"; }

// Priors: watts at work are some third of the limit, dense bf16 work at the peak would take most of it. Kernels that
// stream at one rate tell watts at work and joules of a bit only together (an H200's readings are met as well by 2.7 pJ
// a bit as by 7), so that the latter are held near what is published: 3.9 pJ a bit of HBM2 with its interface (O'Connor
// et al., Fine-Grained DRAM, MICRO 2017), one more on the way through the chip (from memory). A kind of kernel and a
// format have figures of their own where enough readings are of them.
Layout layout_of(const Gpu& gpu, std::span<const PowerLoad> loads, Watts limit) {
  std::map<std::pair<LoadKind, std::string>, std::size_t> rows;
  for (const PowerLoad& load : loads) ++rows[{load.kind, wide(load.format) ? "" : load.format}];
  const double work = 0.9 * limit.si() / gpu.peak_bf16.value.si() / kPico;  // pJ a flop
  const auto per_flop = [](double value) { return JoulesPerFlop(value * kPico); };
  Layout layout;
  layout.add({"active", 0.1 * limit.si(), 0.5 * limit.si(), 0.3 * limit.si(), 0.5},
             [](EnergyParameters& e, double v) { e.active = Watts(v); });
  layout.add({"memory", 2, 15, 5, 0.1}, [](EnergyParameters& e, double v) { e.memory = JoulesPerByte(v * kPico * 8); });
  layout.add({"padding", 0.01, 1, 0.5, 0.5}, [](EnergyParameters& e, double v) { e.padding = v; });
  layout.add({"compute", 0.02, 10, work, 0.7}, [=](EnergyParameters& e, double v) { e.compute = per_flop(v); });
  for (const auto& [which, count] : rows) {
    const auto& [kind, format] = which;
    if (count < kFewestFittedRows) continue;
    if (kind == LoadKind::attention) {
      const auto set = [=, name = format](EnergyParameters& e, double v) {
        (name.empty() ? e.attention : e.by_format[name].attention) = per_flop(v);
      };
      layout.add({format.empty() ? "attention" : format + " attention", 0.02, 3 * work, work / 2, 0.7}, set);
    } else if (kind == LoadKind::experts) {
      const auto set = [=, name = format](EnergyParameters& e, double v) {
        (name.empty() ? e.experts : e.by_format[name].experts) = per_flop(v);
      };
      layout.add({format.empty() ? "experts" : format + " experts", 0.02, 10, work, 0.7}, set);
    } else if (!format.empty()) {
      layout.add({format, 0.02, 10, work / 2, 0.3},
                 [=, name = format](EnergyParameters& e, double v) { e.by_format[name].compute = per_flop(v); });
    }
  }
  return layout;
}

// The readings at the limit that most of them have, the higher of two: a board that is held to less runs slower and at
// a lower voltage, so that its joules are not those of the others.
std::vector<PowerReading> of_one_limit(std::span<const PowerReading> readings) {
  std::map<double, std::size_t> counts;
  for (const PowerReading& reading : readings) ++counts[reading.limit.si()];
  double limit = 0;
  for (const auto& [watts, count] : counts)
    if (limit == 0 || count >= counts[limit]) limit = watts;
  std::vector<PowerReading> same;
  std::ranges::copy_if(readings, std::back_inserter(same),
                       [=](const PowerReading& reading) { return reading.limit.si() == limit; });
  return same;
}

// What the board was held to: the limit where no reading came near it.
Watts held_to(std::span<const PowerLoad> loads, Watts limit) {
  std::vector<double> near;
  for (const PowerLoad& load : loads)
    if (load.power >= kAtLimit * limit) near.push_back(load.power.si());
  if (near.empty()) return limit;
  std::ranges::nth_element(near, near.begin() + std::ssize(near) / 2);
  return Watts(near[near.size() / 2]);
}

}  // namespace

Watts predicted_power(const Gpu& gpu, const EnergyParameters& energy, const PowerLoad& load) {
  const auto work = [&]() -> Joules {
    if (load.kind == LoadKind::attention)
      return load.flops * energy.own_attention(load.format).value_or(energy.attention.value_or(energy.compute));
    const bool experts = load.kind == LoadKind::experts;
    const double padded = load.flops > Flops() ? 1 + energy.padding * (load.padding / load.flops) : 1;
    if (const auto own = experts ? energy.own_experts(load.format) : energy.own_compute(load.format))
      return padded * load.flops * *own;
    return padded * load.bf16_flops * (experts ? energy.experts.value_or(energy.compute) : energy.compute);
  };
  const double running = std::max(0.0, 1 - load.launch / load.time);
  const Watts above = running * energy.active + (work() + load.bytes * energy.memory) / load.time;
  return *gpu.idle + (energy.measured_limit ? std::min(above, *energy.measured_limit - *gpu.idle) : above);
}

namespace {

std::string name_of(const PowerLoad& load) {
  constexpr std::array kNames = {"dense", "experts", "attention"};
  return fmt::format("{}, {}", kNames[static_cast<std::size_t>(load.kind)], load.format);
}

// The rows of one kind and format at a time: loads in the order of the rows, with what the parameters say of them.
std::vector<FamilyReport> by_kind(const FamilyReport& all, std::span<const PowerLoad> loads,
                                  std::span<const double> predicted) {
  std::map<std::string, std::pair<FamilyReport, std::vector<double>>> kinds;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    auto& [report, in_sample] = kinds[name_of(loads[i])];
    report.rows.push_back(all.rows[i]);
    in_sample.push_back(predicted[i]);
  }
  std::vector<FamilyReport> reports;
  for (auto& [name, kind] : kinds) {
    auto& [report, in_sample] = kind;
    report.family = all.family;
    report.form = name;
    report.data = fmt::format("{} of these", report.rows.size());
    score(report, in_sample);
    reports.push_back(std::move(report));
  }
  return reports;
}

// Readings that were not fitted to.
FamilyReport of_diluted(const Gpu& gpu, const EnergyParameters& energy, std::span<const PowerLoad> told,
                        std::span<const PowerLoad> kept) {
  FamilyReport report;
  report.family = "energy";
  report.form = "diluted readings, not fitted to";
  std::vector<double> predicted;
  std::size_t next = 0;  // of those that were kept, which are in order
  for (const PowerLoad& load : told) {
    const bool steady = next < kept.size() && kept[next] == load;
    next += steady ? 1 : 0;
    if (steady) continue;
    predicted.push_back(predicted_power(gpu, energy, load).si());
    report.rows.push_back({regime_of(load.tokens), load.power.si(), predicted.back()});
  }
  report.data = fmt::format("{} beside these", report.rows.size());
  score(report, predicted);
  return report;
}

}  // namespace

std::optional<PowerCalibration> fit_power(const Gpu& gpu, std::span<const PowerReading> readings, std::size_t most_rows,
                                          std::span<const std::string> held) {
  if (readings.empty()) return std::nullopt;
  const std::vector<PowerReading> same = of_one_limit(readings);
  std::vector<PowerLoad> told;
  for (const PowerReading& reading : telling(same)) told.push_back(power_load(gpu, reading));
  const std::vector<PowerLoad> all = steady(told);
  if (all.size() < kFewestFittedRows) return std::nullopt;
  FormProblem problem;
  problem.family = "energy";
  std::vector<PowerLoad> loads;
  for (const std::size_t i : random_subset(all.size(), most_rows, kReadingsKey)) {
    loads.push_back(all[i]);
    problem.measured.push_back(all[i].power.si());
    problem.groups.push_back(all[i].shape);
    problem.regime.push_back(regime_of(all[i].tokens));
  }
  EnergyParameters base = gpu.energy;
  base.experts = base.attention = std::nullopt;
  base.by_format.clear();
  for (const std::string& format : held)
    if (const auto own = gpu.energy.own_compute(format)) base.by_format[format].compute = *own;
  const Watts limit = same.front().limit;
  base.measured_limit = held_to(all, limit);
  Layout layout = layout_of(gpu, loads, limit);
  layout.hold(held);
  problem.parameters = layout.parameters;
  problem.form = [&](std::span<const double> free) {
    return [&, energy = layout.laid_on(base, free)](std::size_t row) {
      return predicted_power(gpu, energy, loads[row]).si();
    };
  };
  PowerCalibration calibration;
  calibration.report = fit_and_validate(problem);
  calibration.parameters = layout.laid_on(base, values_of(calibration.report.fitted));
  calibration.parameters.tag = Tag::fitted;
  calibration.report.data += fmt::format(", of {} readings", readings.size());
  if (same.size() < readings.size())
    calibration.report.data +=
        fmt::format("; the {} at other limits than {} W are left out", readings.size() - same.size(), limit.si());
  std::vector<double> predicted;
  for (const PowerLoad& load : loads) predicted.push_back(predicted_power(gpu, calibration.parameters, load).si());
  calibration.parts = by_kind(calibration.report, loads, predicted);
  if (told.size() > all.size()) calibration.parts.push_back(of_diluted(gpu, calibration.parameters, told, all));
  return calibration;
}

}  // namespace llmscape::hardware
