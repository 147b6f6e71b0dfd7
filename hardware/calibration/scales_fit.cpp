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
  // K of products whose time beside the quantisation is that of the 16-bit fit; as deep as they have rows they all are.
  std::int64_t deepest;
};
constexpr std::int64_t kAnyDepth = 1'000'000;
constexpr std::array kFindScales = {Layer{"tensorrt_llm", "fp8", kAnyDepth}, Layer{"vllm", "fp8", 1024}};

ScaleParameters scales_of(std::span<const double> free) {
  return {Seconds(free[0]), free[1], Seconds(free[2]), Seconds(free[3])};
}

}  // namespace

std::vector<traces::TimedGemm> products_that_tell_scales(std::span<const traces::TimedGemm> all,
                                                         std::string_view engine, std::string_view format) {
  std::vector<traces::TimedGemm> narrow;
  for (const Layer& layer : kFindScales) {
    if (layer.engine != engine || layer.format != format) continue;
    std::ranges::copy_if(all, std::back_inserter(narrow), [&](const traces::TimedGemm& r) {
      return r.engine == engine && r.format == format && std::min(r.n, r.k) < GemmRange().least_width &&
             r.k <= std::max(layer.deepest, r.m);
    });
  }
  return narrow;
}

ScalesCalibration fit_scales(const Chip& chip, const GemmParameters& gemm, std::span<const traces::TimedGemm> narrow) {
  std::vector<double> products, bytes;
  FormProblem problem;
  problem.family = "elementwise";
  problem.parameters = {{"scales.launch", 0.1e-6, 200e-6, 2.5e-6, 0.7},
                        {"scales.efficiency", 0.02, 3, 0.5, 0.7},
                        {"scales.row", 0.01e-9, 100e-9, 5e-9, 1.5},
                        {"scales.pass", 0.01e-9, 100e-9, 5e-9, 1.5}};
  for (const traces::TimedGemm& r : narrow) {
    const models::Format format = models::format_named(r.format).value();
    const models::Gemm product{r.m, r.n, r.k, format, format};
    products.push_back(gemm_cost(chip, gemm, product).time.si());
    bytes.push_back(models::quantised_bytes(r.m, r.k, product.activations));
    problem.measured.push_back(r.time.si());
    problem.groups.push_back({r.n, r.k});
    problem.regime.push_back(regime_of(r.m));
  }
  problem.form = [&](std::span<const double> free) {
    return [&, scales = scales_of(free)](std::size_t i) {
      return products[i] + scales_cost(chip, scales, narrow[i].m, narrow[i].k, bytes[i]).time.si();
    };
  };
  ScalesCalibration calibration;
  calibration.report = fit_and_validate(problem);
  const ScaleParameters found = scales_of(values_of(calibration.report.fitted));
  calibration.parameters = {
      {.tag = Tag::fitted, .source = {}, .residuals = {}}, found.launch, found.efficiency, found.row, found.pass};
  calibration.report.data = fmt::format("scales, narrow products; {}", calibration.report.data);
  return calibration;
}

}  // namespace llmscape::hardware
