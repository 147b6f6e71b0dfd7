// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/prefill_attention_fit.hpp"

#include "hardware/calibration/attention_shapes.hpp"
#include "hardware/calibration/cross_validation.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace llmscape::hardware {
namespace {

using traces::TimedMixedAttention;
using traces::TimedPrefillAttention;

// How a kernel may divide its work, whether it widens keys and values in 8 bits before, and whether what appends new
// ones takes a time of its own for each token.
struct Tiling {
  std::int64_t edge = 128;
  bool by_head = false;
  bool widens = false;
  bool appends = false;
};
constexpr std::array<Tiling, 4> kTilings = {{{128, false}, {128, true}, {64, false}, {64, true}}};
// A parameter more fits any rows better by chance; what there is lowers the loss to less than this share.
constexpr double kExplains = 0.93;

// Bounds and priors: fits of A100, H100 and H200 agree on them (docs: kernel model). Only the ratio of softmax and
// efficiency shows in records of one head width. The order is that of `parameters_of`.
std::vector<FreeParameter> free_parameters(const Chip& chip, const Tiling& tiling) {
  std::vector<FreeParameter> all = {
      {"compute_efficiency", 0.2, 1.5, 0.9, 0.25}, {"softmax_flops", 10, 3000, 250, 0.7},
      {"memory_efficiency", 0.1, 1.3, 0.8, 0.4},   {"launch", 0.3e-6, 50e-6, 8e-6, 0.6},
      {"tile", 0.01e-6, 30e-6, 1e-6, 1.0},         {"wave_quantisation", 0.01, 1, 0.4, 0.7}};
  const double memory = chip.hbm_bandwidth.value.si();
  if (tiling.widens) all.push_back({"widening", memory / 100, memory, memory / 8, 0.7});
  if (tiling.appends) all.push_back({"append", 0.1e-9, 50e-9, 4e-9, 0.7});
  return all;
}

PrefillAttentionParameters parameters_of(const Tiling& tiling, std::span<const double> free) {
  PrefillAttentionParameters p;
  p.tile_edge = tiling.edge;
  p.by_head = tiling.by_head;
  p.compute_efficiency = free[0];
  p.softmax_flops = free[1];
  p.memory_efficiency = free[2];
  p.launch = Seconds(free[3]);
  p.tile = Seconds(free[4]);
  p.wave_quantisation = free[5];
  std::size_t next = 6;
  if (tiling.widens) p.widening = BytesPerSecond(free[next++]);
  if (tiling.appends) p.append = Seconds(free[next]);
  return p;
}

// What one record timed.
struct Kernel {
  models::PrefillAttention shape;  // with its chunks
  models::DecodeAttention decodes;

  [[nodiscard]] double seconds(const Chip& chip, const PrefillAttentionParameters& p) const {
    const KernelCost cost = decodes.sequences > 0 ? mixed_attention_cost(chip, p, shape, shape.chunks, decodes)
                                                  : prefill_attention_cost(chip, p, shape, shape.chunks);
    return cost.time.si();
  }
};

Kernel kernel_of(const TimedPrefillAttention& r) {
  Kernel kernel{of_heads<models::PrefillAttention>(r), {}};
  kernel.shape.window = r.window;
  kernel.shape.chunks.assign(static_cast<std::size_t>(r.sequences), {r.tokens, r.cached});
  return kernel;
}

Kernel kernel_of(const TimedMixedAttention& r) {
  Kernel kernel{of_heads<models::PrefillAttention>(r), of_heads<models::DecodeAttention>(r)};
  kernel.shape.chunks = {{r.tokens, r.cached}};
  kernel.decodes.sequences = r.decodes;
  kernel.decodes.attended = {r.decodes * r.context, r.context};
  return kernel;
}

// What was timed, with the shape that is held out together.
struct PromptRow {
  Kernel kernel;
  double seconds = 0;
  Group shape;
  std::int64_t tokens = 0;  // of the step
};

template <class Records>
std::vector<double> times(const Chip& chip, const PrefillAttentionParameters& parameters, const Records& records) {
  std::vector<double> all;
  all.reserve(records.size());
  for (const auto& r : records) all.push_back(kernel_of(r).seconds(chip, parameters));
  return all;
}

FormProblem prompt_problem(const Chip& chip, const std::vector<PromptRow>& rows, const Tiling& tiling) {
  FormProblem problem;
  problem.family = "prefill_attention";
  problem.parameters = free_parameters(chip, tiling);
  for (const PromptRow& r : rows) {
    problem.measured.push_back(r.seconds);
    problem.groups.push_back(r.shape);
    problem.regime.push_back(regime_of(r.tokens));
  }
  problem.form = [&chip, tiling, &rows](std::span<const double> free) {
    return [&, p = parameters_of(tiling, free)](std::size_t row) { return rows[row].kernel.seconds(chip, p); };
  };
  return problem;
}

// That which explains the records best; only tiles of single heads take decodes.
Tiling best_tiling(const Chip& chip, const std::vector<PromptRow>& rows, bool mixed, PromptCopies may) {
  Tiling best;
  double least = std::numeric_limits<double>::infinity();
  for (const Tiling& tiling : kTilings) {
    if (mixed && !tiling.by_head) continue;
    const double loss = rough_loss(prompt_problem(chip, rows, tiling));
    if (loss < least) best = tiling;
    least = std::min(least, loss);
  }
  const auto take = [&](bool Tiling::* copy) {
    Tiling with = best;
    with.*copy = true;
    const double loss = rough_loss(prompt_problem(chip, rows, with));
    if (loss >= kExplains * least) return;
    best = with;
    least = loss;
  };
  if (may.widens && rows.front().kernel.shape.kv.bytes() < 2) take(&Tiling::widens);
  if (may.appends) take(&Tiling::appends);
  return best;
}

}  // namespace

std::vector<double> predict(const Chip& chip, const PrefillAttentionParameters& parameters,
                            std::span<const TimedPrefillAttention> records) {
  return times(chip, parameters, records);
}
std::vector<double> predict(const Chip& chip, const PrefillAttentionParameters& parameters,
                            std::span<const TimedMixedAttention> records) {
  return times(chip, parameters, records);
}

PrefillAttentionCalibration fit_prefill_attention(const Chip& chip, std::span<const TimedPrefillAttention> records,
                                                  std::span<const TimedMixedAttention> mixed, Scoring scoring,
                                                  PromptCopies may) {
  std::vector<PromptRow> rows;
  for (const TimedPrefillAttention& r : records)
    rows.push_back({kernel_of(r), r.time.si(), head_shape(r), r.sequences * r.tokens});
  for (const TimedMixedAttention& r : mixed)
    rows.push_back({kernel_of(r), r.time.si(), head_shape(r), r.tokens + r.decodes});
  const Tiling tiling = best_tiling(chip, rows, !mixed.empty(), may);
  PrefillAttentionCalibration calibration;
  calibration.report = fit(prompt_problem(chip, rows, tiling), scoring);
  PrefillAttentionParameters& p = calibration.parameters = parameters_of(tiling, values_of(calibration.report.fitted));
  p.takes_decodes = !mixed.empty();
  p.tag = Tag::fitted;
  const auto widen = [&](const auto& r) {
    p.most_tokens = std::max(p.most_tokens, r.tokens);
    p.longest_context = std::max(p.longest_context, r.tokens + r.cached);
  };
  for (const TimedPrefillAttention& r : records) widen(r);
  for (const TimedMixedAttention& r : mixed) widen(r);
  return calibration;
}

PrefillAttentionCalibration fit_latent_prompts(const Chip& chip, std::span<const traces::TimedLatentAttention> records,
                                               Scoring scoring) {
  std::vector<PromptRow> rows;
  for (const traces::TimedLatentAttention& r : records)
    rows.push_back({{latent_prompts(r), {}}, r.time.si(), {r.heads, r.sequences}, r.sequences * r.tokens});
  const Tiling tiling = best_tiling(chip, rows, false, {.widens = true, .appends = false});
  PrefillAttentionCalibration calibration;
  calibration.report = fit(prompt_problem(chip, rows, tiling), scoring);
  calibration.report.family = "latent_prefill_attention";
  PrefillAttentionParameters& p = calibration.parameters = parameters_of(tiling, values_of(calibration.report.fitted));
  p.kernel = models::AttentionKernel::latent;
  p.tag = Tag::fitted;
  for (const traces::TimedLatentAttention& r : records) {
    p.most_tokens = std::max(p.most_tokens, r.tokens);
    p.longest_context = std::max(p.longest_context, r.tokens + r.cached);
  }
  return calibration;
}

}  // namespace llmscape::hardware
