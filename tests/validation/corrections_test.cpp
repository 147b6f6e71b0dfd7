// SPDX-License-Identifier: Apache-2.0
#include "base/catalog.hpp"
#include "hardware/calibration/correction_rows.hpp"
#include "hardware/calibration/decode_attention_fit.hpp"
#include "hardware/calibration/errors.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "hardware/calibration/prefill_attention_fit.hpp"
#include "hardware/calibration/sampling.hpp"
#include "hardware/gpu/gpu.hpp"
#include "traces/kernel_tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

// Public kernel tables, half of whose shapes neither the form nor its correction has seen.
namespace llmscape::hardware {
namespace {

// FlashAttention 3 has other kernels for wider heads.
constexpr std::int64_t kWidestHead = 128;

Gpu gpu_named(const std::string& name) {
  Diagnostics diagnostics;
  const auto tree = catalog_entry("hardware/catalog", "device", name, {}, diagnostics);
  const auto device = tree ? devices().read(*tree, diagnostics) : nullptr;
  REQUIRE_MESSAGE(device, diagnostics.text(false));
  return dynamic_cast<const Gpu&>(*device);
}

std::optional<traces::KernelTables> table(const std::string& device, const std::string& file) {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA names no folder");
    return std::nullopt;
  }
  Diagnostics diagnostics;
  auto tables = traces::read_kernel_tables({data + ("/kernels/" + device + "/" + file)}, diagnostics);
  REQUIRE_MESSAGE(tables, diagnostics.text(false));
  return tables;
}

template <class Row>
std::vector<Row> bf16_attention(const std::vector<Row>& all) {
  std::vector<Row> kept;
  std::ranges::copy_if(all, std::back_inserter(kept), [](const Row& r) {
    return r.format == "bf16" && r.kv_format == "bf16" && r.head_dim <= kWidestHead && r.window == 0;
  });
  return kept;
}

Group shape_of(const traces::TimedGemm& r) { return {r.n, r.k}; }
template <class Row>
Group shape_of(const Row& r) {
  return {r.heads, r.kv_heads, r.head_dim};
}

template <class Row>
struct Halves {
  std::vector<Row> seen, unseen;
  explicit Halves(const std::vector<Row>& all) {
    std::vector<Group> shapes;
    for (const Row& r : all) shapes.push_back(shape_of(r));
    const std::vector<int> half = grouped_folds(shapes, 2, 1);
    for (std::size_t i = 0; i < all.size(); ++i) (half[i] == 0 ? seen : unseen).push_back(all[i]);
  }
  // What the form is fitted to.
  [[nodiscard]] std::vector<Row> some() const {
    std::vector<Row> rows;
    for (const std::size_t i : random_subset(seen.size(), 1500, 1)) rows.push_back(seen[i]);
    return rows;
  }
};

double corrected_error(const CorrectionPlan& plan, const std::vector<CorrectionRow>& seen,
                       const std::vector<CorrectionRow>& unseen) {
  const Correction correction = learn_correction(plan, seen);
  std::vector<double> form, corrected, measured;
  for (const CorrectionRow& row : unseen) {
    form.push_back(row.predicted());
    corrected.push_back(row.predicted(correction));
    measured.push_back(row.measured);
  }
  const double error = summarise(corrected, measured).mean;
  MESSAGE("form " << 100 * summarise(form, measured).mean << " %, corrected " << 100 * error << " %");
  CHECK(error < summarise(form, measured).mean);
  return error;
}

void check_gemm(const std::string& name, const std::string& device, double bound) {
  const auto tables = table(device, "gemm.csv.gz");
  if (!tables) return;
  const Gpu gpu = gpu_named(name);
  const Halves halves(in_range(tables->gemm, "bf16", {}));
  const GemmPrior prior{gpu.gemm.wave_quantisation, gpu.gemm.l2_bandwidth};
  const GemmParameters p = fit_gemm(gpu, gpu.elementwise, halves.some(), {&prior, 1}).parameters;
  CHECK(corrected_error(gemm_correction_plans().back(), correction_rows(gpu, gpu.elementwise, p, halves.seen),
                        correction_rows(gpu, gpu.elementwise, p, halves.unseen)) <= bound);
}

void check_decode(const std::string& name, const std::string& device, double bound) {
  const auto tables = table(device, "generation_attention.csv.gz");
  if (!tables) return;
  const Gpu gpu = gpu_named(name);
  const Halves halves(bf16_attention(tables->decode_attention));
  const auto fit = fit_decode_attention(gpu, halves.some(), gpu.gemm.compute_efficiency, tables->warm_attention);
  // Not the last one, of few features.
  CHECK(corrected_error(decode_attention_correction_plans()[1],
                        correction_rows(gpu, fit.parameters, fit.warm, halves.seen),
                        correction_rows(gpu, fit.parameters, fit.warm, halves.unseen)) <= bound);
}

void check_prefill(const std::string& name, const std::string& device, double bound) {
  const auto tables = table(device, "context_attention.csv.gz");
  if (!tables) return;
  const Gpu gpu = gpu_named(name);
  auto records = bf16_attention(tables->prefill_attention);
  std::erase_if(records, [](const auto& r) { return r.tokens == 1; });  // prompts of one token run as decodes
  const Halves halves(records);
  const PrefillAttentionParameters p = fit_prefill_attention(gpu, halves.some()).parameters;
  CHECK(corrected_error(prefill_attention_correction_plans().back(), correction_rows(gpu, p, halves.seen),
                        correction_rows(gpu, p, halves.unseen)) <= bound);
}

TEST_CASE("GEMMs of an H100 are met within 4.5 % on unseen shapes") { check_gemm("h100-sxm", "h100_sxm", 0.045); }
TEST_CASE("GEMMs of an A100 are met within 5 % on unseen shapes") { check_gemm("a100-80", "a100_sxm", 0.05); }
TEST_CASE("decodes of an H100 are met within 5 % on unseen heads") { check_decode("h100-sxm", "h100_sxm", 0.05); }
TEST_CASE("decodes of an A100 are met within 13 % on unseen heads") { check_decode("a100-80", "a100_sxm", 0.13); }
TEST_CASE("prompts of an H100 are met within 5 % on unseen heads") { check_prefill("h100-sxm", "h100_sxm", 0.05); }
TEST_CASE("prompts of an A100 are met within 5 % on unseen heads") { check_prefill("a100-80", "a100_sxm", 0.05); }

}  // namespace
}  // namespace llmscape::hardware
