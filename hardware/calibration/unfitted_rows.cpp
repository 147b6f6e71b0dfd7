// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/unfitted_rows.hpp"

#include "hardware/calibration/calibrate.hpp"
#include "hardware/calibration/collective_fit.hpp"
#include "hardware/calibration/cpu_fit.hpp"
#include "hardware/calibration/elementwise_fit.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "models/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

namespace llmscape::hardware {
namespace {

// Kernels that the harness times and no family prices.
bool is_priced_elsewhere(std::string_view kind) { return kind == "softmax" || kind == "router"; }

class UnfittedRows {
 public:
  UnfittedRows(const traces::KernelTables& tables, std::span<const std::string> wanted) : tables_(tables) {
    wanted_.assign(wanted.begin(), wanted.end());
  }

  void of_gpu() {
    for (const traces::TimedGemm& r : tables_.gemm)
      if (models::format_named(r.format))
        count_kind("gemm", r, fmt::format("in {}", in_quotes(r.format)), of_product(r));
    for (const auto& r : tables_.decode_attention) attention("decode_attention", r);
    for (const auto& r : tables_.prefill_attention)
      if (r.tokens > 1) attention("prefill_attention", r);  // a prompt of one token runs as a decode
    for (const auto& r : tables_.mixed_attention) leave_out("prefill_attention", of_attention(r));
    for (const auto& r : tables_.elementwise)
      if (!is_priced_elsewhere(r.kind))
        count_kind("elementwise", r, fmt::format("of {}", in_quotes(r.kind)), why_no_elementwise(r),
                   kFewestElementwise);
    for (const auto& r : tables_.collective)
      count_kind("collectives", r,
                 fmt::format("of {} by {} over {} ranks", in_quotes(r.kind), in_quotes(r.implementation), r.ranks),
                 why_no_collective(r), kFewestMessages);
  }

  void of_cpu() {
    for (const auto& r : tables_.gemm) leave_out("gemm", of_cpu_format(r.format));
    for (const auto& r : tables_.decode_attention) leave_out("decode_attention", of_cpu_attention(r));
    for (const auto& r : tables_.prefill_attention) leave_out("prefill_attention", of_cpu_attention(r));
    for (const auto& r : tables_.elementwise)
      if (!is_priced_elsewhere(r.kind))
        leave_out("elementwise", is_cpu_elementwise_kind(r.kind)
                                     ? of_cpu_format(r.format)
                                     : fmt::format("no kernel is called {}", in_quotes(r.kind)));
  }

  void families(bool cpu, std::span<const FamilyReport> reports) {
    const auto fitted = [&](std::string_view family) {
      return std::ranges::any_of(reports, [family](const FamilyReport& report) {
        return report.family == family || (family == "latent_attention" && report.family.starts_with("latent_"));
      });
    };
    for (const std::string_view family : kFittableFamilies) {
      if (cpu && std::ranges::find(kCpuFamilies, family) == kCpuFamilies.end()) continue;
      const std::size_t rows = rows_of(family);
      if (!is_wanted(family) || fitted(family) || (rows == 0 && wanted_.empty())) continue;
      unfitted_.emplace_back(
          rows == 0
              ? fmt::format("{}: no rows were read, and nothing was fitted", family)
              : fmt::format("{}: {} rows were read, and nothing was fitted: too few are of one kind that counts{}",
                            family, rows, cpu && family == "elementwise" ? " (a CPU wants rows of each kind)" : ""));
    }
  }

  void tell(Diagnostics& diagnostics) const {
    for (const auto& [kind, rows] : suitable_)
      if (rows.read < rows.needed)
        diagnostics.warning({}, fmt::format("{}: {} rows {} are left out: a fit needs {}", kind.first, rows.read,
                                            kind.second, rows.needed));
    for (const auto& [kind, rows] : wide_) {
      const auto beside = suitable_.find(kind);
      const std::size_t fitted = beside == suitable_.end() ? 0 : beside->second.read;
      if (fitted < kFewestBesideWide || rows < kFewestFittedRows)
        diagnostics.warning(
            {}, fmt::format("{}: {} rows {} are left out: heads wider than {} are learned from {} rows "
                            "and more, beside {} of others",
                            kind.first, rows, kind.second, kWidestFittedHead, kFewestFittedRows, kFewestBesideWide));
    }
    for (const auto& [kind, rows] : left_out_)
      diagnostics.warning({}, fmt::format("{}: {} rows are left out: {}", kind.first, rows, kind.second));
    for (const std::string& family : unfitted_) diagnostics.warning({}, family);
  }

 private:
  [[nodiscard]] bool is_wanted(std::string_view family) const {
    return wanted_.empty() || std::ranges::find(wanted_, family) != wanted_.end();
  }

  void leave_out(const char* family, const std::string& reason) {
    if (!reason.empty() && is_wanted(family)) ++left_out_[{family, reason}];
  }

  // A row of a kind that has a fit of its own if it has rows enough.
  template <class Row>
  void count_kind(const char* family, const Row& row, std::string kind, const std::string& reason,
                  std::size_t needed = kFewestFittedRows) {
    leave_out(family, reason);
    if (!reason.empty() || !is_wanted(family)) return;
    if constexpr (requires { row.engine; })
      if (!row.engine.empty()) kind += " of " + row.engine;
    Kind& counted = suitable_[{family, kind}];
    ++counted.read;
    counted.needed = needed;
  }

  [[nodiscard]] const std::string& base_of(const std::string& engine) {
    const auto known = bases_.find(engine);
    return known != bases_.end() ? known->second
                                 : bases_.emplace(engine, base_format_of(tables_, engine)).first->second;
  }

  std::string of_product(const traces::TimedGemm& r) {
    return r.format == "fp16" && base_of(r.engine) != "fp16" ? "'fp16' beside " + in_quotes(base_of(r.engine)) : "";
  }

  template <class Row>
  std::string of_attention(const Row& r) {
    const std::string& base = base_of(r.engine);
    if (r.kv_format != base && r.kv_format != "fp8")
      return fmt::format("KV in {}, where {} and 'fp8' are fitted", in_quotes(r.kv_format), in_quotes(base));
    if (r.format != r.kv_format && !(r.kv_format == "fp8" && r.format == "bf16"))
      return fmt::format("products in {} over KV in {}", in_quotes(r.format), in_quotes(r.kv_format));
    if (r.head_dim > kWidestLearnedHead) return fmt::format("heads wider than {}", kWidestLearnedHead);
    return "";
  }

  template <class Row>
  void attention(const char* family, const Row& r) {
    const std::string kv = fmt::format("with KV in {}", in_quotes(r.kv_format)), reason = of_attention(r);
    if (!reason.empty()) leave_out(family, reason);
    else if (const auto kind = kind_of(r); kind == AttentionRows::fitted) count_kind(family, r, kv, "");
    else if (kind == AttentionRows::cut) count_kind(family, r, kv + " that a window cuts", "");
    else if (kind == AttentionRows::wide && is_wanted(family))
      ++wide_[{family, fmt::format("{}{}{}", kv, r.engine.empty() ? "" : " of ", r.engine)}];
  }

  static std::string of_cpu_format(const std::string& format) {
    return format == "fp32" ? "" : fmt::format("in {}, where a CPU's are fitted in 'fp32'", in_quotes(format));
  }
  template <class Row>
  static std::string of_cpu_attention(const Row& r) {
    const std::string reason = of_cpu_format(r.format);
    return reason.empty() && r.kv_format != "fp32"
               ? fmt::format("KV in {}, where a CPU's are fitted in 'fp32'", in_quotes(r.kv_format))
               : reason;
  }

  [[nodiscard]] std::size_t rows_of(std::string_view family) const {
    const traces::KernelTables& t = tables_;
    if (family == "gemm") return t.gemm.size();
    if (family == "expert_gemm") return t.expert_layer.size() + t.grouped_gemm.size();
    if (family == "prefill_attention") return t.prefill_attention.size() + t.mixed_attention.size();
    if (family == "decode_attention") return t.decode_attention.size();
    if (family == "latent_attention") return t.latent_attention.size();
    if (family == "indexed_attention") return t.indexed_attention.size();
    if (family == "elementwise") return t.elementwise.size();
    if (family == "collectives") return t.collective.size();
    return t.power.size();
  }

  const traces::KernelTables& tables_;
  std::vector<std::string> wanted_;
  std::map<std::string, std::string> bases_;  // by engine: the format of its 16-bit kernels
  std::map<std::pair<std::string, std::string>, std::size_t> left_out_;
  struct Kind {
    std::size_t read = 0, needed = 0;
  };
  std::map<std::pair<std::string, std::string>, Kind> suitable_;
  std::map<std::pair<std::string, std::string>, std::size_t> wide_;  // rows, by the kind that they stand beside
  std::vector<std::string> unfitted_;
};

}  // namespace

void warn_of_unfitted_rows(const traces::KernelTables& tables, bool of_cpu, std::span<const std::string> wanted,
                           std::span<const FamilyReport> reports, Diagnostics& diagnostics) {
  UnfittedRows rows(tables, wanted);
  if (of_cpu) rows.of_cpu();
  else rows.of_gpu();
  rows.families(of_cpu, reports);
  rows.tell(diagnostics);
}

}  // namespace llmscape::hardware
