// SPDX-License-Identifier: Apache-2.0
// Watts of kernels (ai-dynamo/aiconfigurator @ 095f58a, vLLM 0.22): what the catalogue says of them, and what a fit
// says of shapes that it has not seen.
#include "hardware/calibration/power_fit.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"
#include "traces/kernel_tables.hpp"

#include <cstdlib>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

struct Measured {
  const char *device, *folder;
  std::size_t rows, steady;
  double catalogued, held_out, held_out_mean;  // steady readings: median of the catalogue's errors; on unseen shapes
  double all_mean;                             // the catalogue's, diluted readings included
  std::vector<std::string> held{};             // at the catalogue's: told by loops on a board of the same chip
};
// What they were when this was written, and a little; 8 % are asked of the mean on unseen shapes. Of readings of one
// and the same load some are a third to four fifths below the others: no form meets both.
const std::array kMeasured = {
    Measured{"h200", "h200_sxm", 1091, 874, 0.01, 0.01, 0.08, 0.18, {"active", "memory", "padding", "compute", "fp8"}},
    Measured{"b200", "b200_sxm", 784, 656, 0.04, 0.04, 0.08, 0.14},
    Measured{"gb200", "gb200", 847, 702, 0.05, 0.06, 0.09, 0.18}};

ErrorSummary errors(const Gpu& gpu, std::span<const PowerLoad> loads) {
  std::vector<double> predicted, read;
  for (const PowerLoad& load : loads) {
    predicted.push_back(predicted_power(gpu, gpu.energy, load).si());
    read.push_back(load.power.si());
  }
  return summarise(predicted, read);
}

TEST_CASE("watts of Hopper's and Blackwell's kernels") {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA names no folder");
    return;
  }
  for (const Measured& measured : kMeasured) {
    CAPTURE(std::string(measured.device));
    std::vector<std::string> paths;
    for (const char* kind : {"gemm", "context_attention", "generation_attention", "moe"})
      paths.push_back(std::string(data) + "/kernels/" + measured.folder + "/power_" + kind + ".csv.gz");
    Diagnostics diagnostics;
    const auto tables = traces::read_kernel_tables(paths, diagnostics);
    REQUIRE_MESSAGE(tables, diagnostics.text(false));
    CHECK(tables->gemm.empty());
    const Gpu gpu = catalog_gpu(measured.device);
    std::vector<PowerLoad> loads;
    for (const traces::PowerReading& reading : telling(tables->power)) loads.push_back(power_load(gpu, reading));
    const std::vector<PowerLoad> kept = steady(loads);
    CHECK(loads.size() == measured.rows);
    CHECK(kept.size() == measured.steady);
    const ErrorSummary catalogued = errors(gpu, kept), with_diluted = errors(gpu, loads);
    const auto fit = fit_power(gpu, tables->power, 1500, measured.held);
    REQUIRE(fit);
    const ErrorSummary& unseen = fit->report.held_out;
    MESSAGE(std::string(measured.device) << ": catalogue median " << catalogued.median << ", mean " << catalogued.mean
                                         << ", with diluted readings " << with_diluted.median << " and "
                                         << with_diluted.mean << "; unseen shapes median " << unseen.median << ", mean "
                                         << unseen.mean);
    for (const FamilyReport& part : fit->parts)
      MESSAGE("  " << part.form << ": " << part.rows.size() << " rows, unseen shapes median " << part.held_out.median
                   << ", mean " << part.held_out.mean << ", bias " << part.held_out.bias);
    CHECK(catalogued.median < measured.catalogued);
    CHECK(unseen.median < measured.held_out);
    CHECK(unseen.mean < measured.held_out_mean);
    CHECK(with_diluted.mean < measured.all_mean);
    CHECK(fit->parameters.own_compute("fp8_block")->si() ==
          approx(gpu.energy.own_compute("fp8_block")->si()).epsilon(0.06));
    CHECK(fit->parameters.active.si() == approx(gpu.energy.active.si()).epsilon(0.06));
    CHECK(fit->parameters.memory.si() == approx(gpu.energy.memory.si()).epsilon(0.06));
  }
}

}  // namespace
}  // namespace llmscape::hardware
