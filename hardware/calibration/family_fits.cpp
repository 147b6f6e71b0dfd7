// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/family_fits.hpp"

#include "hardware/calibration/cached_rows.hpp"
#include "hardware/calibration/correction_rows.hpp"
#include "hardware/calibration/errors.hpp"
#include "hardware/calibration/expert_fit.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "hardware/calibration/sampling.hpp"
#include "hardware/calibration/tuned_experts.hpp"
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

// Rows of experts that a power law dealt out say more of the same kernels. They count unless those that were dealt out
// evenly, whose tiles are counted and not expected, are met worse by more than this for it (Triton's on Hopper).
constexpr double kMostWorse = 1.05;

// Engines that run another's library for products of a format (DeepGEMM).
struct SameLibrary {
  std::string_view engine, format, as;
};
constexpr std::array kSameLibrary = {SameLibrary{"vllm", "fp8_block", "sglang"}};
// Engines whose ranks skip the rows of experts that other ranks hold.
constexpr std::array<std::string_view, 2> kOwnRowsAlone = {"sglang", "tensorrt_llm"};

// Whose experts run in FlashInfer's kernels, and on which boards.
constexpr std::string_view kFlashInferEngine = "sglang", kFlashInferBoards = "B200";

// Whose experts were left untuned in some runs of the tables' collector: a second speed of whole runs (one model under
// the same degrees and routing), at which nearly all of vLLM's rows of FlashInfer's experts in fp8 stand, the same
// CUTLASS kernels without a tuner. An engine tunes before it serves.
struct PartlyUntuned {
  std::string_view device, engine, format;  // `device`: part of its name
};
constexpr std::array kPartlyUntuned = {PartlyUntuned{"H200", "tensorrt_llm", "bf16"},
                                       PartlyUntuned{"H200", "tensorrt_llm", "fp8"}};

// Where products run in DeepGEMM's tiles of Hopper: with a scale for each block, in all engines. TensorRT-LLM's copy
// swaps the sides of short ones; vLLM's rows of such are below what its table tells.
constexpr std::array<std::string_view, 3> kDeepGemmDevices = {"H100", "H20", "H800"};  // H200 among them
std::optional<DeepGemm> deep_gemm_of(std::string_view device, std::string_view engine, std::string_view format) {
  const auto named = [&](std::string_view part) { return device.find(part) != std::string_view::npos; };
  if (format != "fp8_block" || engine.empty() || std::ranges::none_of(kDeepGemmDevices, named)) return std::nullopt;
  return DeepGemm{engine == "tensorrt_llm" ? 32 : 0, Seconds()};
}

template <class Row>
std::vector<std::string> formats_of(const std::vector<Row>& rows, const std::string& engine) {
  std::set<std::string> formats;
  for (const Row& row : rows)
    if (row.engine == engine && models::format_named(row.format)) formats.insert(row.format);
  return {formats.begin(), formats.end()};
}

std::vector<traces::TimedGemm> products_of(const traces::KernelTables& tables, const std::string& engine,
                                           const std::string& format) {
  std::vector<traces::TimedGemm> own = in_range(tables.gemm, format, {});
  std::erase_if(own, [&](const traces::TimedGemm& r) { return r.engine != engine; });
  return own;
}

// Of at least one product.
Seconds fastest(const std::vector<traces::TimedGemm>& products) {
  return std::ranges::min_element(products, {}, &traces::TimedGemm::time)->time;
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

std::vector<std::string> FamilyFits::product_formats() const { return formats_of(tables_.gemm, engine_); }
std::vector<std::string> FamilyFits::expert_formats() const {
  auto formats = formats_of(tables_.expert_layer, engine_);
  return formats.empty() ? formats_of(tables_.grouped_gemm, engine_) : formats;
}

bool FamilyFits::chosen_by_time(const std::string& format) const {
  if (engine_.empty()) return false;
  const std::vector<traces::TimedGemm> own = products_of(tables_, engine_, format);
  return !own.empty() && fastest(own) >= kLaunchBound;
}

std::pair<std::vector<traces::TimedGemm>, std::string> FamilyFits::product_rows(const std::string& format) const {
  std::vector<traces::TimedGemm> own = products_of(tables_, engine_, format);
  if (own.empty()) return {};
  const Seconds floor = fastest(own);
  const std::string cached =
      without_cached_weights(gpu, own, [this](const traces::TimedGemm& r) { return least_work(gpu, r); });
  if (!chosen_by_time(format)) return {sample(own), cached};
  std::vector<traces::TimedGemm> kept;
  std::ranges::copy_if(own, std::back_inserter(kept), [&](const auto& r) { return r.time > kAboveFloor * floor; });
  std::string note = cached + fmt::format(", {} of {} rows above three times a floor of {:.0f} us", kept.size(),
                                          own.size(), 1e6 * floor.si());
  kept = sample(kept);
  for (const SameLibrary& same : kSameLibrary) {
    if (same.engine != engine_ || same.format != format) continue;
    const auto before = std::ssize(kept);
    std::ranges::copy(products_of(tables_, std::string(same.as), format), std::back_inserter(kept));
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
  if (const auto deep_gemm = deep_gemm_of(tables_.device, engine_, format))
    priors = {{0, gpu.gemm.l2_bandwidth, 64, {}, deep_gemm}};
  else if (!as_base) priors = product_tilings(best_prior(gpu, elementwise, chosen, priors.front()));
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
      gated_layers(gpu, own, format, own_rows ? Ranks::any : Ranks::with_all_experts, tables_.two_matrices);
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
  const bool flashinfer = engine_ == kFlashInferEngine && tables_.device.find(kFlashInferBoards) != std::string::npos;
  const auto priors = tilings({gpu.gemm.wave_quantisation, gpu.gemm.l2_bandwidth}, !efficiency, flashinfer);
  ExpertCalibration fit = fit_experts(gpu, gpu.elementwise, efficiency, priors, chosen, scoring);
  fit.parameters.tuned = tuned_experts(tables_.device, engine_, format);
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

}  // namespace llmscape::hardware
