// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/correction_rows.hpp"
#include "hardware/calibration/decode_attention_fit.hpp"
#include "hardware/calibration/errors.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "hardware/calibration/prefill_attention_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace llmscape::hardware {
namespace {

// The most rows of a kind that only corrections learn are those of forms over this.
constexpr std::size_t kLearnedShare = 3;
// An engine that runs another's kernels; format: of KV, where one is named.
struct SameKernels {
  std::string_view engine, format, as;
};
// FlashAttention's latent kernels on Hopper, TensorRT-LLM's out of FlashInfer on Blackwell: vLLM's tables time only
// whole modules with their projections. On Hopper that is of decodes alone: SGLang's table has prompts absorbed there
// (180 Tflop/s of expanded work, 3.4 times as much when absorbed), vLLM expands them for the kernel of its ordinary
// attention (FlashAttention 3; its modules leave 600 to 760 Tflop/s), whose fit they are then priced with.
constexpr SameKernels kSameLatentAttention{"vllm", "", "sglang"};
// ... but decodes over latents in 8 bits run FlashMLA on Hopper, where SGLang widens the whole cache first: vLLM's
// modules read latents of an H200 at 3.0 to 3.1 TB/s with up to 64 heads and at 1.5 with 128, as TensorRT-LLM's kernel
// does, and SGLang's at 0.3.
constexpr SameKernels kSameNarrowLatentDecodes{"vllm", "fp8", "tensorrt_llm"};
constexpr std::string_view kHopper = "H200";  // part of the devices' names
// FlashAttention 3 multiplies keys in 8 bits by queries in 8 bits: no cache is widened for vLLM's prompts on Hopper,
// though a pass over keys that are new would explain its rows, none of which has cached ones, a little better.
constexpr std::string_view kReadsNarrowKeys = "vllm";
// Its cache is appended to by a kernel of a thread block for each token (reshape_and_cache_flash).
constexpr std::string_view kAppendsByToken = "vllm";
// Decodes of these boards, and of GB200s, run TensorRT-LLM's kernels, those out of FlashInfer too.
constexpr std::string_view kDoublingTiles = "B200";
constexpr std::array<std::string_view, 2> kHopperBoards = {"H100", "H200"};
// More query heads than this for a KV head run in another kernel of the engine, up to ten times as slow (generation
// tables of an H200: 48 heads for one at 140 GB/s, 16 at 3,000).
struct LargestGroup {
  std::string_view engine;
  std::int64_t heads;
};
constexpr std::int64_t kAnyGroup = 1'000'000;
constexpr std::array kLargestGroups = {LargestGroup{"tensorrt_llm", 32}};

// Scores rows that are not in a fit beside those that are, by its form; `predicted`: of all. They are for the
// correction to learn.
template <class Parameters, class Row>
void add_learned(FormFit<Parameters>& fit, const std::vector<Row>& more, const std::vector<double>& predicted,
                 std::vector<CorrectionRow> rows) {
  const std::size_t before = predicted.size() - more.size();
  for (std::size_t i = 0; i < more.size(); ++i) {
    std::int64_t tokens = more[i].sequences;
    if constexpr (requires { more[i].tokens; }) tokens *= more[i].tokens;
    fit.report.rows.push_back({regime_of(tokens), more[i].time.si(), predicted[before + i]});
  }
  if (fit.report.rows.size() == predicted.size()) score(fit.report, predicted);
  std::ranges::move(rows, std::back_inserter(fit.rows));
}

template <class Row>
std::vector<Row> both(std::vector<Row> first, const std::vector<Row>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

// Rows that are computed in the fitted ones' format, and how many of them a window cuts.
template <class Row>
std::pair<std::vector<Row>, std::size_t> learned_rows(const std::vector<Row>& fitted, std::vector<Row> cut,
                                                      std::vector<Row> wide) {
  const auto other = [&](const std::vector<Row>& rows) {
    return !rows.empty() && rows.front().format != fitted.front().format;
  };
  if (other(cut)) cut.clear();
  const auto whole = std::ranges::count(fitted, 0, &Row::window);
  if (other(wide) || static_cast<std::size_t>(whole) < kFewestBesideWide) wide.clear();
  const std::size_t count = cut.size();
  return {both(std::move(cut), wide), count};
}

// The held-out error of some of a report's rows.
void tell_error(FamilyReport& report, std::size_t first, std::size_t count, std::string_view what) {
  if (count == 0) return;
  std::vector<double> predicted, measured;
  for (std::size_t i = first; i < first + count; ++i) {
    predicted.push_back(report.rows[i].held_out);
    measured.push_back(report.rows[i].measured);
  }
  report.data += fmt::format(", {} rows {} with MAPE {:.1f} %", count, what, 100 * summarise(predicted, measured).mean);
}

}  // namespace

void tell_learned(FamilyReport& report, std::size_t cut, std::size_t wide) {
  const std::size_t fitted = report.rows.size() - cut - wide;
  tell_error(report, fitted, cut, "that a window cuts");
  tell_error(report, fitted + cut, wide, fmt::format("of heads to {}", kWidestLearnedHead));
}

template <class Row>
std::vector<Row> FamilyFits::attention_rows(const std::vector<Row>& all, const std::string& kv,
                                            AttentionRows which) const {
  const auto* known = std::ranges::find(kLargestGroups, engine_, &LargestGroup::engine);
  const std::int64_t group = known == kLargestGroups.end() ? kAnyGroup : known->heads;
  const auto in = [&](const std::string& compute) {
    std::vector<Row> suitable;
    for (const Row& r : all)
      if (r.engine == engine_ && r.format == compute && r.kv_format == kv && kind_of(r) == which &&
          r.heads <= group * r.kv_heads)
        suitable.push_back(r);
    return sample(suitable, which == AttentionRows::fitted ? most_rows_ : most_rows_ / kLearnedShare);
  };
  std::vector<Row> own = in(kv);
  return own.empty() && kv == "fp8" ? in("bf16") : own;
}

std::vector<traces::TimedPrefillAttention> FamilyFits::prompt_rows(const std::string& kv, AttentionRows which) const {
  std::vector<traces::TimedPrefillAttention> all = tables_.prefill_attention;
  std::erase_if(all, [](const auto& r) { return r.tokens == 1; });  // prompts of one token run as decodes
  return attention_rows(all, kv, which);
}

std::vector<traces::TimedDecodeAttention> FamilyFits::decode_rows(const std::string& kv, AttentionRows which) const {
  auto rows = attention_rows(tables_.decode_attention, kv, which);
  if (which != AttentionRows::fitted || rows.empty() || rows.size() >= kFewestOfDecodes) return rows;
  auto within = attention_rows(tables_.decode_attention, kv, AttentionRows::within);
  if (!within.empty() && within.front().format == rows.front().format)
    std::ranges::move(within, std::back_inserter(rows));
  return rows;
}

bool FamilyFits::reads_narrow_keys() const {
  return engine_ == kReadsNarrowKeys && std::ranges::any_of(kHopperBoards, [this](std::string_view board) {
           return tables_.device.find(board) != std::string::npos;
         });
}

std::optional<FormFit<PrefillAttentionParameters>> FamilyFits::prompts(const std::string& kv, Scoring scoring) const {
  const auto chunks = prompt_rows(kv);
  if (chunks.empty()) return std::nullopt;
  const auto mixed = attention_rows(tables_.mixed_attention, kv, AttentionRows::fitted);
  PrefillAttentionCalibration fit = fit_prefill_attention(
      gpu, chunks, mixed, scoring, {.widens = !reads_narrow_keys(), .appends = engine_ == kAppendsByToken});
  std::vector<CorrectionRow> rows;
  if (mixed.empty()) {
    fit.parameters.takes_decodes = gpu.prefill_attention.takes_decodes;
    rows = correction_rows(gpu, fit.parameters, chunks);
  }
  FormFit<PrefillAttentionParameters> form{std::move(fit.parameters), std::move(fit.report), std::move(rows)};
  if (!mixed.empty()) return form;
  const auto [learned, cut] =
      learned_rows(chunks, prompt_rows(kv, AttentionRows::cut), prompt_rows(kv, AttentionRows::wide));
  form.cut = cut, form.wide = learned.size() - cut;
  add_learned(form, learned, predict(gpu, form.parameters, both(chunks, learned)),
              correction_rows(gpu, form.parameters, learned));
  return form;
}

std::optional<FormFit<DecodeAttentionParameters>> FamilyFits::decodes(const std::string& kv, Scoring scoring) const {
  const auto chosen = decode_rows(kv);
  if (chosen.empty()) return std::nullopt;
  DecodeAttentionCalibration fit =
      fit_decode_attention(gpu, chosen, gpu.gemm.compute_efficiency, tables_.warm_attention, scoring,
                           tables_.device.find(kDoublingTiles) != std::string::npos);
  auto rows = correction_rows(gpu, fit.parameters, fit.warm, chosen);
  FormFit<DecodeAttentionParameters> form{std::move(fit.parameters), std::move(fit.report), std::move(rows)};
  const auto [learned, cut] =
      learned_rows(chosen, decode_rows(kv, AttentionRows::cut), decode_rows(kv, AttentionRows::wide));
  form.cut = cut, form.wide = learned.size() - cut;
  add_learned(form, learned, predict(gpu, form.parameters, fit.warm, both(chosen, learned)),
              correction_rows(gpu, form.parameters, fit.warm, learned));
  return form;
}

std::vector<traces::TimedLatentAttention> FamilyFits::latent_rows(const std::string& kv, bool decode) const {
  const auto timed = [&](const std::string& engine) {
    return std::ranges::find(tables_.latent_attention, engine, &traces::TimedLatentAttention::engine) !=
           tables_.latent_attention.end();
  };
  std::string whose =
      engine_ == kSameLatentAttention.engine && !timed(engine_) ? std::string(kSameLatentAttention.as) : engine_;
  if (whose != engine_ && tables_.device.find(kHopper) != std::string::npos) {
    if (!decode) return {};
    if (kv == kSameNarrowLatentDecodes.format && timed(std::string(kSameNarrowLatentDecodes.as)))
      whose = kSameNarrowLatentDecodes.as;
  }
  const auto in = [&](const std::string& compute) {
    std::vector<traces::TimedLatentAttention> suitable;
    std::ranges::copy_if(tables_.latent_attention, std::back_inserter(suitable), [&](const auto& r) {
      return r.engine == whose && r.decode == decode && r.kv_format == kv && r.format == compute &&
             (decode || r.tokens > 1);
    });
    return sample(suitable);
  };
  auto own = in(kv);
  return own.empty() ? in("bf16") : own;
}

std::vector<traces::TimedIndexedAttention> FamilyFits::indexed_rows(const std::string& part,
                                                                    const std::string& kv) const {
  std::vector<traces::TimedIndexedAttention> suitable;
  std::ranges::copy_if(tables_.indexed_attention, std::back_inserter(suitable), [&](const auto& r) {
    return r.engine == engine_ && r.part == part && (kv.empty() || r.kv_format == kv);
  });
  return sample(suitable);
}

std::optional<FormFit<PrefillAttentionParameters>> FamilyFits::latent_prompts(const std::string& kv,
                                                                              Scoring scoring) const {
  const auto chosen = latent_rows(kv, false);
  if (chosen.empty()) return std::nullopt;
  PrefillAttentionCalibration fit = fit_latent_prompts(gpu, chosen, scoring);
  auto rows = correction_rows(gpu, fit.parameters, chosen);
  return {{std::move(fit.parameters), std::move(fit.report), std::move(rows)}};
}

std::optional<FormFit<DecodeAttentionParameters>> FamilyFits::latent_decodes(const std::string& kv,
                                                                             Scoring scoring) const {
  const auto chosen = latent_rows(kv, true);
  if (chosen.empty()) return std::nullopt;
  DecodeAttentionCalibration fit = fit_latent_decodes(gpu, chosen, tables_.warm_attention, scoring);
  auto rows = correction_rows(gpu, fit.parameters, fit.warm, chosen);
  return {{std::move(fit.parameters), std::move(fit.report), std::move(rows)}};
}

}  // namespace llmscape::hardware
