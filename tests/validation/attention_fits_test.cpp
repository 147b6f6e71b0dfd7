// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/attention_shapes.hpp"
#include "hardware/calibration/decode_attention_fit.hpp"
#include "hardware/calibration/prefill_attention_fit.hpp"
#include "hardware/calibration/sampling.hpp"
#include "traces/kernel_tables.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

// Attention fitted to public kernel tables, judged on the half of the head shapes that the fit has not seen.
namespace llmscape::hardware {
namespace {

constexpr std::size_t kRows = 1500;

Chip chip(double peak, double bandwidth, std::int64_t multiprocessors, double l2) {
  Chip c;
  c.peak_bf16.value = FlopsPerSecond(peak);
  c.hbm_bandwidth.value = BytesPerSecond(bandwidth);
  c.multiprocessors.value = multiprocessors;
  c.l2.value = Bytes(l2);
  return c;
}
Chip h100() { return chip(989.5e12, 3.35e12, 132, 50e6); }
Chip a100() { return chip(312e12, 2.039e12, 108, 40e6); }
Chip rtx_pro_6000() { return chip(503.8e12, 1.792e12, 188, 128e6); }

std::optional<traces::KernelTables> tables(const std::string& path) {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA names no folder");
    return std::nullopt;
  }
  Diagnostics diagnostics;
  auto read = traces::read_kernel_tables({std::string(data) + "/kernels/" + path}, diagnostics);
  REQUIRE_MESSAGE(read, diagnostics.text(false));
  return read;
}

// bf16 rows of heads up to 128 wide, which share a kernel, in two halves without a common head shape.
template <class Record>
struct Halves {
  std::vector<Record> seen, unseen;
};
template <class Record>
Halves<Record> halves(const std::vector<Record>& records) {
  std::vector<Record> kept;
  std::vector<Group> shapes;
  for (const Record& r : records) {
    if (r.format != "bf16" || r.kv_format != "bf16" || r.head_dim > 128 || r.window > 0) continue;
    kept.push_back(r);
    shapes.push_back(head_shape(r));
  }
  const std::vector<int> half = grouped_folds(shapes, 2, 1);
  Halves<Record> both;
  for (std::size_t i = 0; i < kept.size(); ++i) (half[i] == 0 ? both.seen : both.unseen).push_back(kept[i]);
  return both;
}

template <class Record>
std::vector<Record> some(const std::vector<Record>& records) {
  std::vector<Record> chosen;
  for (const std::size_t i : random_subset(records.size(), kRows, 1)) chosen.push_back(records[i]);
  return chosen;
}

template <class Record>
ErrorSummary errors(const std::vector<double>& predicted, const std::vector<Record>& measured, double above = 0) {
  std::vector<double> p, m;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i].time.si() < above) continue;
    p.push_back(predicted[i]);
    m.push_back(measured[i].time.si());
  }
  return summarise(p, m);
}

ErrorSummary unseen_decodes(const Chip& c, const traces::KernelTables& table, double compute_efficiency) {
  const auto half = halves(table.decode_attention);
  const auto fit = fit_decode_attention(c, some(half.seen), compute_efficiency, table.warm_attention);
  return errors(predict(c, fit.parameters, fit.warm, half.unseen), half.unseen);
}

struct PrefillErrors {
  ErrorSummary all, over_1_ms;
};
PrefillErrors unseen_chunks(const Chip& c, traces::KernelTables table) {
  std::erase_if(table.prefill_attention, [](const auto& r) { return r.tokens == 1; });  // these run as decodes
  const auto half = halves(table.prefill_attention);
  const auto fit = fit_prefill_attention(c, some(half.seen));
  const auto predicted = predict(c, fit.parameters, half.unseen);
  return {errors(predicted, half.unseen), errors(predicted, half.unseen, 1e-3)};
}

TEST_CASE("decode attention of an H100 is predicted for unseen head shapes") {
  if (const auto table = tables("h100_sxm/generation_attention.csv.gz"))
    CHECK(unseen_decodes(h100(), *table, 0.86).mean <= 0.09);
}

TEST_CASE("decode attention of an A100 is predicted for unseen head shapes") {
  if (const auto table = tables("a100_sxm/generation_attention.csv.gz"))
    CHECK(unseen_decodes(a100(), *table, 0.88).mean <= 0.13);
}

// Long ones draw more power than the H100 may: its clock falls, which the form does not know.
TEST_CASE("prefill attention of an H100 is predicted for unseen head shapes") {
  const auto table = tables("h100_sxm/context_attention.csv.gz");
  if (!table) return;
  const PrefillErrors found = unseen_chunks(h100(), *table);
  CHECK(found.all.mean <= 0.09);
  CHECK(found.over_1_ms.mean <= 0.065);
}

TEST_CASE("prefill attention of an A100 is predicted for unseen head shapes") {
  const auto table = tables("a100_sxm/context_attention.csv.gz");
  if (!table) return;
  const PrefillErrors found = unseen_chunks(a100(), *table);
  CHECK(found.all.mean <= 0.09);
  CHECK(found.over_1_ms.mean <= 0.05);
}

TEST_CASE("chunks with decodes in one kernel are predicted for a model that the fit has not seen") {
  const auto seen = tables("rtxpro6000/llama-3.1-8b"), unseen = tables("rtxpro6000/qwen3-30b-a3b");
  if (!seen) return;
  const auto fit = fit_prefill_attention(rtx_pro_6000(), seen->prefill_attention, some(seen->mixed_attention));
  CHECK(fit.parameters.takes_decodes);
  CHECK(errors(predict(rtx_pro_6000(), fit.parameters, unseen->mixed_attention), unseen->mixed_attention).mean <= 0.12);
}

TEST_CASE("chunks behind long caches are predicted for half of the tensor-parallel ranks of a model") {
  auto table = tables("frontier_a800_h800/h800/Llama-3.1-405B-Instruct-FP8");
  if (!table) return;
  const auto half = halves(table->prefill_attention);
  const auto fit = fit_prefill_attention(h100(), some(half.seen));
  CHECK(errors(predict(h100(), fit.parameters, half.unseen), half.unseen).mean <= 0.05);
}

}  // namespace
}  // namespace llmscape::hardware
