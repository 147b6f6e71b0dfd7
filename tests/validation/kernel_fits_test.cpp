// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/collective_fit.hpp"
#include "hardware/calibration/elementwise_fit.hpp"
#include "hardware/calibration/expert_fit.hpp"
#include "hardware/calibration/sampling.hpp"
#include "traces/kernel_tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

// Families fitted to public kernel tables, judged on shapes that the fit has not seen.
namespace llmscape::hardware {
namespace {

std::optional<traces::KernelTables> tables(const std::vector<std::string>& paths) {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA names no folder");
    return std::nullopt;
  }
  std::vector<std::string> all;
  for (const std::string& path : paths) all.push_back(std::string(data) + "/kernels/" + path);
  Diagnostics diagnostics;
  auto read = traces::read_kernel_tables(all, diagnostics);
  REQUIRE_MESSAGE(read, diagnostics.text(false));
  return read;
}

Chip chip(double peak, double bandwidth, std::int64_t multiprocessors, double l2) {
  Chip c;
  c.peak_bf16.value = FlopsPerSecond(peak);
  c.peak_fp8 = {FlopsPerSecond(2 * peak)};
  c.hbm_bandwidth.value = BytesPerSecond(bandwidth);
  c.multiprocessors.value = multiprocessors;
  c.l2.value = Bytes(l2);
  return c;
}
Chip h100() { return chip(989.5e12, 3.35e12, 132, 50e6); }
Chip a100() { return chip(312e12, 2.039e12, 108, 40e6); }

ElementwiseParameters streams(double launch, double efficiency) {
  ElementwiseParameters p;
  p.activation = {Seconds(launch), efficiency};
  return p;
}

template <class Record>
std::vector<Record> some(const std::vector<Record>& records, std::size_t most) {
  std::vector<Record> chosen;
  for (const std::size_t i : random_subset(records.size(), most, 1)) chosen.push_back(records[i]);
  return chosen;
}

// The largest held-out error of an implementation's all-reduces, by ranks.
double worst(const std::vector<CollectiveCalibration>& fits, std::string_view implementation, int least_ranks,
             int most_ranks) {
  double error = 0;
  for (const CollectiveCalibration& fit : fits)
    if (fit.implementation == implementation && fit.parameters.kind == models::Collective::Kind::all_reduce &&
        fit.parameters.ranks >= least_ranks && fit.parameters.ranks <= most_ranks)
      error = std::max(error, fit.report.held_out.mean);
  REQUIRE(error > 0);
  return error;
}

TEST_CASE("all-reduces of an H100 server are predicted on unseen sizes") {
  const auto t = tables({"h100_sxm/nccl.csv.gz", "h100_sxm/custom_allreduce.csv.gz"});
  if (!t) return;
  const auto fits = fit_collectives(t->collective);
  CHECK(worst(fits, "nccl", 2, 2) <= 0.08);
  CHECK(worst(fits, "nccl", 4, 8) <= 0.06);
  CHECK(worst(fits, "vllm_graph", 2, 8) <= 0.06);
}

TEST_CASE("all-reduces of an A100 server are predicted on unseen sizes") {
  const auto t = tables({"a100_sxm/nccl.csv.gz", "a100_sxm/custom_allreduce.csv.gz"});
  if (!t) return;
  const auto fits = fit_collectives(t->collective);
  CHECK(worst(fits, "nccl", 2, 2) <= 0.08);
  CHECK(worst(fits, "nccl", 4, 8) <= 0.06);
  // Without one of 15 rows over eight ranks (4 KiB), which took 2.5 times as long as its neighbours.
  CHECK(worst(fits, "vllm_graph", 2, 8) <= 0.06);
}

TEST_CASE("element-wise kernels are predicted on unseen widths") {
  const auto a = tables({"vidur/mlp/a100"}), h = tables({"vidur/mlp/h100"});
  if (!a || !h) return;
  CHECK(fit_elementwise(a100(), some(a->elementwise, 1500), {}).report.held_out.mean <= 0.12);
  CHECK(fit_elementwise(h100(), some(h->elementwise, 1500), {}).report.held_out.mean <= 0.13);
}

std::vector<traces::TimedExpertLayer> dealt(std::vector<traces::TimedExpertLayer> records, bool evenly) {
  std::erase_if(records, [&](const auto& r) { return (r.routing == "balanced") != evenly; });
  return records;
}

// The error on half of the models after a fit to at most 500 rows of the other half.
double unseen_models(const Chip& c, const ElementwiseParameters& elementwise, double compute_efficiency,
                     const GemmPrior& prior, const std::vector<traces::TimedExpertLayer>& records) {
  std::vector<Group> models;
  for (const traces::TimedExpertLayer& r : records) models.push_back({r.hidden, r.expert_width * 1024 + r.experts});
  const std::vector<int> half = grouped_folds(models, 2, 1);
  std::vector<traces::TimedExpertLayer> seen, unseen;
  for (std::size_t i = 0; i < records.size(); ++i) (half[i] == 0 ? seen : unseen).push_back(records[i]);
  const auto fit = fit_experts(c, elementwise, compute_efficiency, {&prior, 1}, some(seen, 500));
  std::vector<double> measured;
  for (const traces::TimedExpertLayer& r : unseen) measured.push_back(r.time.si());
  return summarise(predict(c, elementwise, fit.parameters, unseen), measured).mean;
}

TEST_CASE("expert layers of an H100 are predicted for unseen models, in bf16 and in FP8 blocks") {
  const auto t = tables({"h100_sxm/moe.csv.gz"});
  if (!t) return;
  const auto error = [&](const char* format) {
    const auto records = dealt(gated_layers(h100(), t->expert_layer, format), true);
    return unseen_models(h100(), streams(1.8e-6, 0.58), 0.86, {0, BytesPerSecond(10e12)}, records);
  };
  CHECK(error("bf16") <= 0.08);
  CHECK(error("fp8_block") <= 0.08);
}

TEST_CASE("what rows of a power law take follows from a fit to even ones") {
  const auto t = tables({"h100_sxm/moe.csv.gz"});
  if (!t) return;
  const GemmPrior prior{0, BytesPerSecond(10e12)};
  const auto error = [&](const char* format) {
    const auto all = gated_layers(h100(), t->expert_layer, format);
    const auto skewed = some(dealt(all, false), 1500);
    const auto fit = fit_experts(h100(), streams(1.8e-6, 0.58), std::nullopt, tilings(prior, true),
                                 some(dealt(all, true), 500), Scoring::none);
    std::vector<double> measured;
    for (const traces::TimedExpertLayer& r : skewed) measured.push_back(r.time.si());
    const ErrorSummary errors = summarise(predict(h100(), streams(1.8e-6, 0.58), fit.parameters, skewed), measured);
    MESSAGE(format << ": " << 100 * errors.mean << " %, bias " << 100 * errors.bias << " %");
    return errors.mean;
  };
  CHECK(error("int4") <= 0.08);
  CHECK(error("fp8_block") <= 0.1);
}

TEST_CASE("expert layers of an A100, which were timed under skewed routing alone, are predicted for unseen models") {
  const auto t = tables({"a100_sxm/moe.csv.gz"});
  if (!t) return;
  const auto records = gated_layers(a100(), t->expert_layer, "bf16");
  CHECK(unseen_models(a100(), streams(2.1e-6, 0.49), 0.88, {1, BytesPerSecond(4.7e12)}, records) <= 0.2);
}

}  // namespace
}  // namespace llmscape::hardware
