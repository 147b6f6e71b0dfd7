// SPDX-License-Identifier: Apache-2.0
// An H100 that was at hand on 2026-11-26: its kernels and watts as the harness measured them, and runs of the mini
// engine on it. What the catalogue says of them, which is fitted to other people's tables of engines' kernels, and what
// a device fitted to the record alone says. No constant comes from the runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "hardware/calibration/calibrate.hpp"
#include "hardware/calibration/power_fit.hpp"
#include "hardware/gpu/pricing.hpp"
#include "models/format.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/engine_outcome.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"
#include "traces/kernel_case.hpp"
#include "traces/microbench_record.hpp"

using namespace llmscape;
using llmscape::testing::approx;

namespace {

constexpr const char* kRecord = "traces/measured/h100-sxm-2026-11-26.json.gz";
const std::string kRuns = "traces/measured/h100-sxm-2026-11-26-engine/";

const traces::MicrobenchRecord& committed_record() {
  static const traces::MicrobenchRecord record = [] {
    Diagnostics diagnostics;
    auto read = traces::read_microbench_record(kRecord, diagnostics);
    REQUIRE_MESSAGE(read, diagnostics.text(false));
    return std::move(*read);
  }();
  return record;
}

double best_rate(const char* kernel, double traces::MicrobenchRow::* amount) {
  double best = 0;
  for (const traces::MicrobenchRow& row : committed_record().rows)
    if (traces::name_of(row.what).starts_with(kernel)) best = std::max(best, row.*amount / row.time.median);
  return best;
}

YamlNode preset(const std::string& name) {
  YamlNode node = YamlNode::mapping({});
  node.set("preset", YamlNode::scalar(name));
  return node;
}

hardware::Calibration calibrated() {
  Diagnostics diagnostics;
  YamlNode base = read_yaml_file("hardware/catalog/h100-sxm.yaml", diagnostics);
  base.erase("schema");
  auto fit = hardware::calibrate(traces::kernel_tables(committed_record()), base, {{}, 1500, kRecord}, diagnostics);
  REQUIRE_MESSAGE(fit, diagnostics.text(false));
  return std::move(*fit);
}

hardware::ErrorSummary catalogued(auto kernels_of) {
  const hardware::Gpu gpu = hardware::catalog_gpu("h100-sxm");
  std::vector<double> predicted, measured;
  for (const traces::MicrobenchRow& row : committed_record().rows) {
    const std::vector<models::Operator> kernels = kernels_of(row.what);
    if (kernels.empty()) continue;
    predicted.push_back(hardware::price(gpu, kernels).time().si());
    measured.push_back(row.time.median);
  }
  return hardware::summarise(predicted, measured);
}

}  // namespace

TEST_CASE("the committed record of an H100 says where it comes from, and every kernel met its reference") {
  const traces::MicrobenchRecord& record = committed_record();
  for (const char* fact : {"device", "driver", "cuda_runtime", "software", "date", "tool", "seed", "power_limit_w"}) {
    CAPTURE(fact);
    CHECK(record.context.contains(fact));
  }
  CHECK(record.context.at("prefill_attention") == "wgmma");
  CHECK(record.rows.size() == 673);
  for (const traces::MicrobenchRow& row : record.rows) CHECK(row.error < 0.04);
  CHECK(record.power.size() == 95);
}

TEST_CASE("the record's attention kernels reach what is asked of them") {
  const double copy = best_rate("copy/kind:device", &traces::MicrobenchRow::bytes);
  double product = 0;
  std::vector<double> decodes;
  for (const traces::MicrobenchRow& row : committed_record().rows) {
    if (const auto* g = std::get_if<traces::GemmCase>(&row.what); g && g->format == "bf16")
      product = std::max(product, row.flops / row.time.median);
    if (std::holds_alternative<traces::DecodeAttentionCase>(row.what) && row.bytes > 1e8)
      decodes.push_back(row.bytes / row.time.median / copy);
  }
  std::ranges::sort(decodes);
  CHECK(decodes[decodes.size() / 2] > 0.8);  // 0.95
  CHECK(best_rate("prefill_attention", &traces::MicrobenchRow::flops) > 0.5 * product);
}

TEST_CASE("what the catalogue says of the record's products, which are those of another library") {
  const auto products_up_to = [](std::int64_t rows) {
    return catalogued([rows](const traces::KernelCase& what) -> std::vector<models::Operator> {
      const auto* g = std::get_if<traces::GemmCase>(&what);
      if (!g || g->format != "bf16" || g->m > rows) return {};
      return {{models::Gemm{g->m, g->n, g->k, models::Format(), models::Format()}, 1}};
    });
  };
  const auto all = products_up_to(8192), few = products_up_to(64);
  MESSAGE("bf16 products: median " << all.median << ", mean " << all.mean << ", bias " << all.bias
                                   << "; of up to 64 rows: median " << few.median << ", mean " << few.mean << ", bias "
                                   << few.bias);
  CHECK(all.median < 0.08);  // 0.067
  CHECK(few.median < 0.05);  // 0.037
}

TEST_CASE("what the catalogue says of the record's watts, and what a fit says of shapes that it has not seen") {
  const hardware::Gpu gpu = hardware::catalog_gpu("h100-sxm");
  const auto readings = traces::kernel_tables(committed_record()).power;
  CHECK(hardware::telling(readings).size() == readings.size());
  std::vector<double> predicted, measured;
  for (const traces::PowerReading& reading : readings) {
    const hardware::PowerLoad load = hardware::power_load(gpu, reading);
    predicted.push_back(hardware::predicted_power(gpu, gpu.energy, load).si());
    measured.push_back(load.power.si());
  }
  const auto all = hardware::summarise(predicted, measured);
  const auto fit = hardware::fit_power(gpu, readings, 1500);
  REQUIRE(fit);
  MESSAGE("catalogue: median " << all.median << ", mean " << all.mean << ", bias " << all.bias
                               << "; unseen shapes: median " << fit->report.held_out.median << ", mean "
                               << fit->report.held_out.mean);
  CHECK(all.mean < 0.06);  // attention is that of engines' kernels
  CHECK(fit->report.held_out.mean < 0.04);
  const hardware::EnergyParameters& energy = fit->parameters;
  CHECK(energy.active.si() == approx(gpu.energy.active.si()).epsilon(0.02));
  CHECK(energy.compute.si() == approx(gpu.energy.compute.si()).epsilon(0.03));  // 0.5918 (+-13 %) and 0.5767 pJ
  CHECK(energy.experts->si() == approx(gpu.energy.experts->si()).epsilon(0.02));
  CHECK(energy.memory.si() == approx(gpu.energy.memory.si()).epsilon(0.02));
}

TEST_CASE("the mini engine's runs on the H100, by the catalogue and by a device fitted to its kernels") {
  struct Run {
    const char* name;
    double step, tpot, power;                                   // by its kernels: errors below these
    double catalogued_step, catalogued_tpot, catalogued_power;  // by the catalogue
  };
  const hardware::Calibration fit = calibrated();
  // The engine runs decodes and prompts in two kernels (sim/live/cuda_executor.cpp), and so does the device by its
  // kernels.
  for (const Run& run : {Run{"8b-chat", 0.06, 0.05, 0.02, 0.04, 0.05, 0.03},    //
                         Run{"8b-rag", 0.04, 0.03, 0.075, 0.025, 0.06, 0.095},  //
                         Run{"8b-long", 0.025, 0.03, 0.02, 0.02, 0.085, 0.05},  //
                         Run{"8b-one", 0.03, 0.02, 0.06, 0.05, 0.02, 0.06},     //
                         Run{"1b-chat", 0.15, 0.06, 0.07, 0.08, 0.095, 0.08}}) {
    CAPTURE(run.name);
    const std::string path = kRuns + run.name + ".json.gz";
    const auto own = test::engine_outcome(path, fit.device);
    CHECK(own.error("step", "error_median") < run.step);
    CHECK(own.error("tpot", "mean") < run.tpot);
    CHECK(own.error("power", "mean") < run.power);
    const auto catalogued = test::engine_outcome(path, preset("h100-sxm"));
    CHECK(catalogued.error("step", "error_median") < run.catalogued_step);
    CHECK(catalogued.error("tpot", "mean") < run.catalogued_tpot);
    CHECK(catalogued.error("power", "mean") < run.catalogued_power);
  }
}
