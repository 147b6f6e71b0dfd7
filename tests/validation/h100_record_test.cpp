// SPDX-License-Identifier: Apache-2.0
// An H100 that was at hand on 2026-11-26: its kernels and watts as the harness measured them, and runs of the mini
// engine on it. What the catalogue says of them, which is fitted to other people's tables of engines' kernels, and what
// a device fitted to the record alone says. No constant comes from the runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "hardware/calibration/calibrate.hpp"
#include "hardware/calibration/power_fit.hpp"
#include "hardware/gpu/pricing.hpp"
#include "models/format.hpp"
#include "tests/support/engine_outcome.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"
#include "traces/kernel_case.hpp"
#include "traces/microbench_record.hpp"

using namespace llmscape;

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

TEST_CASE("its attention kernels reach what is asked of them") {
  const double copy = best_rate("copy/kind:device", &traces::MicrobenchRow::bytes);
  const double product = best_rate("gemm/", &traces::MicrobenchRow::flops);
  MESSAGE("copy " << copy << " B/s, product " << product << " flop/s, decodes "
                  << best_rate("decode_attention", &traces::MicrobenchRow::bytes) / copy << " of the copy, prefill "
                  << best_rate("prefill_attention", &traces::MicrobenchRow::flops));
}

TEST_CASE("what the catalogue says of the record's products") {
  const auto products = catalogued([](const traces::KernelCase& what) -> std::vector<models::Operator> {
    const auto* g = std::get_if<traces::GemmCase>(&what);
    if (!g || g->format != "bf16") return {};
    return {{models::Gemm{g->m, g->n, g->k, models::Format(), models::Format()}, 1}};
  });
  MESSAGE("bf16 products: median " << products.median << ", mean " << products.mean << ", bias " << products.bias);
}

TEST_CASE("what the catalogue says of the record's watts, and what a fit says of shapes that it has not seen") {
  const hardware::Gpu gpu = hardware::catalog_gpu("h100-sxm");
  const auto readings = traces::kernel_tables(committed_record()).power;
  std::vector<double> predicted, measured;
  std::map<hardware::PowerLoad::Kind, std::pair<std::vector<double>, std::vector<double>>> kinds;
  for (const traces::PowerReading& reading : hardware::telling(readings)) {
    const hardware::PowerLoad load = hardware::power_load(gpu, reading);
    predicted.push_back(hardware::predicted_power(gpu, gpu.energy, load).si());
    measured.push_back(load.power.si());
    kinds[load.kind].first.push_back(predicted.back());
    kinds[load.kind].second.push_back(measured.back());
  }
  const auto all = hardware::summarise(predicted, measured);
  MESSAGE("catalogue: " << predicted.size() << " readings, median " << all.median << ", mean " << all.mean << ", bias "
                        << all.bias);
  for (const auto& [kind, values] : kinds) {
    const auto part = hardware::summarise(values.first, values.second);
    MESSAGE("  kind " << static_cast<int>(kind) << ": mean " << part.mean << ", bias " << part.bias);
  }
  const auto fit = hardware::fit_power(gpu, readings, 1500);
  REQUIRE(fit);
  MESSAGE("unseen shapes: median " << fit->report.held_out.median << ", mean " << fit->report.held_out.mean);
}

TEST_CASE("the mini engine's runs on the H100, by the catalogue and by a device fitted to its kernels") {
  const hardware::Calibration fit = calibrated();
  for (const char* run : {"8b-chat", "8b-rag", "8b-long", "8b-one", "1b-chat"}) {
    CAPTURE(run);
    const auto by_catalogue = test::engine_outcome(kRuns + run + ".json.gz", preset("h100-sxm"));
    const auto by_record = test::engine_outcome(kRuns + run + ".json.gz", fit.device);
  }
}
