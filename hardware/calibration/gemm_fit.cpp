// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/gemm_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"
#include "models/format.hpp"
#include "models/operator_list.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <utility>

namespace llmscape::hardware {
namespace {

using traces::TimedGemm;

// Rows of the tallest tile, and tiles that fewer rows are cut into.
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 3> kTallest = {{{128, 1}, {256, 1}, {256, 2}}};

// Bounds and priors: fits of A100, H100, H200 and B200 agree on them (docs: kernel model). The order is that of
// `parameters_of`.
std::vector<FreeParameter> free_gemm_parameters(const GemmPrior& prior) {
  const double l2 = prior.l2_bandwidth.si();
  const FreeParameter split = {"split", 0.1e-6, 40e-6, 2e-6, 0.4},
                      missing_row = {"missing_row", 0.05e-9, 50e-9, 2e-9, 0.7};
  return {{"compute_efficiency", 0.3, 1.15, 0.85, 0.12}, {"memory_efficiency", 0.4, 1.05, 0.82, 0.08},
          {"launch", 0.3e-6, 30e-6, 2.6e-6, 0.6},        {"tile", 0.02e-6, 30e-6, 1e-6, 0.7},
          {"cta_bandwidth", 2e9, 600e9, 35e9, 0.5},      {"l2_bandwidth", l2 / 10, l2 * 10, l2, 0.4},
          prior.deep_gemm ? missing_row : split};
}

GemmParameters parameters_of(const GemmPrior& prior, std::span<const double> free) {
  GemmParameters p;
  p.wave_quantisation = prior.wave_quantisation;
  p.least_tile_rows = prior.least_tile_rows;
  p.row_tiles = prior.row_tiles;
  p.compute_efficiency = free[0];
  p.memory_efficiency = free[1];
  p.launch = Seconds(free[2]);
  p.tile = Seconds(free[3]);
  p.cta_bandwidth = BytesPerSecond(free[4]);
  p.l2_bandwidth = BytesPerSecond(free[5]);
  p.deep_gemm = prior.deep_gemm;
  (p.deep_gemm ? p.deep_gemm->missing_row : p.split) = Seconds(free[6]);
  return p;
}

models::Format format_of(const TimedGemm& record) {
  const auto format = models::format_named(record.format);
  if (!format) throw std::invalid_argument("no number format '" + record.format + "'");
  return *format;
}

// What the records timed.
std::vector<QuantisedGemm> products(const Chip& chip, const ElementwiseParameters& elementwise,
                                    std::span<const TimedGemm> records) {
  std::vector<QuantisedGemm> all;
  all.reserve(records.size());
  for (const TimedGemm& r : records) all.push_back(product_of(chip, elementwise, r));
  return all;
}

FormProblem gemm_problem(const Chip& chip, const ElementwiseParameters& elementwise, std::span<const TimedGemm> records,
                         const GemmPrior& prior) {
  FormProblem problem;
  problem.family = "gemm";
  problem.parameters = free_gemm_parameters(prior);
  for (const TimedGemm& r : records) {
    problem.measured.push_back(r.time.si());
    problem.groups.push_back({r.n, r.k});
    problem.regime.push_back(regime_of(r.m));
  }
  problem.form = [&chip, prior, gemms = products(chip, elementwise, records)](std::span<const double> free) {
    return [&, p = parameters_of(prior, free)](std::size_t row) {
      return gemm_cost(chip, p, gemms[row].gemm).time.si() + gemms[row].quantisation;
    };
  };
  return problem;
}

}  // namespace

std::vector<TimedGemm> in_range(std::span<const TimedGemm> records, std::string_view format, const GemmRange& range) {
  std::vector<TimedGemm> kept;
  std::ranges::copy_if(records, std::back_inserter(kept), [&](const TimedGemm& r) {
    return r.format == format && r.m <= range.most_rows && std::min(r.n, r.k) >= range.least_width;
  });
  return kept;
}

LeastWork least_work(const Chip& chip, const TimedGemm& r) {
  const models::Format format = format_of(r);
  const double weights = static_cast<double>(r.n) * static_cast<double>(r.k);
  return {weights * format.bytes_with_scales(),
          2 * static_cast<double>(r.m) * weights / chip.peak(format, format).si()};
}

QuantisedGemm product_of(const Chip& chip, const ElementwiseParameters& elementwise, const TimedGemm& r) {
  const models::Format format = format_of(r);
  const double bytes = models::quantised_bytes(r.m, r.k, format);
  const models::Elementwise quantise{models::Elementwise::Kind::quantise, bytes};
  QuantisedGemm product{{r.m, r.n, r.k, format, format}};
  if (r.engine.empty()) return product;
  if (bytes <= 0) return product;
  const bool finds_scales = elementwise.scales && format.group == 0;
  product.quantisation = (finds_scales ? scales_cost(chip, *elementwise.scales, r.m, r.k, bytes)
                                       : elementwise_cost(chip, elementwise, quantise))
                             .time.si();
  return product;
}

std::vector<double> predict(const Chip& chip, const ElementwiseParameters& elementwise,
                            const GemmParameters& parameters, std::span<const TimedGemm> records) {
  std::vector<double> times;
  for (const QuantisedGemm& product : products(chip, elementwise, records))
    times.push_back(gemm_cost(chip, parameters, product.gemm).time.si() + product.quantisation);
  return times;
}

GemmPrior best_prior(const Chip& chip, const ElementwiseParameters& elementwise, std::span<const TimedGemm> records,
                     const GemmPrior& prior) {
  GemmPrior best = prior;
  double least = std::numeric_limits<double>::infinity();
  for (const double waves : {0.0, 1.0})
    for (const std::int64_t rows : {std::int64_t{64}, std::int64_t{16}}) {
      const GemmPrior variant{waves, prior.l2_bandwidth, rows, {}, {}};
      const double loss = rough_loss(gemm_problem(chip, elementwise, records, variant));
      if (loss < least) best = variant;
      least = std::min(least, loss);
    }
  return best;
}

std::vector<GemmPrior> product_tilings(const GemmPrior& best) {
  std::vector<GemmPrior> all = {best};
  for (const double waves : {0.0, 1.0})
    for (const auto& [most, cut] : kTallest) {
      all.push_back(best);
      all.back().wave_quantisation = waves;
      all.back().row_tiles = {RowTiles::Choice::own_rows, 64, most, cut};
    }
  return all;
}

GemmCalibration fit_gemm(const Chip& chip, const ElementwiseParameters& elementwise, std::span<const TimedGemm> records,
                         std::span<const GemmPrior> priors, Scoring scoring) {
  GemmCalibration calibration;
  std::vector<FormProblem> forms;
  for (const GemmPrior& prior : priors) forms.push_back(gemm_problem(chip, elementwise, records, prior));
  std::size_t chosen = 0;
  calibration.report = fit(forms, chosen, scoring);
  calibration.report.data = records.front().format + ", " + calibration.report.data;
  GemmParameters& p = calibration.parameters = parameters_of(priors[chosen], values_of(calibration.report.fitted));
  p.tag = Tag::fitted;
  p.least_width = std::min(records.front().n, records.front().k);
  for (const TimedGemm& r : records) {
    p.most_rows = std::max(p.most_rows, r.m);
    p.least_width = std::min({p.least_width, r.n, r.k});
  }
  return calibration;
}

}  // namespace llmscape::hardware
