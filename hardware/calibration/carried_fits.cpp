// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/carried_fits.hpp"

#include "hardware/calibration/attention_shapes.hpp"
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/decode_attention_fit.hpp"
#include "hardware/calibration/expert_fit.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "hardware/calibration/gpu_fit.hpp"
#include "hardware/scaled_fits.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace llmscape::hardware {
namespace {

constexpr std::array<std::string_view, 9> kFigures = {
    "peak_bf16", "peak_fp8", "peak_int8", "peak_fp4", "hbm_bandwidth", "hbm_capacity", "multiprocessors", "l2", "tdp"};
constexpr std::array<std::string_view, 2> kLinkFigures = {"bandwidth", "latency"};
constexpr std::array<const char*, 2> kKvFormats = {"bf16", "fp8"};
constexpr std::int64_t kTokenBytes = 8192;  // 4,096 values of 16 bits

class Scorer {
 public:
  Scorer(const traces::KernelTables& tables, const std::string& engine, const Gpu& gpu, std::size_t most_rows)
      : tables_(tables), rows_(tables, engine, gpu, most_rows) {}

  std::vector<FamilyReport> run() {
    for (const std::string& format : rows_.product_formats()) products(format);
    for (const std::string& format : rows_.expert_formats()) experts(format);
    for (const char* kv : kKvFormats) attention(kv);
    for (const char* kv : kKvFormats) latent(kv);
    all_reduces();
    return std::move(reports_);
  }

 private:
  void keep(const char* family, const std::string& format, std::vector<RowReport> rows) {
    if (rows.empty()) return;
    FamilyReport report;
    report.engine = rows_.engine();
    report.family = family;
    report.data = format;
    report.rows = std::move(rows);
    std::vector<double> predicted;
    for (const RowReport& row : report.rows) predicted.push_back(row.held_out);
    score(report, predicted);
    reports_.push_back(std::move(report));
  }

  void products(const std::string& format) {
    const Gpu& gpu = rows_.gpu;
    const auto [chosen, note] = rows_.product_rows(format);
    std::vector<RowReport> rows;
    for (const traces::TimedGemm& r : chosen) {
      if (r.engine != rows_.engine()) continue;  // stand in for its own in a fit: scored where they belong
      const auto [gemm, quantisation] = product_of(gpu, gpu.elementwise, r);
      const auto& fit = gpu.gemm_of(gemm.weights, gemm.activations);
      rows.push_back({regime_of(r.m), r.time.si(), gemm_cost(gpu, fit, gemm).time.si() + quantisation});
    }
    keep("gemm", format, std::move(rows));
  }

  void experts(const std::string& format) {
    const Gpu& gpu = rows_.gpu;
    std::vector<RowReport> rows;
    for (const traces::TimedExpertLayer& r : rows_.expert_rows(format, Dealt::evenly).first) {
      const auto up = expert_layer_work(r).up;
      const auto& fit = gpu.grouped_gemm_of(up.weights, up.activations);
      rows.push_back({regime_of(r.tokens), r.time.si(), predict(gpu, gpu.elementwise, fit, {&r, 1}).front()});
    }
    keep("expert_gemm", format, std::move(rows));
  }

  [[nodiscard]] std::optional<WarmCache> warm() const {
    return tables_.warm_attention ? std::optional(supposed_warm_cache(rows_.gpu)) : std::nullopt;
  }
  [[nodiscard]] double seconds(const models::DecodeAttention& a) const {
    return decode_attention_cost(rows_.gpu, rows_.gpu.decode_attention_of(a), a, warm()).time.si();
  }
  [[nodiscard]] double seconds(const models::PrefillAttention& a) const {
    return prefill_attention_cost(rows_.gpu, rows_.gpu.prefill_attention_of(a), a, a.chunks).time.si();
  }

  void attention(const std::string& kv) {
    std::vector<RowReport> prompts, decodes;
    for (const traces::TimedPrefillAttention& r : rows_.prompt_rows(kv)) {
      auto a = of_heads<models::PrefillAttention>(r);
      a.chunks.assign(static_cast<std::size_t>(r.sequences), {r.tokens, r.cached, false});
      prompts.push_back({regime_of(r.sequences * r.tokens), r.time.si(), seconds(a)});
    }
    for (const traces::TimedDecodeAttention& r : rows_.decode_rows(kv)) {
      auto a = of_heads<models::DecodeAttention>(r);
      a.sequences = r.sequences;
      a.attended = {r.sequences * r.context, r.context};
      decodes.push_back({regime_of(r.sequences), r.time.si(), seconds(a)});
    }
    keep("prefill_attention", kv, std::move(prompts));
    keep("decode_attention", kv, std::move(decodes));
  }

  void latent(const std::string& kv) {
    std::vector<RowReport> prompts, decodes;
    for (const traces::TimedLatentAttention& r : rows_.latent_rows(kv, false))
      if (r.engine == rows_.engine())
        prompts.push_back({regime_of(r.sequences * r.tokens), r.time.si(), seconds(latent_prompts(r))});
    for (const traces::TimedLatentAttention& r : rows_.latent_rows(kv, true))
      if (r.engine == rows_.engine())
        decodes.push_back({regime_of(r.sequences), r.time.si(), seconds(latent_decode(r))});
    keep("latent_prefill_attention", kv, std::move(prompts));
    keep("latent_decode_attention", kv, std::move(decodes));
  }

  // The fastest software at each size, as steps take it.
  void all_reduces() {
    std::map<std::pair<std::int64_t, std::int64_t>, Seconds> fastest;  // by ranks and bytes
    for (const traces::TimedCollective& r : tables_.collective) {
      if (r.kind != "all_reduce" || r.ranks_per_node != r.ranks || r.implementation.ends_with("_eager")) continue;
      if (!r.engine.empty() && r.engine != rows_.engine()) continue;
      const auto [known, first] = fastest.emplace(std::pair(r.ranks, r.bytes), r.time);
      if (!first) known->second = std::min(known->second, r.time);
    }
    std::vector<RowReport> rows;
    for (const auto& [which, time] : fastest) {
      const auto& [ranks, bytes] = which;
      const models::Collective c{models::Collective::Kind::all_reduce, static_cast<double>(bytes),
                                 static_cast<int>(ranks)};
      rows.push_back({regime_of(bytes / kTokenBytes), time.si(), collective_time(rows_.gpu.links, c).si()});
    }
    keep("collectives", "all_reduce", std::move(rows));
  }

  const traces::KernelTables& tables_;
  FamilyFits rows_;
  std::vector<FamilyReport> reports_;
};

void lay_figure(YamlNode& onto, const YamlNode& figures, std::string_view key) {
  if (const YamlNode* figure = figures.find(key)) onto.set(std::string(key), *figure);
}

}  // namespace

YamlNode carried(const YamlNode& from, const YamlNode& to) {
  YamlNode device = from;
  for (const std::string_view figure : kFigures) lay_figure(device, to, figure);
  YamlNode* links = device.find("links");
  const YamlNode* theirs = to.find("links");
  if (links && theirs)
    for (const std::string_view figure : kLinkFigures) lay_figure(*links, *theirs, figure);
  scale_fits(device, from);
  return device;
}

std::vector<FamilyReport> score_kernels(const traces::KernelTables& tables, const Gpu& gpu, std::size_t most_rows) {
  std::vector<FamilyReport> all;
  for (const std::string& engine : engines_of(tables))
    for (FamilyReport& report : Scorer(tables, engine, gpu.of_engine(engine), most_rows).run())
      all.push_back(std::move(report));
  return all;
}

}  // namespace llmscape::hardware
