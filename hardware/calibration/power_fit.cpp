// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/power_fit.hpp"

#include "hardware/calibration/attention_shapes.hpp"
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/expert_fit.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "hardware/gpu/pricing.hpp"
#include "models/format.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace llmscape::hardware {
namespace {

using Kind = PowerLoad::Kind;
using traces::PowerReading;

constexpr Seconds kShortest(200e-6);
constexpr std::uint64_t kReadingsKey = 0x77617474;  // any fixed number
constexpr double kPico = 1e-12;

// The operators of a case, its shape for the folds, and its size.
struct Described {
  std::vector<models::Operator> operators;
  Kind kind;
  std::string format;
  Group shape;
  std::int64_t tokens;
};

struct Describer {
  const Gpu& gpu;

  Described operator()(const traces::GemmCase& c) const {
    const traces::TimedGemm timed{c, Seconds(), {}};
    return {{{product_of(gpu, gpu.elementwise, timed).gemm, 1}}, Kind::dense, c.format, {1, c.n, c.k, 0}, c.m};
  }
  Described operator()(const traces::ExpertLayerCase& c) const {
    const ExpertLayerWork work = expert_layer_work(c);
    std::vector<models::Operator> all = {{work.up, 1}, {work.down, 1}};
    for (const models::Elementwise& stream : work.streams) all.push_back({stream, 1});
    return {
        std::move(all), Kind::experts, c.format, {c.hidden, c.expert_width, c.experts, c.experts_per_token}, c.tokens};
  }
  Described operator()(const traces::DecodeAttentionCase& c) const {
    auto attention = of_heads<models::DecodeAttention>(c);
    attention.sequences = c.sequences;
    attention.attended = {c.sequences * c.context, c.context};
    return {{{attention, 1}}, Kind::attention, "", {2, c.heads, c.kv_heads, c.head_dim}, c.sequences};
  }
  Described operator()(const traces::PrefillAttentionCase& c) const {
    auto attention = of_heads<models::PrefillAttention>(c);
    attention.chunks.assign(static_cast<std::size_t>(c.sequences), {c.tokens, c.cached, true});
    return {{{attention, 1}}, Kind::attention, "", {3, c.heads, c.kv_heads, c.head_dim}, c.sequences * c.tokens};
  }
  template <class Case>
  Described operator()(const Case&) const {
    throw std::invalid_argument("no power is read of this kernel");
  }
};

Described describe(const Gpu& gpu, const PowerReading& reading) { return std::visit(Describer{gpu}, reading.what); }

// What the form can say of a reading, but for its time.
struct Tells {
  bool operator()(const traces::GemmCase& c) const { return models::format_named(c.format).has_value(); }
  bool operator()(const traces::ExpertLayerCase& c) const {
    return models::format_named(c.format) && c.routing == "balanced" && c.expert_parallel == 1;
  }
  bool operator()(const traces::DecodeAttentionCase& c) const { return models::format_named(c.kv_format).has_value(); }
  bool operator()(const traces::PrefillAttentionCase& c) const {
    return models::format_named(c.kv_format) && c.tokens > 1;
  }
  template <class Case>
  bool operator()(const Case&) const {
    return false;
  }
};

// Where the parameters of the form stand among those that are fitted.
struct Layout {
  std::vector<FreeParameter> parameters;
  std::vector<std::function<void(EnergyParameters&, double)>> setters;

  void add(FreeParameter parameter, std::function<void(EnergyParameters&, double)> set) {
    parameters.push_back(std::move(parameter));
    setters.push_back(std::move(set));
  }
  [[nodiscard]] EnergyParameters laid_on(EnergyParameters energy, std::span<const double> free) const {
    for (std::size_t i = 0; i < setters.size(); ++i) setters[i](energy, free[i]);
    return energy;
  }
};

bool wide(const std::string& format) { return format == "bf16" || format == "fp16"; }

// Priors: watts at work are some third of the limit, dense bf16 work at the peak would take most of it, HBM some 7 pJ a
// bit with its interface (from memory). Kernels that stream at one rate tell watts at work and joules of a bit only
// together, and attention of prompts little: their ranges keep a few odd readings from trading one for another. A kind
// of kernel and a format have figures of their own where enough readings are of them.
Layout layout_of(const Gpu& gpu, std::span<const PowerLoad> loads, Watts limit) {
  std::map<std::pair<Kind, std::string>, std::size_t> rows;
  for (const PowerLoad& load : loads) ++rows[{load.kind, wide(load.format) ? "" : load.format}];
  const double work = 0.9 * limit.si() / gpu.peak_bf16.value.si() / kPico;  // pJ a flop
  const auto per_flop = [](double value) { return JoulesPerFlop(value * kPico); };
  Layout layout;
  layout.add({"active", 0.1 * limit.si(), 0.5 * limit.si(), 0.3 * limit.si(), 0.5},
             [](EnergyParameters& e, double v) { e.active = Watts(v); });
  layout.add({"memory", 2, 15, 7, 0.5}, [](EnergyParameters& e, double v) { e.memory = JoulesPerByte(v * kPico * 8); });
  layout.add({"compute", 0.02, 10, work, 0.7}, [=](EnergyParameters& e, double v) { e.compute = per_flop(v); });
  for (const auto& [which, count] : rows) {
    const auto& [kind, format] = which;
    if (count < kFewestFittedRows) continue;
    if (kind == Kind::attention) {
      layout.add({"attention", 0.02, 2 * work, work / 2, 0.7},
                 [=](EnergyParameters& e, double v) { e.attention = per_flop(v); });
    } else if (kind == Kind::experts) {
      const auto set = [=, name = format](EnergyParameters& e, double v) {
        (name.empty() ? e.experts : e.by_format[name].experts) = per_flop(v);
      };
      layout.add({format.empty() ? "experts" : format + " experts", 0.02, 10, work, 0.7}, set);
    } else if (!format.empty()) {
      layout.add({format, 0.02, 10, work / 2, 0.7},
                 [=, name = format](EnergyParameters& e, double v) { e.by_format[name].compute = per_flop(v); });
    }
  }
  return layout;
}

}  // namespace

PowerLoad power_load(const Gpu& gpu, const PowerReading& reading) {
  const Described kernel = describe(gpu, reading);
  const PartCost part = price(gpu, kernel.operators);
  return {kernel.kind,
          kernel.format,
          part.flops,
          std::accumulate(part.bf16_flops.begin(), part.bf16_flops.end(), Flops()),
          std::accumulate(part.bytes.begin(), part.bytes.end(), Bytes()),
          reading.time};
}

Watts predicted_power(const Gpu& gpu, const EnergyParameters& energy, const PowerLoad& load) {
  const auto work = [&]() -> Joules {
    if (load.kind == Kind::attention && energy.attention) return load.flops * *energy.attention;
    if (load.kind == Kind::dense)
      if (const auto own = energy.own_compute(load.format)) return load.flops * *own;
    if (load.kind == Kind::experts) {
      if (const auto own = energy.own_experts(load.format)) return load.flops * *own;
      return load.bf16_flops * energy.experts.value_or(energy.compute);
    }
    return load.bf16_flops * energy.compute;
  };
  const Watts above = energy.active + (work() + load.bytes * energy.memory) / load.time;
  return *gpu.idle + (energy.measured_limit ? std::min(above, *energy.measured_limit - *gpu.idle) : above);
}

std::vector<PowerReading> telling(std::span<const PowerReading> readings) {
  std::map<std::string, Seconds> fastest;  // products, by format
  for (const PowerReading& r : readings)
    if (const auto* gemm = std::get_if<traces::GemmCase>(&r.what)) {
      const auto [known, first] = fastest.emplace(gemm->format, r.time);
      if (!first) known->second = std::min(known->second, r.time);
    }
  const auto launch_bound = [&](const PowerReading& r) {
    const auto* gemm = std::get_if<traces::GemmCase>(&r.what);
    if (!gemm) return false;
    const Seconds floor = fastest.at(gemm->format);
    return floor >= kLaunchBound && r.time < kAboveFloor * floor;
  };
  std::vector<PowerReading> kept;
  std::ranges::copy_if(readings, std::back_inserter(kept), [&](const PowerReading& r) {
    return r.time >= kShortest && std::visit(Tells(), r.what) && !launch_bound(r);
  });
  return kept;
}

std::optional<PowerCalibration> fit_power(const Gpu& gpu, std::span<const PowerReading> readings,
                                          std::size_t most_rows) {
  const std::vector<PowerReading> all = telling(readings);
  if (all.size() < kFewestFittedRows) return std::nullopt;
  FormProblem problem;
  problem.family = "energy";
  std::vector<PowerLoad> loads;
  EnergyParameters base = gpu.energy;
  base.experts = base.attention = std::nullopt;
  base.by_format.clear();
  base.measured_limit = std::ranges::max_element(all, {}, &PowerReading::limit)->limit;
  for (const std::size_t i : random_subset(all.size(), most_rows, kReadingsKey)) {
    const Described kernel = describe(gpu, all[i]);
    loads.push_back(power_load(gpu, all[i]));
    problem.measured.push_back(all[i].power.si());
    problem.groups.push_back(kernel.shape);
    problem.regime.push_back(regime_of(kernel.tokens));
  }
  const Layout layout = layout_of(gpu, loads, *base.measured_limit);
  problem.parameters = layout.parameters;
  problem.form = [&](std::span<const double> free) {
    return [&, energy = layout.laid_on(base, free)](std::size_t row) {
      return predicted_power(gpu, energy, loads[row]).si();
    };
  };
  PowerCalibration calibration;
  calibration.report = fit_and_validate(problem);
  calibration.report.data += ", of " + std::to_string(readings.size()) + " readings";
  calibration.parameters = layout.laid_on(base, values_of(calibration.report.fitted));
  calibration.parameters.tag = Tag::fitted;
  return calibration;
}

}  // namespace llmscape::hardware
