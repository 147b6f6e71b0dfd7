// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/indexed_attention_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "hardware/gpu/pricing.hpp"
#include "models/format.hpp"
#include "models/mixer/latent_attention.hpp"
#include "models/operator_list.hpp"

#include <algorithm>
#include <array>
#include <variant>
#include <vector>

namespace llmscape::hardware {
namespace {

constexpr std::int64_t kMostNarrowHeads = 16;  // of prompts over 8-bit entries that are not widened first
constexpr double kAboveHost = 3;               // times the fastest module of prompts
constexpr double kMemoryEfficiency = 0.8;      // keys of decodes: too few rows are bound by them to tell

// Widths of the models whose modules were timed (their config.json), heads apart.
struct SparseModel {
  std::string_view name;
  std::int64_t hidden;
  models::LatentAttention mixer;
};
const std::array<SparseModel, 2>& sparse_models() {
  static const std::array<SparseModel, 2> models = [] {
    models::LatentAttention glm{0, 2048, 512, 64, 192, 256}, deepseek{0, 1536, 512, 64, 128, 128};
    glm.index = models::SparseIndex{32, 128, 2048};
    deepseek.index = models::SparseIndex{64, 128, 2048};
    return std::array<SparseModel, 2>{SparseModel{"zai-org/GLM-5", 6144, glm},
                                      SparseModel{"deepseek-ai/DeepSeek-V3.2", 7168, deepseek}};
  }();
  return models;
}

// A module, and what of its time is known beforehand.
struct IndexedRow {
  double seconds = 0, around = 0;  // around: projections, norms and rotation
  models::IndexScores scores;
  std::variant<models::PrefillAttention, models::DecodeAttention> attention;
  bool decode = false, scores_alone = false;
  Group shape;
  Regime regime = Regime::small;
};

std::vector<IndexedRow> indexed_rows_of(const Gpu& gpu, std::span<const traces::TimedIndexedAttention> records) {
  std::vector<IndexedRow> all;
  for (const traces::TimedIndexedAttention& r : records) {
    const auto* known = std::ranges::find(sparse_models(), r.model, &SparseModel::name);
    const auto weights = models::format_named(r.projections);
    if (known == sparse_models().end() || !weights) continue;
    models::LatentAttention mixer = known->mixer;
    mixer.heads = static_cast<int>(r.heads);
    // Kernels of the index name the format of its keys.
    const models::Format kv =
        r.part == "module" ? models::format_named(r.kv_format).value_or(models::Format()) : models::Format();
    const models::Precision precision{*weights, *weights, kv, {}, {}};
    const models::TokenChange change;
    models::LayerShare share{known->hidden, precision, *weights, *weights, change, 1, 1};
    const std::int64_t tokens = r.sequences * r.tokens, context = r.cached + r.tokens;
    (r.decode ? share.decode_tokens : share.chunk_tokens) = tokens;
    models::Batch batch;
    std::vector<models::PrefillChunk> chunks(static_cast<std::size_t>(r.decode ? 0 : r.sequences),
                                             {r.tokens, r.cached, false});
    const std::array<models::Attended, 1> attended = {models::Attended{r.sequences * context, context}};
    batch.chunks = chunks;
    if (r.decode) batch.decodes = r.sequences;
    batch.attended = attended;
    const std::int64_t entries = std::min(context, mixer.index->entries);
    models::OperatorList list;
    mixer.add_token_work(list, share);
    mixer.add_attention(list, share, batch, {r.sequences * entries, entries});
    IndexedRow row;
    row.seconds = r.time.si();
    row.decode = r.decode;
    row.scores_alone = r.part == "scores";
    row.shape = {known->hidden, r.heads, r.sequences};
    row.regime = regime_of(tokens);
    const std::vector<models::Operator> operators = list.take();
    for (const models::Operator& op : operators) {
      if (const auto* scores = std::get_if<models::IndexScores>(&op.what)) row.scores = *scores;
      else if (const auto* prompts = std::get_if<models::PrefillAttention>(&op.what)) row.attention = *prompts;
      else if (const auto* decodes = std::get_if<models::DecodeAttention>(&op.what)) row.attention = *decodes;
      else row.around += price(gpu, {&op, 1}).time().si();
    }
    all.push_back(std::move(row));
  }
  return all;
}

// The records of modules that tell something of the device.
std::vector<traces::TimedIndexedAttention> telling_modules(std::span<const traces::TimedIndexedAttention> records,
                                                           bool narrow) {
  Seconds fastest;
  for (const auto& r : records)
    if (!r.decode && (fastest <= Seconds() || r.time < fastest)) fastest = r.time;
  std::vector<traces::TimedIndexedAttention> all;
  for (const auto& r : records)
    if (r.decode || (r.time > kAboveHost * fastest && (!narrow || r.heads <= kMostNarrowHeads))) all.push_back(r);
  return all;
}

const FreeParameter kScoreEfficiency{"score_efficiency", 0.1, 1.0, 0.5, 0.4};
const FreeParameter kChoice{"choice", 0.5e-9, 1e-6, 30e-9, 1};
const FreeParameter kChoiceBandwidth{"choice_bandwidth", 0.2e12, 20e12, 2e12, 0.5};

}  // namespace

std::optional<IndexedAttentionCalibration> fit_indexed_modules(const Gpu& gpu,
                                                               std::span<const traces::TimedIndexedAttention> records,
                                                               const IndexedAttentionParameters* scores) {
  const bool narrow = !records.empty() && records.front().kv_format != "bf16";
  const std::vector<traces::TimedIndexedAttention> kept = telling_modules(records, narrow);
  const std::vector<IndexedRow> rows = indexed_rows_of(gpu, kept);
  if (rows.size() < kFewestFittedRows) return std::nullopt;
  FormProblem problem;
  problem.family = "indexed_attention";
  problem.parameters = {{"compute_efficiency", 0.05, 1.0, 0.55, 0.4},
                        {"launch", 5e-6, 500e-6, 80e-6, 0.7},
                        {"token", 1e-9, 3e-6, 100e-9, 1},
                        {"host", 10e-6, 5e-3, 0.7e-3, 0.7}};
  if (!scores) problem.parameters.insert(problem.parameters.end(), {kScoreEfficiency, kChoice, kChoiceBandwidth});
  const auto parameters_of = [&](std::span<const double> free) {
    IndexedAttentionParameters p;
    p.memory_efficiency = kMemoryEfficiency;
    p.compute_efficiency = free[0];
    p.launch = Seconds(free[1]);
    p.token = Seconds(free[2]);
    p.score_efficiency = scores ? scores->score_efficiency : free[4];
    p.choice = scores ? scores->choice : Seconds(free[5]);
    p.choice_bandwidth = scores ? scores->choice_bandwidth : BytesPerSecond(free[6]);
    p.every_place = narrow;
    p.unsplit = !narrow;
    p.most_prompt_heads = narrow ? kMostNarrowHeads : 0;
    return p;
  };
  for (const IndexedRow& row : rows) {
    problem.measured.push_back(row.seconds);
    problem.groups.push_back(row.shape);
    problem.regime.push_back(row.regime);
  }
  problem.form = [&](std::span<const double> free) {
    return [&, p = parameters_of(free), host = free[3]](std::size_t i) {
      const IndexedRow& row = rows[i];
      const KernelCost attention =
          std::visit([&](const auto& a) { return indexed_attention_cost(gpu, p, a); }, row.attention);
      return row.around + index_cost(gpu, p, row.scores).time.si() + attention.time.si() + (row.decode ? 0 : host);
    };
  };
  IndexedAttentionCalibration calibration;
  calibration.report = fit_and_validate(problem);
  calibration.report.data += ", whole modules";
  calibration.parameters = parameters_of(values_of(calibration.report.fitted));
  calibration.parameters.tag = Tag::fitted;
  return calibration;
}

std::optional<IndexedAttentionCalibration> fit_index_kernels(const Gpu& gpu,
                                                             std::span<const traces::TimedIndexedAttention> records,
                                                             const IndexedAttentionParameters& attention) {
  const std::vector<IndexedRow> rows = indexed_rows_of(gpu, records);
  if (rows.size() < kFewestFittedRows) return std::nullopt;
  FormProblem problem;
  problem.family = "indexed_attention";
  problem.parameters = {kScoreEfficiency, kChoice, kChoiceBandwidth, {"launch", 0.5e-6, 50e-6, 4e-6, 0.5}};
  for (const IndexedRow& row : rows) {
    const models::PrefillChunk& chunk = row.scores.chunks.front();
    problem.measured.push_back(row.seconds);
    problem.groups.push_back({row.scores_alone, std::ssize(row.scores.chunks), chunk.tokens});
    problem.regime.push_back(row.regime);
  }
  const auto parameters_of = [&](std::span<const double> free) {
    IndexedAttentionParameters p = attention;
    p.residuals = {};
    p.score_efficiency = free[0];
    p.choice = Seconds(free[1]);
    p.choice_bandwidth = BytesPerSecond(free[2]);
    p.launch = Seconds(free[3]);
    p.token = Seconds();
    p.decodes_as_latent = true;
    return p;
  };
  problem.form = [&](std::span<const double> free) {
    return [&, p = parameters_of(free)](std::size_t i) {
      IndexedAttentionParameters one = p;
      if (rows[i].scores_alone) one.choice = Seconds(), one.choice_bandwidth = BytesPerSecond(1e18);
      else one.score_efficiency = 1e6;
      return index_cost(gpu, one, rows[i].scores).time.si();
    };
  };
  IndexedAttentionCalibration calibration;
  calibration.report = fit_and_validate(problem);
  calibration.report.data += ", scores and choice";
  calibration.parameters = parameters_of(values_of(calibration.report.fitted));
  calibration.parameters.launch *= 2;  // of both kernels
  calibration.parameters.tag = Tag::fitted;
  return calibration;
}

}  // namespace llmscape::hardware
