// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/scales_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "models/format.hpp"
#include "models/operator_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

namespace llmscape::hardware {
namespace {

struct Layer {
  std::string_view engine, format;
  std::int64_t deepest;  // K of products whose time beside the scales is that of the 16-bit fit
};
constexpr std::int64_t kAnyDepth = 1'000'000;
constexpr std::array kWithoutScales = {Layer{"tensorrt_llm", "fp8", kAnyDepth}, Layer{"vllm", "fp8", 1024}};

constexpr std::size_t kFewestRecords = 20;

// Rows of what else runs in their time, in seconds, of the tokens, and of the bytes that quantisation moves.
struct Rows {
  std::vector<double> beside, bytes;
  std::vector<std::int64_t> tokens;
  FormProblem problem;

  void add(double others, std::int64_t rows, double moved, Seconds measured, const Group& shape) {
    beside.push_back(others);
    tokens.push_back(rows);
    bytes.push_back(moved);
    problem.measured.push_back(measured.si());
    problem.groups.push_back(shape);
    problem.regime.push_back(regime_of(rows));
  }
};

using Scales = std::function<ScaleParameters(std::span<const double> free)>;

ScalesCalibration fit_scales(const Chip& chip, Rows rows, std::vector<FreeParameter> free, const Scales& scales,
                             std::string_view what) {
  rows.problem.family = "elementwise";
  rows.problem.parameters = std::move(free);
  rows.problem.form = [&](std::span<const double> values) {
    ElementwiseParameters p;
    p.scales = scales(values);
    return [&, p](std::size_t i) {
      return rows.beside[i] + scales_cost(chip, p, rows.tokens[i], rows.bytes[i]).time.si();
    };
  };
  ScalesCalibration calibration;
  calibration.report = fit_and_validate(rows.problem);
  const ScaleParameters found = scales(values_of(calibration.report.fitted));
  calibration.parameters = {
      {.tag = Tag::fitted, .source = {}, .residuals = {}}, found.launch, found.efficiency, found.row};
  calibration.report.data = fmt::format("{}; {}", what, calibration.report.data);
  return calibration;
}

const FreeParameter kLaunch = {"scales.launch", 0.1e-6, 200e-6, 2.5e-6, 0.7};
const FreeParameter kEfficiency = {"scales.efficiency", 0.02, 3, 0.5, 0.7};
const FreeParameter kRow = {"scales.row", 0.01e-9, 100e-9, 5e-9, 1.5};

}  // namespace

std::vector<traces::TimedGemm> products_that_tell_scales(std::span<const traces::TimedGemm> all,
                                                         std::string_view engine, std::string_view format) {
  std::vector<traces::TimedGemm> narrow;
  for (const Layer& layer : kWithoutScales) {
    if (layer.engine != engine || layer.format != format) continue;
    std::ranges::copy_if(all, std::back_inserter(narrow), [&](const traces::TimedGemm& r) {
      return r.engine == engine && r.format == format && std::min(r.n, r.k) < GemmRange().least_width &&
             r.k <= layer.deepest;
    });
  }
  return narrow;
}

ScalesCalibration fit_scales(const Chip& chip, const ElementwiseParameters& elementwise, const GemmParameters& gemm,
                             std::span<const traces::TimedGemm> narrow) {
  ElementwiseParameters quantisation = elementwise;
  quantisation.scales.reset();
  Rows rows;
  for (const traces::TimedGemm& r : narrow) {
    const QuantisedGemm known = product_of(chip, quantisation, r);
    rows.add(gemm_cost(chip, gemm, known.gemm).time.si() + known.quantisation, r.m,
             models::quantised_bytes(r.m, r.k, known.gemm.activations), r.time, {r.n, r.k});
  }
  constexpr std::string_view kWhat = "scales, narrow products";
  if (elementwise.scales)
    return fit_scales(
        chip, std::move(rows), {kRow},
        [of = *elementwise.scales](std::span<const double> free) {
          return ScaleParameters{of.launch, of.efficiency, Seconds(free[0])};
        },
        kWhat);
  return fit_scales(
      chip, std::move(rows), {kLaunch, kEfficiency, kRow},
      [](std::span<const double> free) { return ScaleParameters{Seconds(free[0]), free[1], Seconds(free[2])}; }, kWhat);
}

std::optional<ScalesCalibration> fit_scales(const Chip& chip, const ElementwiseParameters& elementwise,
                                            std::span<const traces::TimedElementwise> records) {
  Rows rows;
  for (const traces::TimedElementwise& r : records) {
    const auto format = models::format_named(r.format);
    if (r.kind != "scales" || !format) continue;
    traces::ElementwiseCase same = r;
    same.kind = "quantise";
    const auto known = std::ranges::find_if(
        records, [&](const traces::ElementwiseCase& other) { return (other <=> same) == std::strong_ordering::equal; });
    if (known == records.end()) continue;
    const double bytes = models::quantised_bytes(r.rows, r.width, *format);
    const models::Elementwise quantise{models::Elementwise::Kind::quantise, bytes};
    rows.add(elementwise_cost(chip, elementwise, quantise).time.si(), r.rows, bytes, r.time + known->time, {r.width});
  }
  if (rows.beside.size() < kFewestRecords) return std::nullopt;
  return fit_scales(
      chip, std::move(rows), {kLaunch, kEfficiency},
      [](std::span<const double> free) { return ScaleParameters{Seconds(free[0]), free[1], Seconds()}; },
      "quantise with scales of tokens");
}

}  // namespace llmscape::hardware
