// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/scales_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "models/format.hpp"
#include "models/operator_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace llmscape::hardware {
namespace {

struct Layer {
  std::string_view engine, format;
};
constexpr std::array kWithoutScales = {Layer{"tensorrt_llm", "fp8"}};
constexpr std::size_t kFewestRecords = 20;

// Rows of what else runs in their time, in seconds, and of the bytes that quantisation moves.
struct Rows {
  std::vector<double> beside, bytes;
  FormProblem problem;

  void add(double others, double moved, Seconds measured, const Group& shape, Regime regime) {
    beside.push_back(others);
    bytes.push_back(moved);
    problem.measured.push_back(measured.si());
    problem.groups.push_back(shape);
    problem.regime.push_back(regime);
  }
};

ScalesCalibration fit_scales(const Chip& chip, Rows rows, std::string_view what) {
  rows.problem.family = "elementwise";
  rows.problem.parameters = {{"scales.launch", 0.1e-6, 200e-6, 2.5e-6, 0.7}, {"scales.efficiency", 0.02, 3, 0.5, 0.7}};
  rows.problem.form = [&](std::span<const double> free) {
    ElementwiseParameters p;
    p.scales = {Seconds(free[0]), free[1]};
    return [&, p](std::size_t i) { return rows.beside[i] + scales_cost(chip, p, rows.bytes[i]).time.si(); };
  };
  ScalesCalibration calibration;
  calibration.report = fit_and_validate(rows.problem);
  const std::vector<double> values = values_of(calibration.report.fitted);
  calibration.parameters = {{.tag = Tag::fitted, .source = {}, .residuals = {}}, Seconds(values[0]), values[1]};
  calibration.report.data = fmt::format("{}; {}", what, calibration.report.data);
  return calibration;
}

}  // namespace

bool looks_for_scales(std::string_view engine, std::string_view format) {
  return std::ranges::any_of(kWithoutScales,
                             [&](const Layer& layer) { return layer.engine == engine && layer.format == format; });
}

ScalesCalibration fit_scales(const Chip& chip, const ElementwiseParameters& elementwise, const GemmParameters& gemm,
                             std::span<const traces::TimedGemm> narrow) {
  ElementwiseParameters known = elementwise;
  known.scales.reset();
  Rows rows;
  for (const traces::TimedGemm& r : narrow) {
    const auto [product, quantisation] = product_of(chip, known, r);
    rows.add(gemm_cost(chip, gemm, product).time.si() + quantisation,
             models::quantised_bytes(r.m, r.k, product.activations), r.time, {r.n, r.k}, regime_of(r.m));
  }
  return fit_scales(chip, std::move(rows), "scales of tensors, narrow products");
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
    rows.add(elementwise_cost(chip, elementwise, quantise).time.si(), bytes, r.time + known->time, {r.width},
             regime_of(r.rows));
  }
  if (rows.beside.size() < kFewestRecords) return std::nullopt;
  return fit_scales(chip, std::move(rows), "quantise with scales of tokens");
}

}  // namespace llmscape::hardware
