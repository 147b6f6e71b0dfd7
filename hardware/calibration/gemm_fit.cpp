// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/gemm_fit.hpp"

#include "hardware/calibration/sampling.hpp"
#include "models/format.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace llmscape::hardware {
namespace {

using traces::TimedGemm;

constexpr int kFolds = 5;
constexpr std::uint64_t kFoldKey = 0x67656d6d;  // any fixed number
constexpr double kCoverage = 0.9;

// Bounds and priors: fits of A100, H100, H200 and B200 agree on them (docs: kernel model). The order is that of
// `parameters_of`.
std::vector<FreeParameter> free_parameters(const GemmPrior& prior) {
  const double l2 = prior.l2_bandwidth.si();
  return {{"compute_efficiency", 0.3, 1.15, 0.85, 0.12},
          {"memory_efficiency", 0.4, 1.05, 0.82, 0.08},
          {"launch", 0.3e-6, 30e-6, 2.6e-6, 0.6},
          {"tile", 0.02e-6, 30e-6, 1e-6, 0.7},
          {"cta_bandwidth", 2e9, 600e9, 35e9, 0.5},
          {"l2_bandwidth", l2 / 10, l2 * 10, l2, 0.4},
          {"split", 0.1e-6, 40e-6, 2e-6, 0.4}};
}

GemmParameters parameters_of(const GemmPrior& prior, std::span<const double> free) {
  GemmParameters p;
  p.wave_quantisation = prior.wave_quantisation;
  p.compute_efficiency = free[0];
  p.memory_efficiency = free[1];
  p.launch = Seconds(free[2]);
  p.tile = Seconds(free[3]);
  p.cta_bandwidth = BytesPerSecond(free[4]);
  p.l2_bandwidth = BytesPerSecond(free[5]);
  p.split = Seconds(free[6]);
  return p;
}

// The products that the records timed.
std::vector<models::Gemm> products(std::span<const TimedGemm> records) {
  std::vector<models::Gemm> all;
  all.reserve(records.size());
  for (const TimedGemm& r : records) {
    const auto format = models::format_named(r.format);
    if (!format) throw std::invalid_argument("no number format '" + r.format + "'");
    all.push_back({r.m, r.n, r.k, *format, *format});
  }
  return all;
}

void price(const Chip& chip, const GemmParameters& p, std::span<const models::Gemm> products, std::span<double> times) {
  std::ranges::transform(products, times.begin(),
                         [&](const models::Gemm& gemm) { return gemm_cost(chip, p, gemm).time.si(); });
}

std::vector<double> times_of(std::span<const TimedGemm> records) {
  std::vector<double> times;
  times.reserve(records.size());
  for (const TimedGemm& r : records) times.push_back(r.time.si());
  return times;
}

FitOutcome fit_form(const Chip& chip, std::span<const TimedGemm> records, const GemmPrior& prior, int starts) {
  const std::vector<models::Gemm> gemms = products(records);
  return fit_in_log({free_parameters(prior), times_of(records),
                     [&](std::span<const double> free, std::span<double> predicted) {
                       price(chip, parameters_of(prior, free), gemms, predicted);
                     }},
                    starts);
}

GemmParameters parameters_of(const GemmPrior& prior, const FitOutcome& outcome) {
  std::vector<double> values;
  for (const FittedParameter& p : outcome.parameters) values.push_back(p.value);
  return parameters_of(prior, values);
}

// What fits to the other folds predict for each record.
std::vector<double> held_out_predictions(const Chip& chip, std::span<const TimedGemm> records, const GemmPrior& prior) {
  std::vector<Group> shapes;
  for (const TimedGemm& r : records) shapes.emplace_back(r.n, r.k);
  const std::vector<int> fold_of = grouped_folds(shapes, kFolds, kFoldKey);
  std::vector<double> predicted(records.size());
  for (int fold = 0; fold < kFolds; ++fold) {
    std::vector<TimedGemm> seen, held_out;
    for (std::size_t i = 0; i < records.size(); ++i) (fold_of[i] == fold ? held_out : seen).push_back(records[i]);
    // One start: the basin was found with all rows, and the prior medians lie in it.
    const GemmParameters p = parameters_of(prior, fit_form(chip, seen, prior, 1));
    const std::vector<double> times = predict(chip, p, held_out);
    for (std::size_t i = 0, next = 0; i < records.size(); ++i)
      if (fold_of[i] == fold) predicted[i] = times[next++];
  }
  return predicted;
}

// Predictions beside what was measured.
struct Comparison {
  std::vector<double> predicted, measured;
  void add(double prediction, double measurement) {
    predicted.push_back(prediction);
    measured.push_back(measurement);
  }
  [[nodiscard]] ErrorSummary errors() const { return summarise(predicted, measured); }
  [[nodiscard]] std::optional<double> half_width() const {
    std::vector<double> residuals;
    for (std::size_t i = 0; i < measured.size(); ++i) residuals.push_back(std::log(predicted[i] / measured[i]));
    return conformal_half_width(std::move(residuals), kCoverage);
  }
};

}  // namespace

std::vector<TimedGemm> in_range(std::span<const TimedGemm> records, std::string_view format, const GemmRange& range) {
  std::vector<TimedGemm> kept;
  std::ranges::copy_if(records, std::back_inserter(kept), [&](const TimedGemm& r) {
    return r.format == format && r.m <= range.most_rows && std::min(r.n, r.k) >= range.least_width;
  });
  return kept;
}

GemmRegime regime_of(const traces::GemmCase& gemm) {
  if (gemm.m <= 64) return GemmRegime::small;
  return gemm.m <= 1024 ? GemmRegime::medium : GemmRegime::large;
}

std::vector<double> predict(const Chip& chip, const GemmParameters& parameters, std::span<const TimedGemm> records) {
  std::vector<double> times(records.size());
  price(chip, parameters, products(records), times);
  return times;
}

GemmCalibration fit_gemm(const Chip& chip, std::span<const TimedGemm> records, const GemmPrior& prior) {
  const FitOutcome outcome = fit_form(chip, records, prior, 8);
  GemmCalibration calibration;
  calibration.fitted = outcome.parameters;
  GemmParameters& p = calibration.parameters = parameters_of(prior, outcome);
  p.tag = Tag::fitted;
  p.least_width = std::min(records.front().n, records.front().k);
  for (const TimedGemm& r : records) {
    p.most_rows = std::max(p.most_rows, r.m);
    p.least_width = std::min({p.least_width, r.n, r.k});
  }

  const std::vector<double> measured = times_of(records);
  calibration.in_sample = summarise(predict(chip, p, records), measured);
  const std::vector<double> held_out = held_out_predictions(chip, records, prior);
  Comparison all;
  std::array<Comparison, kGemmRegimes.size()> regimes;
  for (std::size_t i = 0; i < records.size(); ++i) {
    all.add(held_out[i], measured[i]);
    regimes[static_cast<std::size_t>(regime_of(records[i]))].add(held_out[i], measured[i]);
  }
  calibration.held_out = all.errors();
  calibration.half_width = all.half_width();
  for (std::size_t i = 0; i < regimes.size(); ++i) {
    calibration.by_regime[i] = regimes[i].errors();
    calibration.half_widths[i] = regimes[i].half_width();
  }
  return calibration;
}

}  // namespace llmscape::hardware
