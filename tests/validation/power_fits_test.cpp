// SPDX-License-Identifier: Apache-2.0
// Watts of kernels (ai-dynamo/aiconfigurator @ 095f58a, vLLM 0.22): what the catalogue says of them, and what a fit
// says of shapes that it has not seen.
#include "hardware/calibration/power_fit.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"
#include "traces/kernel_tables.hpp"

#include <cstdlib>

namespace llmscape::hardware {
namespace {

struct Measured {
  const char *device, *folder;
  std::size_t rows;
  double catalogued, held_out, held_out_mean;  // median of the catalogue's errors; median and mean on unseen shapes
};
// What they were when this was written, and a little. Readings of one and the same load differ by up to twice.
constexpr std::array kMeasured = {Measured{"h200", "h200_sxm", 1091, 0.07, 0.08, 0.18},
                                  Measured{"b200", "b200_sxm", 784, 0.08, 0.09, 0.16},
                                  Measured{"gb200", "gb200", 847, 0.10, 0.22, 0.26}};

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
    std::vector<double> predicted, read;
    for (const traces::PowerReading& reading : telling(tables->power)) {
      predicted.push_back(predicted_power(gpu, gpu.energy, power_load(gpu, reading)).si());
      read.push_back(reading.power.si());
    }
    CHECK(read.size() == measured.rows);
    const ErrorSummary catalogued = summarise(predicted, read);
    const auto fit = fit_power(gpu, tables->power, 1500);
    REQUIRE(fit);
    const ErrorSummary& unseen = fit->report.held_out;
    MESSAGE(std::string(measured.device) << ": catalogue median " << catalogued.median << ", mean " << catalogued.mean
                                         << "; unseen shapes median " << unseen.median << ", mean " << unseen.mean);
    CHECK(catalogued.median < measured.catalogued);
    CHECK(unseen.median < measured.held_out);
    CHECK(unseen.mean < measured.held_out_mean);
    CHECK(fit->parameters.active.si() == doctest::Approx(gpu.energy.active.si()).epsilon(0.06));
    CHECK(fit->parameters.memory.si() == doctest::Approx(gpu.energy.memory.si()).epsilon(0.06));
  }
}

}  // namespace
}  // namespace llmscape::hardware
