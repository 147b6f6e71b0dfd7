// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/scales_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "models/format.hpp"
#include "models/operator_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

namespace llmscape::hardware {
namespace {

struct Layer {
  std::string_view engine, format;
  std::int64_t deepest;  // K of products whose time beside the scales is that of the 16-bit fit
};
constexpr std::int64_t kAnyDepth = 1'000'000;
constexpr std::array kWithoutScales = {Layer{"tensorrt_llm", "fp8", kAnyDepth}, Layer{"vllm", "fp8", 1024}};

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
  ElementwiseParameters known = elementwise;
  known.scales.reset();
  std::vector<double> beside, bytes;  // what else runs in the time, in seconds; what quantisation moves
  FormProblem problem;
  problem.family = "elementwise";
  for (const traces::TimedGemm& r : narrow) {
    const auto [product, quantisation] = product_of(chip, known, r);
    beside.push_back(gemm_cost(chip, gemm, product).time.si() + quantisation);
    bytes.push_back(models::quantised_bytes(r.m, r.k, product.activations));
    problem.measured.push_back(r.time.si());
    problem.groups.push_back({r.n, r.k});
    problem.regime.push_back(regime_of(r.m));
  }
  problem.parameters = {{"scales.launch", 0.01e-6, 200e-6, 2.5e-6, 0.7},
                        {"scales.efficiency", 0.02, 3, 0.5, 0.7},
                        {"scales.row", 0.01e-9, 100e-9, 1e-9, 1.5}};
  problem.form = [&](std::span<const double> free) {
    ElementwiseParameters p;
    p.scales = {Seconds(free[0]), free[1], Seconds(free[2])};
    return [&, p](std::size_t i) { return beside[i] + scales_cost(chip, p, narrow[i].m, bytes[i]).time.si(); };
  };
  ScalesCalibration calibration;
  calibration.report = fit_and_validate(problem);
  const std::vector<double> values = values_of(calibration.report.fitted);
  calibration.parameters = {
      {.tag = Tag::fitted, .source = {}, .residuals = {}}, Seconds(values[0]), values[1], Seconds(values[2])};
  calibration.report.data = fmt::format("scales, narrow products; {}", calibration.report.data);
  return calibration;
}

}  // namespace llmscape::hardware
