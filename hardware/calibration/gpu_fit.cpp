// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/gpu_fit.hpp"

#include "hardware/calibration/collective_fit.hpp"
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/elementwise_fit.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "hardware/calibration/fitted_group.hpp"
#include "hardware/calibration/form_corrections.hpp"
#include "hardware/calibration/indexed_attention_fit.hpp"
#include "hardware/calibration/latent_power.hpp"
#include "hardware/calibration/power_fit.hpp"
#include "hardware/calibration/tuned_experts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace llmscape::hardware {
namespace {

constexpr std::array<std::string_view, 2> kLatentFormats = {"bf16", "fp8"};
// How much rows of relatives count: of the same kernels on a sibling, and of another engine on the same device.
constexpr double kSiblingWeight = 0.5, kEngineWeight = 0.25;

void append(std::vector<CorrectionRow>& to, std::span<const CorrectionRow> rows, double weight) {
  for (const CorrectionRow& row : rows) to.emplace_back(row).weight = weight;
}

class GpuFit {
 public:
  GpuFit(const traces::KernelTables& tables, const std::string& engine, bool own, Gpu gpu,
         const CalibrationRequest& request, YamlNode& groups)
      : own_(own), request_(request), groups_(groups), fits_(tables, engine, std::move(gpu), request.most_rows) {
    if (engine.empty()) return;
    for (const Sibling& sibling : request.siblings)
      siblings_.emplace_back(*sibling.tables, engine, sibling.gpu->of_engine(engine), request.most_rows);
    for (const std::string& other : engines_of(tables))
      if (other != engine) engines_.emplace_back(tables, other, fits_.gpu, request.most_rows);
  }

  std::vector<FamilyReport> run() {
    if (wanted("elementwise") && own_) elementwise();
    if (wanted("gemm")) gemms();
    if (wanted("expert_gemm")) experts();
    if (wanted("prefill_attention")) prefill_attention();
    if (wanted("decode_attention")) decode_attention();
    if (wanted("latent_attention")) latent_attention();
    if (wanted("indexed_attention")) indexed_attention();
    if (wanted("collectives")) collectives();
    if (wanted("energy") && own_) energy();
    return std::move(reports_);
  }

 private:
  [[nodiscard]] bool wanted(std::string_view family) const {
    return request_.families.empty() || std::ranges::find(request_.families, family) != request_.families.end();
  }

  // The form with a correction on it where the rows earn one, by themselves or with the help of relatives', and the
  // errors of both together. `fit` gives the form of a FamilyFits.
  template <class Fit>
  auto corrected(const CorrectionPlans& plans, const Fit& fit) const {
    return corrected([all = &plans](bool /*windows*/) -> const CorrectionPlans& { return *all; }, fit);
  }
  // `plans`: by whether some rows are cut by a window.
  template <class Plans, class Fit>
    requires std::is_invocable_v<Plans, bool>
  auto corrected(const Plans& plans, const Fit& fit) const {
    auto form = fit(fits_, Scoring::held_out);
    if (!form || form->rows.empty()) return form;
    correct(*form, plans(form->cut > 0), fit);
    tell_learned(form->report, form->cut, form->wide);
    return form;
  }

  template <class Parameters, class Fit>
  void correct(FormFit<Parameters>& form, const CorrectionPlans& plans, const Fit& fit) const {
    std::vector<CorrectionRow> siblings, all;
    // What windows and wide heads cost relatives helps own rows of such, and disturbs others.
    const auto help = [&](const FamilyFits& relative, std::vector<CorrectionRow>& to, double weight) {
      const auto other = fit(relative, Scoring::none);
      if (!other) return;
      const std::size_t fitted = other->rows.size() - other->cut - other->wide;
      append(to, std::span(other->rows).first(fitted), weight);
      if (form.cut > 0) append(to, std::span(other->rows).subspan(fitted, other->cut), weight);
      if (form.wide > 0) append(to, std::span(other->rows).last(other->wide), weight);
    };
    for (const FamilyFits& relative : siblings_) help(relative, siblings, kSiblingWeight);
    all = siblings;
    for (const FamilyFits& relative : engines_) help(relative, all, kEngineWeight);
    std::vector<Relatives> relatives(1);
    if (!siblings.empty()) relatives.push_back({siblings, " with rows of a sibling"});
    if (all.size() > siblings.size()) relatives.push_back({all, " with rows of siblings and other engines"});
    // Tables that name no engine are dense series of a few shapes: points far apart are for samples of many.
    add_earned_correction(form, plans, relatives, !fits_.engine().empty());
  }

  // Writes where the parameters come from, and keeps the report.
  void keep(Fit& parameters, FamilyReport report) {
    parameters.source =
        fmt::format("{} on {}, {}: {}", software(), fits_.tables().device, request_.records, summary_of(report));
    parameters.residuals = residuals_of(report);
    report.engine = fits_.engine();
    reports_.push_back(std::move(report));
  }
  [[nodiscard]] std::string software() const { return software_of(fits_.tables(), fits_.engine()); }

  // Under `key`, or for a format as an entry of the mapping there.
  template <class Parameters>
  void write(const std::string& key, const std::string& format, const Fields<Parameters>& fields,
             FormFit<Parameters> form) {
    if (!format.empty() && !form.report.data.starts_with(format + ", "))
      form.report.data = format + ", " + form.report.data;
    keep(form.parameters, std::move(form.report));
    YamlNode group = fitted_group(fields, std::move(form.parameters));
    if (format.empty()) {
      groups_.set(key, std::move(group));
      return;
    }
    YamlNode* formats = groups_.find(key);
    if (!formats) formats = &groups_.set(key, YamlNode::mapping({}));
    formats->set(format, std::move(group));
  }

  void elementwise() {
    ElementwiseCalibration fit = fit_elementwise(fits_.gpu, fits_.tables().elementwise, fits_.gpu.elementwise);
    if (fit.report.family.empty()) return;
    if (fit.parameters.tag == Tag::fitted) {
      const ElementwiseParameters before = fits_.gpu.elementwise;
      keep(fit.parameters, fit.report);
      if (!fit.all_kinds) fit.parameters.source += "; other kinds: " + before.source;
      const Residuals& seen = fit.parameters.residuals;
      const bool known = !(seen.small.empty() && seen.medium.empty() && seen.large.empty());
      if (!fit.all_kinds && !known) fit.parameters.residuals = before.residuals;
    } else {  // the other kinds are worth what they were
      say(fit.parameters, "quantise", fit.report);
    }
    fits_.gpu.elementwise = fit.parameters;
    groups_.set("elementwise", fitted_group(elementwise_fields(), std::move(fit.parameters)));
  }

  // Adds to the source what a part of the parameters was fitted to, and keeps the report.
  void say(Fit& parameters, std::string_view part, FamilyReport report) {
    const std::size_t before = parameters.source.find(fmt::format("; {}: ", part));
    parameters.source = fmt::format("{}; {}: {} on {}, {}", parameters.source.substr(0, before), part, software(),
                                    fits_.tables().device, summary_of(report));
    report.engine = fits_.engine();
    reports_.push_back(std::move(report));
  }

  void gemms() {
    const std::string base = fits_.base_format();
    gemm(base, true);
    for (const std::string& format : fits_.product_formats())
      if (format != base && format != "fp16") gemm(format, false);
  }

  void gemm(const std::string& format, bool base) {
    if (auto fit = fits_.scales(format)) {
      if (own_) {
        ElementwiseParameters& all = fits_.gpu.elementwise;
        all.scales = fit->parameters.parameters();
        say(all, "scales", std::move(fit->report));
        groups_.set("elementwise", fitted_group(elementwise_fields(), ElementwiseParameters(all)));
      } else {
        keep(fit->parameters, fit->report);
        fit->parameters.residuals = {};
        groups_.set("scales", fitted_group(fitted_scales_fields(), std::move(fit->parameters)));
      }
    }
    auto form = corrected(gemm_correction_plans(fits_.chosen_by_time(format)),
                          [&](const FamilyFits& fits, Scoring scoring) { return fits.products(format, scoring); });
    if (!form) return;
    if (base) fits_.gpu.gemm = form->parameters;
    write(base ? "gemm" : "gemm_by_format", base ? "" : format, gemm_fields(), std::move(*form));
  }

  void experts() {
    const std::string base = fits_.base_format();
    for (const std::string& format : fits_.expert_formats()) {
      const auto dealt = [&](Dealt how) {
        const bool tuned = !tuned_experts(fits_.tables().device, fits_.engine(), format).empty();
        return corrected(expert_gemm_correction_plans(tuned), [&, how](const FamilyFits& fits, Scoring scoring) {
          return fits.experts(format, how, scoring);
        });
      };
      auto form = dealt(Dealt::in_any_way);
      if (!form) form = fits_.grouped_gemms(format);
      if (!form) continue;
      auto even = dealt(Dealt::evenly);
      if (even && fits_.meets_even_rows_worse(format, *form, *even)) form = std::move(even);
      write(format == base ? "expert_gemm" : "expert_gemm_by_format", format == base ? "" : format,
            expert_gemm_fields(), std::move(*form));
    }
  }

  void prefill_attention() {
    const std::string base = fits_.base_format();
    for (const std::string& kv : formats_of_kv(base))
      if (auto form = corrected(prefill_attention_correction_plans,
                                [&](const FamilyFits& fits, Scoring scoring) { return fits.prompts(kv, scoring); }))
        write(kv == base ? "prefill_attention" : "prefill_attention_by_kv", kv == base ? "" : kv,
              prefill_attention_fields(), std::move(*form));
  }

  void decode_attention() {
    const std::string base = fits_.base_format();
    for (const std::string& kv : formats_of_kv(base))
      if (auto form = corrected(decode_attention_correction_plans,
                                [&](const FamilyFits& fits, Scoring scoring) { return fits.decodes(kv, scoring); }))
        write(kv == base ? "decode_attention" : "decode_attention_by_kv", kv == base ? "" : kv,
              decode_attention_fields(), std::move(*form));
  }

  void latent_attention() {
    for (const std::string_view name : kLatentFormats) {
      const std::string kv(name);
      if (auto form = corrected(prefill_attention_correction_plans(), [&](const FamilyFits& fits, Scoring scoring) {
            return fits.latent_prompts(kv, scoring);
          }))
        write("latent_prefill_attention", kv, prefill_attention_fields(), std::move(*form));
      if (auto form = corrected(decode_attention_correction_plans(), [&](const FamilyFits& fits, Scoring scoring) {
            return fits.latent_decodes(kv, scoring);
          }))
        write("latent_decode_attention", kv, decode_attention_fields(), std::move(*form));
    }
  }

  // Modules where the engine's were timed, else kernels of the index, with the attention of another engine's modules.
  void indexed_attention() {
    const IndexedAttentionParameters* scores = nullptr;
    for (const std::string_view name : kLatentFormats) {
      const std::string kv(name);
      const auto rows = fits_.indexed_rows("module", kv);
      if (rows.empty()) continue;
      auto fit = fit_indexed_modules(fits_.gpu, rows, scores);
      if (!fit) continue;
      fits_.gpu.indexed_attention[kv] = fit->parameters;
      if (!scores) scores = &fits_.gpu.indexed_attention[kv];
      write_indexed(kv, std::move(*fit));
    }
    const auto kernels = fits_.indexed_rows("scores", ""), choices = fits_.indexed_rows("choice", "");
    for (const FamilyFits& other : engines_) {
      const auto modules = other.indexed_rows("module", "bf16");
      if (scores || kernels.empty() || choices.empty() || modules.empty()) continue;
      auto rows = kernels;
      rows.insert(rows.end(), choices.begin(), choices.end());
      const auto attention = fit_indexed_modules(other.gpu, modules, nullptr);
      if (!attention) continue;
      auto fit = fit_index_kernels(fits_.gpu, rows, attention->parameters);
      if (!fit) return;
      fit->report.data += fmt::format("; attention of {}'s modules", other.engine());
      write_indexed("bf16", std::move(*fit));
      return;
    }
  }

  void write_indexed(const std::string& kv, IndexedAttentionCalibration fit) {
    write("indexed_attention", kv, indexed_attention_fields(),
          FormFit<IndexedAttentionParameters>{std::move(fit.parameters), std::move(fit.report), {}});
  }

  // Fitted collectives take the place of the base's of the same kind and number of ranks: those of a library of the
  // library's, those that an engine has for small tensors (`below`) of the engine's.
  void collectives() {
    std::vector<traces::TimedCollective> messages;
    for (const traces::TimedCollective& r : fits_.tables().collective)
      if (r.engine == fits_.engine() || (own_ && r.engine.empty())) messages.push_back(r);
    std::vector<CollectiveCalibration> fits = fit_collectives(messages);
    std::erase_if(fits, [](const CollectiveCalibration& fit) {  // the fastest is used: one of unknown rate would be
      return !fit.parameters.below && !std::ranges::all_of(fit.report.fitted, [](const FittedParameter& p) {
        return p.name != "bandwidth" || p.identified();
      });
    });
    if (fits.empty()) return;
    YamlNode kept;
    kept.kind = YamlNode::Kind::sequence;
    YamlNode* links = groups_.find("links");
    for (std::size_t i = 0; links && i < fits_.gpu.links.collectives.size(); ++i) {
      const CollectiveFit& before = fits_.gpu.links.collectives[i];
      const bool fitted = std::ranges::any_of(fits, [&](const CollectiveCalibration& fit) {
        return fit.parameters.kind == before.kind && fit.parameters.ranks == before.ranks &&
               fit.parameters.below.has_value() == before.below.has_value();
      });
      if (!fitted) kept.items.push_back(links->find("collectives")->items[i]);
    }
    Residuals pooled = pooled_residuals(fits, models::Collective::Kind::all_reduce);  // the first speaks for all
    for (CollectiveCalibration& fit : fits) {
      keep(fit.parameters, fit.report);
      fit.parameters.residuals = {};
      if (fit.parameters.kind == models::Collective::Kind::all_reduce)
        fit.parameters.residuals = std::exchange(pooled, {});
      fit.parameters.source = fit.implementation + ": " + fit.parameters.source;
      kept.items.push_back(fitted_group(collective_fields(), fit.parameters));
    }
    (links ? *links : groups_).set("collectives", std::move(kept));
  }

  // Of the board, whichever engine's kernels it was read with.
  void energy() {
    const auto& readings = fits_.tables().power;
    auto fit = fit_power(fits_.gpu, readings, request_.most_rows, request_.held);
    if (!fit) return;
    const std::string& read = readings.front().software;
    const std::string held = request_.held.empty() ? "" : fmt::format("{} held; ", fmt::join(request_.held, ", "));
    fit->parameters.source = fmt::format("{} on {}, {}: {}; {}link as it was", read.empty() ? software() : read,
                                         fits_.tables().device, request_.records, summary_of(fit->report), held);
    Gpu fitted = fits_.gpu;
    fitted.energy = fit->parameters;
    groups_.set("energy", fitted_group(gpu_energy_fields(), std::move(fit->parameters)));
    reports_.push_back(std::move(fit->report));
    std::ranges::move(fit->parts, std::back_inserter(reports_));
    if (auto latent = score_latent_power(fitted, fits_.tables().latent_power)) reports_.push_back(std::move(*latent));
  }

  [[nodiscard]] static std::vector<std::string> formats_of_kv(const std::string& base) {
    return base == "fp8" ? std::vector<std::string>{base} : std::vector<std::string>{base, "fp8"};
  }

  const bool own_;
  const CalibrationRequest& request_;
  YamlNode& groups_;
  FamilyFits fits_;
  std::vector<FamilyFits> siblings_, engines_;  // relatives: the same engine elsewhere, others here
  std::vector<FamilyReport> reports_;
};

}  // namespace

std::vector<FamilyReport> fit_gpu(const traces::KernelTables& tables, const std::string& engine, bool own, Gpu gpu,
                                  const CalibrationRequest& request, YamlNode& groups) {
  return GpuFit(tables, engine, own, std::move(gpu), request, groups).run();
}

}  // namespace llmscape::hardware
