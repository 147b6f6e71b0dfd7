// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/calibrate.hpp"

#include "hardware/calibration/collective_fit.hpp"
#include "hardware/calibration/correction_fit.hpp"
#include "hardware/calibration/correction_rows.hpp"
#include "hardware/calibration/cpu_groups.hpp"
#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/decode_attention_fit.hpp"
#include "hardware/calibration/elementwise_fit.hpp"
#include "hardware/calibration/expert_fit.hpp"
#include "hardware/calibration/fitted_group.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "hardware/calibration/prefill_attention_fit.hpp"
#include "hardware/calibration/sampling.hpp"
#include "hardware/cpu.hpp"
#include "hardware/gpu/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

namespace llmscape::hardware {
namespace {

constexpr std::size_t kFewestRows = 20;         // of a family; fewer say too little to hold some out
constexpr std::int64_t kWidestHead = 128;       // wider ones take smaller tiles
constexpr std::uint64_t kRowsKey = 0x726f7773;  // any fixed number

// Held-out error and what the parameters are worth, for the file.
std::string summary(const FamilyReport& report) {
  std::string text = fmt::format("{}; unseen shapes MAPE {:.1f} %, p95 {:.0f} %", report.data,
                                 100 * report.held_out.mean, 100 * report.held_out.p95);
  std::string known, unknown;
  for (const FittedParameter& p : report.fitted) {
    if (p.identified())
      known += fmt::format("{}{} {:.1f} %", known.empty() ? "" : ", ", p.name, 100 * p.standard_error);
    else unknown += (unknown.empty() ? "" : ", ") + p.name;
  }
  if (!known.empty()) text += "; standard errors " + known;
  if (!unknown.empty()) text += "; not identified, prior used: " + unknown;
  return text;
}

// Lays a correction on the form where the rows earn it, and reports the errors of both together.
template <class Parameters>
void correct(Parameters& parameters, FamilyReport& report, const CorrectionPlan& plan,
             const std::vector<CorrectionRow>& rows) {
  std::vector<double> held_out, predicted;
  for (const RowReport& row : report.rows) held_out.push_back(row.held_out);
  auto earned = earn_correction(plan, rows, held_out);
  if (!earned) return;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    report.rows[i].held_out = earned->held_out[i];
    predicted.push_back(rows[i].predicted(earned->correction));
  }
  report.form = "physical + residual table";
  report.data += fmt::format(" (form alone MAPE {:.1f} %, corrected by a table)", 100 * report.held_out.mean);
  score(report, predicted);
  parameters.correction = std::move(earned->correction);
}

// One calibration under way: later families build on the GEMMs' parameters.
class Calibrator {
 public:
  Calibrator(const traces::KernelTables& tables, Gpu gpu, YamlNode device, const CalibrationRequest& request)
      : tables_(tables), gpu_(std::move(gpu)), request_(request), result_{std::move(device), {}} {}

  Calibration run() {
    if (wanted("gemm")) gemm();
    if (wanted("elementwise")) elementwise();
    if (wanted("expert_gemm")) experts();
    if (wanted("prefill_attention")) prefill_attention();
    if (wanted("decode_attention")) decode_attention();
    if (wanted("collectives")) collectives();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool wanted(std::string_view family) const {
    return request_.families.empty() || std::ranges::find(request_.families, family) != request_.families.end();
  }

  // At most the wanted number of the rows that qualify; none if they are too few.
  template <class Row, class Qualifies>
  [[nodiscard]] std::vector<Row> rows(const std::vector<Row>& all, Qualifies qualifies) const {
    std::vector<Row> suitable, chosen;
    std::ranges::copy_if(all, std::back_inserter(suitable), qualifies);
    if (suitable.size() < kFewestRows) return {};
    for (const std::size_t i : random_subset(suitable.size(), request_.most_rows, kRowsKey))
      chosen.push_back(suitable[i]);
    return chosen;
  }
  template <class Row>
  [[nodiscard]] std::vector<Row> rows(const std::vector<Row>& all) const {
    return rows(all, [](const Row&) { return true; });
  }
  // The same of attention: in one format, and heads no wider than those that share a kernel.
  template <class Row>
  [[nodiscard]] std::vector<Row> attention_rows(const std::vector<Row>& all) const {
    return rows(all, [&](const Row& r) {
      return r.format == all.front().format && r.kv_format == r.format && r.head_dim <= kWidestHead;
    });
  }

  // The format of most GEMMs: bf16, or what stands in for it.
  [[nodiscard]] std::string gemm_format() const {
    for (const char* format : {"bf16", "fp16", "fp8"})
      if (std::ranges::find(tables_.gemm, format, &traces::TimedGemm::format) != tables_.gemm.end()) return format;
    return "";
  }

  // Writes where the parameters come from, and keeps the report.
  void keep(Fit& parameters, FamilyReport report) {
    parameters.source =
        fmt::format("{} on {}, {}: {}", tables_.software, tables_.device, request_.records, summary(report));
    result_.reports.push_back(std::move(report));
  }

  template <class Parameters>
  void write(const char* key, const Fields<Parameters>& fields, Parameters parameters, const FamilyReport& report) {
    parameters.residuals = residuals_of(report);
    result_.device.set(key, fitted_group(fields, std::move(parameters)));
  }

  void gemm() {
    const auto chosen = rows(in_range(tables_.gemm, gemm_format(), {}));
    if (chosen.empty()) return;
    GemmCalibration fit = fit_gemm(gpu_, chosen, prior());
    fit.parameters.least_tile_rows = gpu_.gemm.least_tile_rows;
    correct(fit.parameters, fit.report, gemm_correction_plan(), correction_rows(gpu_, fit.parameters, chosen));
    keep(fit.parameters, fit.report);
    gpu_.gemm = fit.parameters;
    write("gemm", gemm_fields(), fit.parameters, fit.report);
  }

  void experts() {
    const auto chosen = rows(gated_layers(gpu_, tables_.expert_layer, "bf16", "balanced"));
    if (chosen.empty()) return;
    ExpertCalibration fit = fit_experts(gpu_, gpu_.elementwise, gpu_.gemm.compute_efficiency, prior(), chosen);
    correct(fit.parameters, fit.report, expert_gemm_correction_plan(),
            correction_rows(gpu_, gpu_.elementwise, fit.parameters, chosen));
    keep(fit.parameters, fit.report);
    write("expert_gemm", gemm_fields(), fit.parameters, fit.report);
  }

  void prefill_attention() {
    std::vector<traces::TimedPrefillAttention> chunks = tables_.prefill_attention;
    std::erase_if(chunks, [](const auto& r) { return r.tokens == 1; });  // prompts of one token run as decodes
    chunks = attention_rows(chunks);
    if (chunks.empty()) return;
    const auto mixed = attention_rows(tables_.mixed_attention);
    PrefillAttentionCalibration fit = fit_prefill_attention(gpu_, chunks, mixed);
    if (mixed.empty())
      correct(fit.parameters, fit.report, prefill_attention_correction_plan(),
              correction_rows(gpu_, fit.parameters, chunks));
    keep(fit.parameters, fit.report);
    write("prefill_attention", prefill_attention_fields(), fit.parameters, fit.report);
  }

  void decode_attention() {
    const auto chosen = attention_rows(tables_.decode_attention);
    if (chosen.empty()) return;
    DecodeAttentionCalibration fit =
        fit_decode_attention(gpu_, chosen, gpu_.gemm.compute_efficiency, tables_.warm_attention);
    correct(fit.parameters, fit.report, decode_attention_correction_plan(),
            correction_rows(gpu_, fit.parameters, fit.warm, chosen));
    keep(fit.parameters, fit.report);
    write("decode_attention", decode_attention_fields(), fit.parameters, fit.report);
  }

  void elementwise() {
    ElementwiseCalibration fit = fit_elementwise(gpu_, tables_.elementwise, gpu_.elementwise);
    if (fit.report.family.empty()) return;
    keep(fit.parameters, fit.report);
    gpu_.elementwise = fit.parameters;
    write("elementwise", elementwise_fields(), fit.parameters, fit.report);
  }

  // Fitted collectives take the place of the base's of the same kind and number of ranks.
  void collectives() {
    std::vector<CollectiveCalibration> fits = fit_collectives(tables_.collective);
    std::erase_if(fits, [](const CollectiveCalibration& fit) {  // the fastest is used: one of unknown rate would be
      return !std::ranges::all_of(fit.report.fitted,
                                  [](const FittedParameter& p) { return p.name != "bandwidth" || p.identified(); });
    });
    YamlNode& links = *result_.device.find("links");
    YamlNode kept;
    kept.kind = YamlNode::Kind::sequence;
    for (std::size_t i = 0; i < gpu_.links.collectives.size(); ++i) {
      const CollectiveFit& before = gpu_.links.collectives[i];
      const bool fitted = std::ranges::any_of(fits, [&](const CollectiveCalibration& fit) {
        return fit.parameters.kind == before.kind && fit.parameters.ranks == before.ranks;
      });
      if (!fitted) kept.items.push_back(links.find("collectives")->items[i]);
    }
    for (CollectiveCalibration& fit : fits) {
      keep(fit.parameters, fit.report);
      fit.parameters.source = fit.implementation + ": " + fit.parameters.source;
      kept.items.push_back(fitted_group(collective_fields(), fit.parameters));
    }
    if (!fits.empty()) links.set("collectives", std::move(kept));
  }

  [[nodiscard]] GemmPrior prior() const { return {gpu_.gemm.wave_quantisation, gpu_.gemm.l2_bandwidth}; }

  const traces::KernelTables& tables_;
  Gpu gpu_;
  const CalibrationRequest& request_;
  Calibration result_;
};

std::optional<Calibration> calibrate_cpu(const traces::KernelTables& tables, YamlNode base,
                                         const CalibrationRequest& request, Diagnostics& diagnostics) try {
  CpuCalibration fit = fit_cpu(tables);
  for (YamlNode::Entry& entry : groups_of(fit, fmt::format("{} on {}", request.records, tables.device)))
    base.set(entry.key, std::move(entry.value));
  return Calibration{std::move(base), std::move(fit.reports)};
} catch (const std::invalid_argument& missing) {
  diagnostics.error({}, missing.what());
  return std::nullopt;
}

}  // namespace

std::optional<Calibration> calibrate(const traces::KernelTables& tables, const YamlNode& base,
                                     const CalibrationRequest& request, Diagnostics& diagnostics) {
  const auto device = devices().read(base, diagnostics);
  if (dynamic_cast<const Cpu*>(device.get())) return calibrate_cpu(tables, base, request, diagnostics);
  const auto* gpu = dynamic_cast<const Gpu*>(device.get());
  if (device && !gpu) diagnostics.error(base.where, "only GPUs and CPUs can be calibrated");
  if (!gpu || diagnostics.has_errors()) return std::nullopt;
  Calibration calibration = Calibrator(tables, *gpu, base, request).run();
  if (!calibration.reports.empty()) return calibration;
  diagnostics.error({}, fmt::format("nothing to fit: no family has {} rows of the wanted kind", kFewestRows));
  return std::nullopt;
}

}  // namespace llmscape::hardware
