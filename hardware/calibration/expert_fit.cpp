// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/expert_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"
#include "models/expert_coverage.hpp"
#include "models/format.hpp"
#include "traces/cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace llmscape::hardware {
namespace {

using models::Elementwise;
using traces::ExpertLayerCase;
using traces::TimedExpertLayer;

constexpr double kHiddenBytes = 2;  // of activations between the kernels, whatever the weights' format
constexpr double kScoreBytes = 4;
constexpr std::int64_t kLeastWidth = 128;  // of a rank's experts: narrower ones are ruled by alignment
constexpr std::int64_t kRowsForAll = 4;    // rows for each expert that leave none without
constexpr double kUntuned = 1.6;           // times what peaks allow

// The exponent of "power_law_X"; none for other routings.
std::optional<double> exponent_of(std::string_view routing) {
  constexpr std::string_view kPowerLaw = "power_law_";
  if (!routing.starts_with(kPowerLaw)) return std::nullopt;
  const auto exponent = traces::parse_number<double>(routing.substr(kPowerLaw.size()));
  return exponent && *exponent > 1 && *exponent < 2 ? exponent : std::nullopt;
}

// Deals the rows of a layer out to its experts, and takes the rank with the most of them.
void deal(const ExpertLayerCase& layer, models::GroupedGemm& g) {
  const double per_token = static_cast<double>(layer.experts_per_token), experts = static_cast<double>(layer.experts);
  const double tokens = static_cast<double>(layer.tokens), rows = tokens * per_token;
  const auto ranks = static_cast<int>(layer.expert_parallel);
  double rows_of_rank = rows / ranks, touched = std::min(experts, rows) / ranks;
  if (const auto exponent = exponent_of(layer.routing)) {
    const auto all = static_cast<int>(layer.experts);
    g.dealt = models::GroupedGemm::Dealt::by_popularity;
    g.popularity = models::dealt_popularity(*exponent, tokens, rows, all);
    const double share = models::ExpertLoads(g.popularity, rows / experts).touched();
    rows_of_rank = models::fullest_dealt_rank(g.popularity, all, rows, ranks);
    touched = models::fullest_touched(g.experts_held, std::max(share, std::min(1.0, per_token / experts)), ranks);
  } else if (layer.routing != "balanced") {
    if (layer.experts_touched <= 0) throw std::invalid_argument("no routing '" + layer.routing + "'");
    g.dealt = models::GroupedGemm::Dealt::at_random;
  }
  g.rows = std::max<std::int64_t>(1, std::llround(rows_of_rank));
  if (layer.experts_touched > 0) touched = layer.experts_touched;
  g.experts_touched = std::min(std::max(1.0, touched), static_cast<double>(g.rows));
}

double streamed_seconds(const Chip& chip, const ElementwiseParameters& elementwise, const ExpertLayerWork& work) {
  Seconds sum;
  for (const Elementwise& stream : work.streams) sum += elementwise_cost(chip, elementwise, stream).time;
  return sum.si();
}

// Of its GEMMs. `tiles`: of either, whose rows are the same.
double seconds(const Chip& chip, const GemmParameters& p, const ExpertLayerWork& work, const ExpertTiles& tiles) {
  return (grouped_gemm_cost(chip, p, work.up, tiles).time + grouped_gemm_cost(chip, p, work.down, tiles).time).si();
}

double weight_bytes(const models::GroupedGemm& g) {
  return g.experts_touched * static_cast<double>(g.n * g.k) * g.weights.bytes_with_scales();
}

// Its FLOPs at the peak.
double compute_seconds(const Chip& chip, const models::GroupedGemm& g) {
  return 2 * static_cast<double>(g.rows) * static_cast<double>(g.n * g.k) / chip.peak(g.weights, g.activations).si();
}
// Its reads and writes at the memory's rate, then its FLOPs at the peak.
double seconds_at_peaks(const Chip& chip, const models::GroupedGemm& g) {
  const double rows = static_cast<double>(g.rows), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
  const double bytes = weight_bytes(g) + rows * (n + k) * g.activations.bytes;
  return bytes / chip.hbm_bandwidth.value.si() + compute_seconds(chip, g);
}

using Model = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
Model model_of(const ExpertLayerCase& r) { return {r.hidden, r.expert_width, r.experts, r.experts_per_token}; }
Model model_of(const traces::GroupedGemmCase& r) { return {r.n, r.k, 0, 0}; }

// Faster than the weights of its experts can be read, were there three matrices, with rows for all of them.
bool too_fast(const Chip& chip, const TimedExpertLayer& r) {
  const double bytes = least_work(chip, r).weight_bytes;
  return expert_layer_work(r).up.rows >= kRowsForAll * r.experts && bytes > chip.l2.value.si() &&
         bytes > r.time.si() * chip.hbm_bandwidth.value.si();
}

// Rows that are called balanced and are not: DeepSeek-V3's routers choose groups of experts first (kernels with a scale
// for a block take them), and its rows of vLLM and SGLang are 25 to 69 % faster than those of other models, where its
// rows that a power law dealt out are as those.
bool in_groups(const TimedExpertLayer& r) {
  constexpr Model kDeepSeekV3{7168, 2048, 256, 8};
  return r.routing == "balanced" && r.format == "fp8_block" && (r.engine == "vllm" || r.engine == "sglang") &&
         model_of(r) == kDeepSeekV3;
}

// Bounds and priors from layers of an H100. The order is that of `parameters_of`.
std::vector<FreeParameter> free_parameters(const GemmPrior& prior, bool free_efficiency) {
  const double l2 = prior.l2_bandwidth.si();
  std::vector<FreeParameter> all = {{"memory_efficiency", 0.3, 1.1, 0.85, 0.1},
                                    {"launch", 0.3e-6, 100e-6, 10e-6, 0.6},
                                    {"tile", 0.02e-6, 30e-6, 1e-6, 0.7},
                                    {"cta_bandwidth", 2e9, 600e9, 60e9, 0.7},
                                    {"l2_bandwidth", l2 / 10, l2 * 10, l2, 0.4}};
  if (free_efficiency) {
    all.front() = {"memory_efficiency", 0.05, 1.1, 0.7, 0.5};
    all.push_back({"compute_efficiency", 0.05, 1.15, 0.6, 0.4});
  }
  return all;
}

GemmParameters parameters_of(std::optional<double> compute_efficiency, const GemmPrior& prior,
                             std::span<const double> free) {
  GemmParameters p;
  p.compute_efficiency = compute_efficiency ? *compute_efficiency : free[5];
  p.wave_quantisation = prior.wave_quantisation;
  p.row_tiles = prior.row_tiles;
  p.memory_efficiency = free[0];
  p.launch = Seconds(free[1]);
  p.tile = Seconds(free[2]);
  p.cta_bandwidth = BytesPerSecond(free[3]);
  p.l2_bandwidth = BytesPerSecond(free[4]);
  return p;
}

}  // namespace

models::GroupedGemm grouped_gemm_work(const traces::GroupedGemmCase& c) {
  const auto format = models::format_named(c.format);
  if (!format) throw std::invalid_argument("no number format '" + c.format + "'");
  models::GroupedGemm g;
  g.rows = c.tokens * c.experts_per_token;
  g.experts_held = static_cast<int>(c.experts);
  g.experts_touched = static_cast<double>(std::min(c.experts, g.rows));
  g.n = c.n;
  g.k = c.k;
  g.weights = g.activations = *format;
  g.seen_tokens = c.tokens;
  g.experts_per_token = static_cast<int>(c.experts_per_token);
  return g;
}

ExpertLayerWork expert_layer_work(const ExpertLayerCase& layer) {
  const auto format = models::format_named(layer.format);
  if (!format) throw std::invalid_argument("no number format '" + layer.format + "'");
  const double tokens = static_cast<double>(layer.tokens), hidden = static_cast<double>(layer.hidden);
  const std::int64_t width = layer.expert_width / layer.tensor_parallel;
  ExpertLayerWork work;
  // The GEMMs skip rows of other ranks' experts.
  models::GroupedGemm& up = work.up;
  up.experts_held = static_cast<int>(layer.experts / layer.expert_parallel);
  deal(layer, up);
  using traces::PlacedRows;
  const double own = static_cast<double>(up.rows), all = tokens * static_cast<double>(layer.experts_per_token);
  const double placed = layer.placed == PlacedRows::own ? own : all;
  const auto permuted = [&](double rows) { return (rows + tokens) * hidden * kHiddenBytes; };
  work.streams = {{Elementwise::Kind::router, kScoreBytes * tokens * static_cast<double>(layer.experts)},
                  {Elementwise::Kind::permute, permuted(layer.placed == PlacedRows::all ? all : own)},
                  {Elementwise::Kind::activation, 3 * kHiddenBytes * placed * static_cast<double>(width)},
                  {Elementwise::Kind::permute, permuted(placed)}};
  up.weights = up.activations = *format;
  if (layer.format == "int4" || layer.format == "mxfp4") up.activations = models::Format();  // W4A16
  up.seen_tokens = layer.tokens;
  up.experts_per_token = static_cast<int>(layer.experts_per_token);
  up.width = width;
  up.n = 2 * width;
  up.k = layer.hidden;
  work.down = up;
  work.down.n = layer.hidden;
  work.down.k = width;
  return work;
}

LeastWork least_work(const Chip& chip, const ExpertLayerCase& layer) {
  const ExpertLayerWork work = expert_layer_work(layer);
  LeastWork least;
  for (const models::GroupedGemm& g : {work.up, work.down}) {
    least.weight_bytes += weight_bytes(g);
    least.compute_seconds += compute_seconds(chip, g);
  }
  return least;
}

std::vector<TimedExpertLayer> gated_layers(const Chip& chip, std::span<const TimedExpertLayer> records,
                                           std::string_view format, Ranks ranks,
                                           const std::set<std::array<std::int64_t, 4>>& two_matrices) {
  std::vector<TimedExpertLayer> kept;
  std::ranges::copy_if(records, std::back_inserter(kept), [&](const TimedExpertLayer& r) {
    if (two_matrices.contains({r.hidden, r.expert_width, r.experts, r.experts_per_token})) return false;
    if (in_groups(r)) return false;
    return r.format == format && (r.routing == "balanced" || exponent_of(r.routing)) &&
           (ranks == Ranks::any || r.expert_parallel == 1) && r.expert_width / r.tensor_parallel >= kLeastWidth;
  });
  std::set<Model> ungated;
  for (const TimedExpertLayer& r : kept)
    if ((r.routing == "balanced" || r.expert_parallel == 1) && too_fast(chip, r)) ungated.insert(model_of(r));
  std::erase_if(kept, [&](const TimedExpertLayer& r) { return ungated.contains(model_of(r)); });
  return kept;
}

std::vector<TimedExpertLayer> tuned_layers(const Chip& chip, const ElementwiseParameters& elementwise,
                                           std::span<const TimedExpertLayer> records) {
  std::vector<TimedExpertLayer> kept;
  if (records.empty()) return kept;
  const double fastest = std::ranges::min_element(records, {}, &TimedExpertLayer::time)->time.si();
  std::ranges::copy_if(records, std::back_inserter(kept), [&](const TimedExpertLayer& r) {
    const ExpertLayerWork work = expert_layer_work(r);
    return r.time.si() <= kUntuned * (fastest + seconds_at_peaks(chip, work.up) + seconds_at_peaks(chip, work.down) +
                                      streamed_seconds(chip, elementwise, work));
  });
  return kept;
}

std::vector<double> predict(const Chip& chip, const ElementwiseParameters& elementwise,
                            const GemmParameters& parameters, std::span<const TimedExpertLayer> records) {
  std::vector<double> times;
  for (const TimedExpertLayer& r : records) {
    const ExpertLayerWork work = expert_layer_work(r);
    times.push_back(seconds(chip, parameters, work, ExpertTiles(work.up)) + streamed_seconds(chip, elementwise, work));
  }
  return times;
}

namespace {

// What was timed; rows of one shape are held out together.
template <class Timed>
FormProblem problem_of(std::span<const Timed> records) {
  std::set<Model> models;
  for (const Timed& r : records) models.insert(model_of(r));
  FormProblem problem;
  problem.family = "expert_gemm";
  for (const Timed& r : records) {
    problem.measured.push_back(r.time.si());
    problem.groups.push_back({std::distance(models.begin(), models.find(model_of(r))), 0});
    problem.regime.push_back(regime_of(r.tokens));
  }
  return problem;
}

// The prior that explains the rows best, by `time_of` (parameters, row).
template <class Time>
ExpertCalibration best_of(FormProblem problem, std::optional<double> compute_efficiency,
                          std::span<const GemmPrior> priors, Scoring scoring, const Time& time_of) {
  std::vector<FormProblem> forms;
  for (const GemmPrior& prior : priors) {
    problem.parameters = free_parameters(prior, !compute_efficiency);
    problem.form = [&time_of, compute_efficiency, prior](std::span<const double> free) {
      return
          [&time_of, p = parameters_of(compute_efficiency, prior, free)](std::size_t row) { return time_of(p, row); };
    };
    forms.push_back(problem);
  }
  ExpertCalibration calibration;
  std::size_t chosen = 0;
  calibration.report = fit(forms, chosen, scoring);
  calibration.parameters = parameters_of(compute_efficiency, priors[chosen], values_of(calibration.report.fitted));
  calibration.parameters.tag = Tag::fitted;
  return calibration;
}

}  // namespace

std::vector<GemmPrior> tilings(const GemmPrior& prior, bool any_waves, bool flashinfer) {
  using enum RowTiles::Choice;
  // What engines' kernels do, by their sources or because rows are explained by nothing else.
  static constexpr std::array kTilings = {
      RowTiles{fastest, 16, 256, 1},   RowTiles{fastest, 16, 16, 1},   RowTiles{fastest, 32, 32, 1},
      RowTiles{fastest, 64, 64, 1},    RowTiles{fastest, 128, 128, 1}, RowTiles{marlin, 8, 64, 1},
      RowTiles{few_tokens, 16, 64, 1}, RowTiles{seen_rows, 8, 64, 1},  RowTiles{seen_rows, 16, 128, 1},
      RowTiles{own_rows, 8, 128, 2},   RowTiles{own_rows, 64, 256, 1}};
  // TensorRT-LLM's kernels as FlashInfer has them for SGLang on Blackwell.
  static constexpr RowTiles kFlashInfer{seen_rows, 8, 256, 1};
  std::vector<GemmPrior> all;
  for (const double waves : {0.0, 1.0}) {
    if (!any_waves && waves != prior.wave_quantisation) continue;
    for (const RowTiles& tiles : kTilings) {
      all.push_back(prior);
      all.back().wave_quantisation = waves;
      all.back().row_tiles = tiles;
    }
    if (!flashinfer) continue;
    all.push_back(all.back());
    all.back().row_tiles = kFlashInfer;
  }
  return all;
}

ExpertCalibration fit_experts(const Chip& chip, const ElementwiseParameters& elementwise,
                              std::optional<double> compute_efficiency, std::span<const GemmPrior> priors,
                              std::span<const TimedExpertLayer> records, Scoring scoring) {
  std::vector<ExpertLayerWork> layers;
  std::vector<ExpertTiles> tiles;
  std::vector<double> streamed;
  for (const TimedExpertLayer& r : records) {
    layers.push_back(expert_layer_work(r));
    tiles.emplace_back(layers.back().up);
    streamed.push_back(streamed_seconds(chip, elementwise, layers.back()));
  }
  ExpertCalibration calibration =
      best_of(problem_of(records), compute_efficiency, priors, scoring, [&](const GemmParameters& p, std::size_t row) {
        return seconds(chip, p, layers[row], tiles[row]) + streamed[row];
      });
  calibration.report.data = records.front().format + ", " + calibration.report.data;
  GemmParameters& p = calibration.parameters;
  p.least_width = layers.front().down.k;
  for (const ExpertLayerWork& work : layers) {
    p.most_rows = std::max(p.most_rows, work.up.rows);
    p.least_width = std::min({p.least_width, work.down.k, work.down.n});
  }
  return calibration;
}

ExpertCalibration fit_grouped_gemms(const Chip& chip, std::optional<double> compute_efficiency,
                                    std::span<const GemmPrior> priors,
                                    std::span<const traces::TimedGroupedGemm> records) {
  std::vector<models::GroupedGemm> gemms;
  for (const traces::TimedGroupedGemm& r : records) gemms.push_back(grouped_gemm_work(r));
  ExpertCalibration calibration = best_of(
      problem_of(records), compute_efficiency, priors, Scoring::held_out,
      [&](const GemmParameters& p, std::size_t row) { return grouped_gemm_cost(chip, p, gemms[row]).time.si(); });
  calibration.report.data = records.front().format + ", grouped GEMMs, " + calibration.report.data;
  GemmParameters& p = calibration.parameters;
  p.least_width = gemms.front().k;
  for (const models::GroupedGemm& g : gemms) {
    p.most_rows = std::max(p.most_rows, g.rows);
    p.least_width = std::min({p.least_width, g.k, g.n});
  }
  return calibration;
}

}  // namespace llmscape::hardware
