// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/decode_attention_fit.hpp"

#include "hardware/calibration/attention_shapes.hpp"
#include "hardware/calibration/cross_validation.hpp"

#include <algorithm>

namespace llmscape::hardware {
namespace {

using traces::TimedDecodeAttention;

// Four parameters more fit any rows better by chance; two kernels lower the loss to less than this share.
constexpr double kTwoKernels = 0.8;
constexpr std::size_t kFewestOfAKernel = 20;
// What tiles there are lowers the loss to less than this share.
constexpr double kTilesTell = 0.93;
constexpr std::int64_t kSmallTile = 16;  // rows of FlashInfer's smallest tile
// TensorRT-LLM's XQA of Hopper, as its tables show it: waves that its keys are split over, the share of the
// multiprocessors below which masked attention is taken instead, and keys of a part of that.
constexpr double kWaves = 8, kLeastFill = 0.25;
constexpr std::int64_t kUngroupedPartKeys = 256;

// What is known of the kernel and its records, or supposed, before the fit.
struct DecodeKernel {
  double compute_efficiency = 0;
  bool packs = false;  // as FlashAttention 2 does
  bool warm = false;
  bool computes = false;     // compute bounds it too: its efficiency is free
  bool widens = false;       // the cache before it reads it
  bool parts = false;        // heads that share no keys in a kernel of their own
  bool small_tiles = false;  // of 16 rows, for groups of no more, and an efficiency of its own
  bool row_tiles = false;    // a kernel for each doubling of a group's rows
  bool waves = false;        // keys of groups over several waves of blocks
};

// What the records timed.
struct DecodeRow {
  models::DecodeAttention attention;
  double seconds = 0;
  Group shape;
};

// Bounds and priors: fits of A100, H100 and H200 agree on them (docs: kernel model). The order is that of `form_of`.
std::vector<FreeParameter> free_parameters(const Chip& chip, const DecodeKernel& kernel) {
  std::vector<FreeParameter> all = {{"memory_efficiency", 0.4, 1.1, 0.82, 0.08},
                                    {"launch", 0.5e-6, 50e-6, 10e-6, 0.6},
                                    {"cta", 0.05e-6, 40e-6, 3.5e-6, 0.7},
                                    {"split", 0.05e-6, 40e-6, 2e-6, 0.7},
                                    {"cta_bandwidth", 5e9, 600e9, 100e9, 0.7}};
  if (kernel.parts)
    for (std::size_t i = 1; i <= 4; ++i) {
      FreeParameter& own = all.emplace_back(all[i]);
      own.name = "ungrouped." + own.name;
    }
  if (kernel.packs) all.push_back({"packing", 0.1e-6, 40e-6, 4e-6, 0.7});
  // Kernels that widen the whole cache before they read it reach a fraction of the bandwidth.
  if (kernel.computes) {
    all.front() = {"memory_efficiency", 0.02, 1.1, 0.5, 0.7};
    all.push_back({"compute_efficiency", 0.1, 1.3, 0.5, 0.5});
  }
  if (kernel.widens) {
    const double memory = chip.hbm_bandwidth.value.si();
    all.push_back({"widening", memory / 100, memory, memory / 8, 0.7});
  }
  if (kernel.small_tiles) all.push_back({"compute_efficiency", 0.02, 1.3, 0.3, 0.7});
  if (kernel.row_tiles) {
    all.push_back({"row_tiles.launch", 0.02e-6, 5e-6, 0.5e-6, 1.0});
    all.push_back({"row_tiles.cta", 0.02, 3, 0.3, 1.0});
    all.push_back({"row_tiles.narrow", 0.3, 2, 0.9, 0.3});
  }
  if (kernel.waves) all.push_back({"split_waves.part", 0.05, 1.5, 0.6, 0.5});
  if (kernel.warm) {
    const double memory = chip.hbm_bandwidth.value.si();
    const WarmCache supposed = supposed_warm_cache(chip);
    all.push_back({"warm_bandwidth", memory / 4, 8 * memory, supposed.bandwidth.si(), 0.4});
    all.push_back({"warm_share", 0.2, 1.5, supposed.held, 0.3});
  }
  return all;
}

struct Form {
  DecodeAttentionParameters parameters;
  std::optional<WarmCache> warm;
};

Form form_of(const DecodeKernel& kernel, BytesPerSecond memory_bandwidth, std::span<const double> free) {
  Form form;
  DecodeAttentionParameters& p = form.parameters;
  p.compute_efficiency = kernel.compute_efficiency;
  p.memory_efficiency = free[0];
  p.launch = Seconds(free[1]);
  p.cta = Seconds(free[2]);
  p.split = Seconds(free[3]);
  p.cta_bandwidth = BytesPerSecond(free[4]);
  std::size_t next = 5;
  if (kernel.parts) {
    p.ungrouped =
        DecodeBlocks{Seconds(free[5]), Seconds(free[6]), BytesPerSecond(free[8]), Seconds(free[7]), std::nullopt};
    next = 9;
  }
  if (kernel.packs) p.packing = Seconds(free[next++]);
  if (kernel.computes) p.compute_efficiency = free[next++];
  if (kernel.widens) p.widening = BytesPerSecond(free[next++]);
  if (kernel.small_tiles) {
    p.row_block = kSmallTile;
    p.compute_efficiency = free[next++];
  }
  if (kernel.row_tiles) {
    p.row_tiles = DecodeTiles{Seconds(free[next]), free[next + 1], free[next + 2]};
    next += 3;
  }
  if (kernel.waves) {
    p.split_waves = DecodeWaves{kWaves, kLeastFill, free[next++]};
    p.ungrouped->part_keys = kUngroupedPartKeys;
  }
  if (kernel.warm) form.warm = WarmCache{BytesPerSecond(free[next]), free[next + 1]};
  // Keys found in L2 that arrived no faster than from memory say nothing of it.
  if (kernel.packs && form.warm && form.warm->bandwidth > memory_bandwidth) p.l2_bandwidth = form.warm->bandwidth;
  return form;
}

std::vector<DecodeRow> decode_rows(std::span<const TimedDecodeAttention> records) {
  std::vector<DecodeRow> all;
  all.reserve(records.size());
  for (const TimedDecodeAttention& r : records) {
    DecodeRow& row = all.emplace_back(DecodeRow{of_heads<models::DecodeAttention>(r), r.time.si(), head_shape(r)});
    row.attention.sequences = r.sequences;
    row.attention.attended = attended(r);
    row.attention.window = r.window;
    row.attention.masks = r.window > 0;
    row.attention.contexts = r.sequences * r.context;
  }
  return all;
}

std::vector<DecodeRow> decode_rows(std::span<const traces::TimedLatentAttention> records) {
  std::vector<DecodeRow> all;
  for (const traces::TimedLatentAttention& r : records)
    all.push_back({latent_decode(r), r.time.si(), {r.heads, r.sequences}});
  return all;
}

FormProblem decode_problem(const Chip& chip, const std::vector<DecodeRow>& rows, const DecodeKernel& kernel) {
  FormProblem problem;
  problem.family = "decode_attention";
  problem.parameters = free_parameters(chip, kernel);
  for (const DecodeRow& r : rows) {
    problem.measured.push_back(r.seconds);
    problem.groups.push_back(r.shape);
    problem.regime.push_back(regime_of(r.attention.sequences));
  }
  problem.form = [&chip, kernel, &rows](std::span<const double> free) {
    return [&, form = form_of(kernel, *chip.hbm_bandwidth, free)](std::size_t row) {
      return decode_attention_cost(chip, form.parameters, rows[row].attention, form.warm).time.si();
    };
  };
  return problem;
}

DecodeAttentionCalibration fit_decode_rows(const Chip& chip, const std::vector<DecodeRow>& rows, DecodeKernel kernel,
                                           Scoring scoring, bool doublings = false) {
  double loss = rough_loss(decode_problem(chip, rows, kernel));
  const auto better_with = [&](bool DecodeKernel::* does, double share = 1) {
    DecodeKernel variant = kernel;
    variant.*does = true;
    const double other = rough_loss(decode_problem(chip, rows, variant));
    if (other >= share * loss) return false;
    loss = other;
    return true;
  };
  kernel.packs = !kernel.computes && better_with(&DecodeKernel::packs);
  kernel.widens = kernel.computes && rows.front().attention.kv.bytes() < 2 && better_with(&DecodeKernel::widens);
  const auto ungrouped = [](const DecodeRow& r) { return r.attention.heads == r.attention.kv_heads; };
  const auto alone = static_cast<std::size_t>(std::ranges::count_if(rows, ungrouped));
  kernel.parts = !kernel.computes && alone >= kFewestOfAKernel && rows.size() - alone >= kFewestOfAKernel &&
                 better_with(&DecodeKernel::parts, kTwoKernels);
  kernel.waves = kernel.parts && !kernel.packs && !doublings && better_with(&DecodeKernel::waves, kTilesTell);
  bool DecodeKernel::* tiles = doublings ? &DecodeKernel::row_tiles : &DecodeKernel::small_tiles;
  kernel.*tiles = !kernel.computes && better_with(tiles, kTilesTell);

  DecodeAttentionCalibration calibration;
  calibration.report = fit(decode_problem(chip, rows, kernel), scoring);
  const Form form = form_of(kernel, *chip.hbm_bandwidth, values_of(calibration.report.fitted));
  calibration.warm = form.warm;
  DecodeAttentionParameters& p = calibration.parameters = form.parameters;
  p.tag = Tag::fitted;
  for (const DecodeRow& r : rows) {
    p.most_sequences = std::max(p.most_sequences, r.attention.sequences);
    p.longest_context = std::max(p.longest_context, r.attention.attended.max);
  }
  return calibration;
}

}  // namespace

WarmCache supposed_warm_cache(const Chip& chip) { return {1.3 * *chip.hbm_bandwidth, 0.85}; }

std::vector<double> predict(const Chip& chip, const DecodeAttentionParameters& parameters,
                            const std::optional<WarmCache>& warm, std::span<const TimedDecodeAttention> records) {
  std::vector<double> times;
  for (const DecodeRow& r : decode_rows(records))
    times.push_back(decode_attention_cost(chip, parameters, r.attention, warm).time.si());
  return times;
}

DecodeAttentionCalibration fit_decode_attention(const Chip& chip, std::span<const TimedDecodeAttention> records,
                                                double compute_efficiency, bool warm, Scoring scoring, bool doublings) {
  return fit_decode_rows(chip, decode_rows(records), {.compute_efficiency = compute_efficiency, .warm = warm}, scoring,
                         doublings);
}

DecodeAttentionCalibration fit_latent_decodes(const Chip& chip, std::span<const traces::TimedLatentAttention> records,
                                              bool warm, Scoring scoring) {
  auto calibration =
      fit_decode_rows(chip, decode_rows(records), {.compute_efficiency = 1, .warm = warm, .computes = true}, scoring);
  calibration.report.family = "latent_decode_attention";
  calibration.parameters.kernel = models::AttentionKernel::latent;
  return calibration;
}

}  // namespace llmscape::hardware
