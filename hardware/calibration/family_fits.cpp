// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/family_fits.hpp"

#include "hardware/calibration/cached_rows.hpp"
#include "hardware/calibration/correction_rows.hpp"
#include "hardware/calibration/decode_attention_fit.hpp"
#include "hardware/calibration/errors.hpp"
#include "hardware/calibration/expert_fit.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "hardware/calibration/prefill_attention_fit.hpp"
#include "hardware/calibration/sampling.hpp"
#include "models/format.hpp"
#include "traces/engine_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>

namespace llmscape::hardware {
namespace {

constexpr std::string_view kEvenly = "balanced";  // routing of expert layers
constexpr std::size_t kLearnedShare =
    3;  // the most rows of a kind that corrections alone learn are those of fits over this
// Fewer fitted rows suffer from tables that wide heads stretch: their errors rise by a tenth to a half (SGLang's 33 to
// 67, TensorRT-LLM's 132 to 232 of an H200).
constexpr std::size_t kFewestBesideWide = 250;
constexpr std::uint64_t kRowsKey = 0x726f7773;  // any fixed number

// Rows of experts that a power law dealt out say more of the same kernels. They count unless those that were dealt out
// evenly, whose tiles are counted and not expected, are met worse by more than this for it (Triton's on Hopper).
constexpr double kMostWorse = 1.05;

// Engines that run another's library for products of a format (DeepGEMM).
struct SameLibrary {
  std::string_view engine, format, as;
};
constexpr std::array kSameLibrary = {SameLibrary{"vllm", "fp8_block", "sglang"}};
// FlashAttention's latent kernels on Hopper, TensorRT-LLM's out of FlashInfer on Blackwell: vLLM's tables time only
// whole modules with their projections. On Hopper that is of decodes alone: SGLang's table has prompts absorbed there
// (180 Tflop/s of expanded work, 3.4 times as much when absorbed), vLLM expands them for the kernel of its ordinary
// attention (FlashAttention 3; its modules leave 600 to 760 Tflop/s), whose fit they are then priced with.
constexpr SameLibrary kSameLatentAttention{"vllm", "", "sglang"};
// ... but decodes over latents in 8 bits run FlashMLA on Hopper, where SGLang widens the whole cache first: vLLM's
// modules read latents of an H200 at 3.0 to 3.1 TB/s with up to 64 heads and at 1.5 with 128, as TensorRT-LLM's kernel
// does, and SGLang's at 0.3.
constexpr SameLibrary kSameNarrowLatentDecodes{"vllm", "fp8", "tensorrt_llm"};
constexpr std::string_view kHopper = "H200";  // part of the devices' names
// FlashAttention 3 multiplies keys in 8 bits by queries in 8 bits: no cache is widened for vLLM's prompts on Hopper,
// though a pass over keys that are new would explain its rows, none of which has cached ones, a little better.
constexpr std::string_view kReadsNarrowKeys = "vllm";
constexpr std::array<std::string_view, 2> kHopperBoards = {"H100", "H200"};
// More query heads than this for a KV head run in another kernel of the engine, up to ten times as slow (generation
// tables of an H200: 48 heads for one at 140 GB/s, 16 at 3,000).
struct LargestGroup {
  std::string_view engine;
  std::int64_t heads;
};
constexpr std::int64_t kAnyGroup = 1'000'000;
constexpr std::array kLargestGroups = {LargestGroup{"tensorrt_llm", 32}};
// Engines whose ranks skip the rows of experts that other ranks hold.
constexpr std::array<std::string_view, 2> kOwnRowsAlone = {"sglang", "tensorrt_llm"};

// Whose experts were left untuned in some runs of the tables' collector: a second speed of whole runs (one model under
// the same degrees and routing), at which nearly all of vLLM's rows of FlashInfer's experts in fp8 stand, the same
// CUTLASS kernels without a tuner. An engine tunes before it serves.
struct PartlyUntuned {
  std::string_view device, engine, format;  // `device`: part of its name
};
constexpr std::array kPartlyUntuned = {PartlyUntuned{"H200", "tensorrt_llm", "bf16"},
                                       PartlyUntuned{"H200", "tensorrt_llm", "fp8"}};

template <class Row>
std::vector<std::string> formats_of(const std::vector<Row>& rows, const std::string& engine) {
  std::set<std::string> formats;
  for (const Row& row : rows)
    if (row.engine == engine && models::format_named(row.format)) formats.insert(row.format);
  return {formats.begin(), formats.end()};
}

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
  if (other(wide) || fitted.size() < kFewestBesideWide) wide.clear();
  const std::size_t count = cut.size();
  return {both(std::move(cut), wide), count};
}

// Nothing where a row tells nothing new, as no token leaves its window, or is of no kind that is learned.
template <class Row>
std::optional<AttentionRows> kind_of(const Row& r) {
  const bool wide = r.head_dim > kWidestFittedHead;
  if (r.head_dim > kWidestLearnedHead) return std::nullopt;
  std::int64_t window = 0, context = 0;
  if constexpr (requires { r.window; }) window = r.window;
  if (window == 0) return wide ? AttentionRows::wide : AttentionRows::fitted;
  if constexpr (requires { r.cached; }) context = r.tokens + r.cached;
  else context = r.context;
  return context > window && !wide ? std::optional(AttentionRows::cut) : std::nullopt;
}

}  // namespace

std::vector<std::string> engines_of(const traces::KernelTables& tables) {
  std::set<std::string> engines;
  const auto add = [&engines](const auto& rows) {
    for (const auto& row : rows)
      if (!row.engine.empty()) engines.insert(row.engine);
  };
  add(tables.gemm);
  add(tables.expert_layer);
  add(tables.prefill_attention);
  add(tables.decode_attention);
  add(tables.latent_attention);
  add(tables.indexed_attention);
  add(tables.collective);
  return {engines.begin(), engines.end()};
}

std::string base_format_of(const traces::KernelTables& tables, const std::string& engine) {
  const auto has = [&](const auto& rows, const char* format) {
    return std::ranges::any_of(rows, [&](const auto& r) { return r.engine == engine && r.format == format; });
  };
  for (const char* format : {"bf16", "fp16", "fp8"})
    if (has(tables.gemm, format) || has(tables.decode_attention, format) || has(tables.prefill_attention, format))
      return format;
  return "bf16";
}

std::string software_of(const traces::KernelTables& tables, const std::string& engine) {
  const std::string& all = tables.software;
  for (std::size_t from = 0; !engine.empty() && from < all.size();) {
    const std::size_t to = std::min(all.find(", ", from), all.size());
    const std::string name = all.substr(from, to - from);
    if (traces::engine_of_framework(name.substr(0, name.find(' '))) == engine) return name;
    from = to + 2;
  }
  return all;
}

FamilyFits::FamilyFits(const traces::KernelTables& tables, std::string engine, Gpu device, std::size_t most_rows)
    : gpu(std::move(device)), tables_(tables), engine_(std::move(engine)), most_rows_(most_rows) {}

template <class Row>
std::vector<Row> FamilyFits::sample(const std::vector<Row>& suitable, std::size_t most) const {
  if (suitable.size() < kFewestFittedRows) return {};
  std::vector<Row> chosen;
  for (const std::size_t i : random_subset(suitable.size(), most, kRowsKey)) chosen.push_back(suitable[i]);
  return chosen;
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

std::vector<std::string> FamilyFits::product_formats() const { return formats_of(tables_.gemm, engine_); }
std::vector<std::string> FamilyFits::expert_formats() const {
  auto formats = formats_of(tables_.expert_layer, engine_);
  return formats.empty() ? formats_of(tables_.grouped_gemm, engine_) : formats;
}

std::pair<std::vector<traces::TimedGemm>, std::string> FamilyFits::product_rows(const std::string& format) const {
  std::vector<traces::TimedGemm> own, kept;
  const std::vector<traces::TimedGemm> all = in_range(tables_.gemm, format, {});
  std::ranges::copy_if(all, std::back_inserter(own), [&](const auto& r) { return r.engine == engine_; });
  if (own.empty()) return {};
  const Seconds floor = std::ranges::min_element(own, {}, &traces::TimedGemm::time)->time;
  const std::string cached =
      without_cached_weights(gpu, own, [this](const traces::TimedGemm& r) { return least_work(gpu, r); });
  if (engine_.empty() || floor < kLaunchBound) return {sample(own), cached};
  std::ranges::copy_if(own, std::back_inserter(kept), [&](const auto& r) { return r.time > kAboveFloor * floor; });
  std::string note = cached + fmt::format(", {} of {} rows above three times a floor of {:.0f} us", kept.size(),
                                          own.size(), 1e6 * floor.si());
  kept = sample(kept);
  for (const SameLibrary& same : kSameLibrary) {
    if (same.engine != engine_ || same.format != format) continue;
    const auto before = std::ssize(kept);
    std::ranges::copy_if(all, std::back_inserter(kept), [&](const auto& r) { return r.engine == same.as; });
    if (std::ssize(kept) > before)
      note += fmt::format(", {} of {}, which runs the same library", std::ssize(kept) - before, same.as);
  }
  if (kept.size() < kFewestFittedRows) kept.clear();
  return {std::move(kept), std::move(note)};
}

std::optional<ScalesCalibration> FamilyFits::scales(const std::string& format) const {
  const auto narrow = products_that_tell_scales(tables_.gemm, engine_, format);
  if (narrow.size() < kFewestFittedRows) return std::nullopt;
  return fit_scales(gpu, gpu.gemm, sample(narrow));
}

std::optional<FormFit<GemmParameters>> FamilyFits::products(const std::string& format, Scoring scoring) const {
  const auto [chosen, note] = product_rows(format);
  if (chosen.empty()) return std::nullopt;
  ElementwiseParameters elementwise = gpu.elementwise;
  elementwise.scales.reset();
  if (const auto found = scales(format)) elementwise.scales = found->parameters.parameters();
  std::vector<GemmPrior> priors = {{gpu.gemm.wave_quantisation, gpu.gemm.l2_bandwidth}};
  const bool as_base = format == base_format() && engine_.empty();
  if (!as_base) priors = product_tilings(best_prior(gpu, elementwise, chosen, priors.front()));
  GemmCalibration fit = fit_gemm(gpu, elementwise, chosen, priors, scoring);
  if (as_base) fit.parameters.least_tile_rows = gpu.gemm.least_tile_rows;
  fit.report.data += note;
  auto rows = correction_rows(gpu, elementwise, fit.parameters, chosen);
  return {{std::move(fit.parameters), std::move(fit.report), std::move(rows)}};
}

std::pair<std::vector<traces::TimedExpertLayer>, std::string> FamilyFits::expert_rows(const std::string& format,
                                                                                      Dealt dealt) const {
  std::vector<traces::TimedExpertLayer> own;
  std::ranges::copy_if(tables_.expert_layer, std::back_inserter(own), [&](const auto& r) {
    return r.engine == engine_ && (dealt == Dealt::in_any_way || r.routing == kEvenly);
  });
  const bool own_rows = std::ranges::find(kOwnRowsAlone, engine_) != kOwnRowsAlone.end();
  std::vector<traces::TimedExpertLayer> kept =
      gated_layers(gpu, own, format, own_rows ? Ranks::any : Ranks::with_all_experts);
  std::string note =
      without_cached_weights(gpu, kept, [this](const traces::TimedExpertLayer& r) { return least_work(gpu, r); });
  const bool untuned = std::ranges::any_of(kPartlyUntuned, [&](const PartlyUntuned& some) {
    return some.engine == engine_ && some.format == format && tables_.device.find(some.device) != std::string::npos;
  });
  if (!untuned) return {sample(kept), std::move(note)};
  const std::size_t all = kept.size();
  kept = tuned_layers(gpu, gpu.elementwise, kept);
  note += fmt::format(", without {} of {} that ran untuned", all - kept.size(), all);
  return {sample(kept), std::move(note)};
}

std::optional<FormFit<GemmParameters>> FamilyFits::experts(const std::string& format, Dealt dealt,
                                                           Scoring scoring) const {
  const auto [chosen, note] = expert_rows(format, dealt);
  if (chosen.empty()) return std::nullopt;
  const std::optional<double> efficiency =
      format == base_format() ? std::optional(gpu.gemm.compute_efficiency) : std::nullopt;
  const auto priors = tilings({gpu.gemm.wave_quantisation, gpu.gemm.l2_bandwidth}, !efficiency);
  ExpertCalibration fit = fit_experts(gpu, gpu.elementwise, efficiency, priors, chosen, scoring);
  fit.report.data += note;
  auto rows = correction_rows(gpu, gpu.elementwise, fit.parameters, chosen);
  return {{std::move(fit.parameters), std::move(fit.report), std::move(rows)}};
}

bool FamilyFits::meets_even_rows_worse(const std::string& format, const FormFit<GemmParameters>& any,
                                       const FormFit<GemmParameters>& even) const {
  const auto rows = expert_rows(format, Dealt::in_any_way).first;
  std::vector<double> predicted, measured;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].routing != kEvenly) continue;
    predicted.push_back(any.report.rows[i].held_out);
    measured.push_back(any.report.rows[i].measured);
  }
  return summarise(predicted, measured).mean > kMostWorse * even.report.held_out.mean;
}

std::optional<FormFit<GemmParameters>> FamilyFits::grouped_gemms(const std::string& format) const {
  std::vector<traces::TimedGroupedGemm> own;
  std::ranges::copy_if(tables_.grouped_gemm, std::back_inserter(own),
                       [&](const auto& r) { return r.engine == engine_ && r.format == format; });
  const auto chosen = sample(own);
  if (chosen.empty()) return std::nullopt;
  // Kernels by themselves, without a layer's other costs, tell their own efficiency.
  const auto priors = tilings({gpu.gemm.wave_quantisation, gpu.gemm.l2_bandwidth}, true);
  ExpertCalibration fit = fit_grouped_gemms(gpu, std::nullopt, priors, chosen);
  return {{std::move(fit.parameters), std::move(fit.report), {}}};
}

std::vector<traces::TimedPrefillAttention> FamilyFits::prompt_rows(const std::string& kv, AttentionRows which) const {
  std::vector<traces::TimedPrefillAttention> all = tables_.prefill_attention;
  std::erase_if(all, [](const auto& r) { return r.tokens == 1; });  // prompts of one token run as decodes
  return attention_rows(all, kv, which);
}

std::vector<traces::TimedDecodeAttention> FamilyFits::decode_rows(const std::string& kv, AttentionRows which) const {
  return attention_rows(tables_.decode_attention, kv, which);
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
  PrefillAttentionCalibration fit = fit_prefill_attention(gpu, chunks, mixed, scoring, !reads_narrow_keys());
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
      fit_decode_attention(gpu, chosen, gpu.gemm.compute_efficiency, tables_.warm_attention, scoring);
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
