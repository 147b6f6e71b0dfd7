// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/latent_power.hpp"

#include "hardware/calibration/attention_shapes.hpp"
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "hardware/gpu/pricing.hpp"
#include "models/mixer/latent_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace llmscape::hardware {
namespace {

constexpr std::int64_t kHiddenOfDeepSeek = 7168;
// At equal rates the readings grow with the length of a module (prompts on an H200 at 490 to 710 Tflop/s: 373 W at 1 to
// 3 ms, 426 to 10, 481 to 30, 526 beyond): shorter ones were repeated too few times to fill the sensor's window.
constexpr Seconds kShortestModule(30e-3);

std::vector<models::Operator> operators_of(const traces::LatentModuleReading& r) {
  models::LatentAttention mixer;
  mixer.heads = static_cast<int>(r.what.heads);
  mixer.q_rank = 1536;
  mixer.kv_rank = 512;
  mixer.rope_dim = 64;
  mixer.nope_dim = mixer.v_dim = 128;
  const models::Format wide, format = models::format_named(r.projections).value_or(wide);
  const std::int64_t rows = r.what.sequences * r.what.tokens;
  std::vector<models::Operator> all;
  for (const models::Linear& linear : mixer.projections(kHiddenOfDeepSeek, 1))
    all.push_back({models::Gemm{rows, linear.n, linear.k, format, format}, 1});
  // Prompts expand the latents of cached tokens too; the expansion stays in 16 bits.
  const std::int64_t expanded = r.what.decode ? rows : rows + r.what.sequences * r.what.cached;
  const models::Linear expansion = mixer.expansion(1);
  all.push_back({models::Gemm{expanded, expansion.n, expansion.k, wide, wide}, 1});
  if (r.what.decode) all.push_back({latent_decode(r.what), 1});
  else all.push_back({latent_prompts(r.what), 1});
  return all;
}

}  // namespace

Watts predicted_power(const Gpu& gpu, const traces::LatentModuleReading& reading) {
  const PartCost part = price(gpu, operators_of(reading));
  const Joules work = std::accumulate(part.work.begin(), part.work.end(), Joules());
  const Bytes bytes = std::accumulate(part.bytes.begin(), part.bytes.end(), Bytes());
  const Seconds launches = std::accumulate(part.launch.begin(), part.launch.end(), Seconds());
  const double running = std::max(0.0, 1 - launches / reading.time);
  const Watts above = running * gpu.energy.active + (work + bytes * gpu.energy.memory) / reading.time;
  return *gpu.idle + (gpu.energy.measured_limit ? std::min(above, *gpu.energy.measured_limit - *gpu.idle) : above);
}

std::optional<FamilyReport> score_latent_power(const Gpu& gpu, std::span<const traces::LatentModuleReading> readings) {
  FamilyReport report;
  report.family = "energy";
  report.form = "latent attention with projections, nothing fitted";
  std::vector<double> predicted;
  for (const traces::LatentModuleReading& r : readings) {
    if (r.time < kShortestModule || !models::format_named(r.projections) || !models::format_named(r.what.kv_format))
      continue;
    report.rows.push_back({regime_of(r.what.sequences * r.what.tokens), r.power.si(), predicted_power(gpu, r).si()});
    predicted.push_back(report.rows.back().held_out);
  }
  if (report.rows.size() < kFewestFittedRows) return std::nullopt;
  report.data = fmt::format("{} of {} readings", report.rows.size(), readings.size());
  score(report, predicted);
  return report;
}

}  // namespace llmscape::hardware
