// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/decode_attention_fit.hpp"

#include "hardware/calibration/attention_shapes.hpp"
#include "hardware/calibration/cross_validation.hpp"

#include <algorithm>

namespace llmscape::hardware {
namespace {

using traces::TimedDecodeAttention;

// What is known of the kernel and its records, or supposed, before the fit.
struct Kernel {
  double compute_efficiency = 0;
  bool packs = false;  // as FlashAttention 2 does
  bool warm = false;
};

// Bounds and priors: fits of A100, H100 and H200 agree on them (docs: kernel model). The order is that of `form_of`.
std::vector<FreeParameter> free_parameters(const Chip& chip, const Kernel& kernel) {
  const double memory = chip.hbm_bandwidth.value.si();
  std::vector<FreeParameter> all = {{"memory_efficiency", 0.4, 1.1, 0.82, 0.08},
                                    {"launch", 0.5e-6, 50e-6, 10e-6, 0.6},
                                    {"cta", 0.05e-6, 40e-6, 3.5e-6, 0.7},
                                    {"split", 0.05e-6, 40e-6, 2e-6, 0.7},
                                    {"cta_bandwidth", 5e9, 600e9, 100e9, 0.7}};
  if (kernel.packs) all.push_back({"packing", 0.1e-6, 40e-6, 4e-6, 0.7});
  if (kernel.warm) {
    all.push_back({"warm_bandwidth", memory / 4, 8 * memory, 1.3 * memory, 0.4});
    all.push_back({"warm_share", 0.2, 1.5, 0.85, 0.3});
  }
  return all;
}

struct Form {
  DecodeAttentionParameters parameters;
  std::optional<WarmCache> warm;
};

Form form_of(const Kernel& kernel, std::span<const double> free) {
  Form form;
  DecodeAttentionParameters& p = form.parameters;
  p.compute_efficiency = kernel.compute_efficiency;
  p.memory_efficiency = free[0];
  p.launch = Seconds(free[1]);
  p.cta = Seconds(free[2]);
  p.split = Seconds(free[3]);
  p.cta_bandwidth = BytesPerSecond(free[4]);
  std::size_t next = 5;
  if (kernel.packs) p.packing = Seconds(free[next++]);
  if (kernel.warm) form.warm = WarmCache{BytesPerSecond(free[next]), free[next + 1]};
  return form;
}

// The operators that the records timed.
std::vector<models::DecodeAttention> operators(std::span<const TimedDecodeAttention> records) {
  std::vector<models::DecodeAttention> all;
  all.reserve(records.size());
  for (const TimedDecodeAttention& r : records) {
    models::DecodeAttention& a = all.emplace_back(of_heads<models::DecodeAttention>(r));
    a.sequences = r.sequences;
    a.attended = {r.sequences * r.context, r.context};
  }
  return all;
}

FormProblem problem_of(const Chip& chip, std::span<const TimedDecodeAttention> records, const Kernel& kernel) {
  FormProblem problem;
  problem.family = "decode_attention";
  problem.parameters = free_parameters(chip, kernel);
  for (const TimedDecodeAttention& r : records) {
    problem.measured.push_back(r.time.si());
    problem.groups.push_back(head_shape(r));
    problem.regime.push_back(regime_of(r.sequences));
  }
  problem.form = [&chip, kernel, attentions = operators(records)](std::span<const double> free) {
    return [&, form = form_of(kernel, free)](std::size_t row) {
      return decode_attention_cost(chip, form.parameters, attentions[row], form.warm).time.si();
    };
  };
  return problem;
}

}  // namespace

std::vector<double> predict(const Chip& chip, const DecodeAttentionParameters& parameters,
                            const std::optional<WarmCache>& warm, std::span<const TimedDecodeAttention> records) {
  std::vector<double> times;
  for (const models::DecodeAttention& a : operators(records))
    times.push_back(decode_attention_cost(chip, parameters, a, warm).time.si());
  return times;
}

DecodeAttentionCalibration fit_decode_attention(const Chip& chip, std::span<const TimedDecodeAttention> records,
                                                double compute_efficiency, bool warm) {
  Kernel kernel{compute_efficiency, false, warm};
  const double loss = rough_loss(problem_of(chip, records, kernel));
  kernel.packs = true;
  kernel.packs = rough_loss(problem_of(chip, records, kernel)) < loss;

  DecodeAttentionCalibration calibration;
  calibration.report = fit_and_validate(problem_of(chip, records, kernel));
  const Form form = form_of(kernel, values_of(calibration.report.fitted));
  calibration.warm = form.warm;
  DecodeAttentionParameters& p = calibration.parameters = form.parameters;
  p.tag = Tag::fitted;
  for (const TimedDecodeAttention& r : records) {
    p.most_sequences = std::max(p.most_sequences, r.sequences);
    p.longest_context = std::max(p.longest_context, r.context);
  }
  return calibration;
}

}  // namespace llmscape::hardware
