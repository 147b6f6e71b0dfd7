// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/calibrate.hpp"
#include "base/catalog.hpp"
#include "base/random.hpp"
#include "hardware/calibration/gemm_fit.hpp"
#include "hardware/gpu/gpu.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>

namespace llmscape::hardware {
namespace {

YamlNode base() {
  Diagnostics diagnostics;
  auto tree = catalog_entry("hardware/catalog", "device", "l40s", {}, diagnostics);
  REQUIRE_MESSAGE(tree, diagnostics.text(false));
  return *tree;
}

std::shared_ptr<const Gpu> gpu_of(const YamlNode& tree) {
  Diagnostics diagnostics;
  auto gpu = std::dynamic_pointer_cast<const Gpu>(devices().read(tree, diagnostics));
  REQUIRE_MESSAGE(gpu, diagnostics.text(false));
  return gpu;
}

// Products of an L40S that reaches 0.7 of its peak and 0.9 of its bandwidth, with 2 % noise.
traces::KernelTables products() {
  GemmParameters truth = gpu_of(base())->gemm;
  truth.correction.reset();
  truth.compute_efficiency = 0.7;
  truth.memory_efficiency = 0.9;
  truth.launch = Seconds(3e-6);
  traces::KernelTables tables;
  tables.device = "a test device";
  tables.software = "a test";
  RandomStream draws(1);
  for (std::int64_t i = 0; i < 200; ++i) {
    const auto side = [&](double low, double high) {
      return std::llround(low * std::pow(high / low, draws.uniform()));
    };
    tables.gemm.push_back({{side(1, 8192), 64 * side(8, 256), 64 * side(8, 256), "bf16"}, Seconds()});
  }
  const auto times = predict(*gpu_of(base()), {}, truth, tables.gemm);
  for (std::size_t i = 0; i < times.size(); ++i)
    tables.gemm[i].time = Seconds(times[i] * std::exp(0.02 * draws.normal()));
  return tables;
}

TEST_CASE("families with rows are fitted, the others keep what the base says") {
  Diagnostics diagnostics;
  const auto calibration = calibrate(products(), base(), {{}, 1500, "records.csv"}, diagnostics);
  REQUIRE_MESSAGE(calibration, diagnostics.text(false));
  REQUIRE(calibration->reports.size() == 1);
  CHECK(calibration->reports[0].family == "gemm");
  const auto before = gpu_of(base()), after = gpu_of(calibration->device);
  CHECK(after->gemm.compute_efficiency == doctest::Approx(0.7).epsilon(0.03));
  CHECK(after->gemm.memory_efficiency == doctest::Approx(0.9).epsilon(0.03));
  CHECK(after->gemm.launch.si() == doctest::Approx(3e-6).epsilon(0.1));
  CHECK(after->gemm.tag == Tag::fitted);
  CHECK(after->gemm.source.starts_with("a test on a test device, records.csv: bf16, 200 rows"));
  CHECK(after->gemm.source.find("unseen shapes MAPE 1.") != std::string::npos);
  CHECK(after->gemm.residuals.small.size() == 11);
  CHECK(after->decode_attention.source == before->decode_attention.source);
  CHECK(after->hbm_bandwidth.value == before->hbm_bandwidth.value);
}

TEST_CASE("the same tables give the same device, byte for byte") {
  Diagnostics diagnostics;
  const CalibrationRequest request{{}, 100, "records.csv"};
  const auto one = calibrate(products(), base(), request, diagnostics);
  const auto other = calibrate(products(), base(), request, diagnostics);
  REQUIRE((one && other));
  CHECK(write_yaml(one->device) == write_yaml(other->device));
  CHECK(one->reports[0].data.find("100 rows") != std::string::npos);
}

TEST_CASE("tables that serve no wanted family are a mistake") {
  Diagnostics diagnostics;
  CHECK_FALSE(calibrate(products(), base(), {{"decode_attention"}, 1500, "records.csv"}, diagnostics));
  CHECK(diagnostics.text(false).find("nothing to fit: no family has 20 rows") != std::string::npos);
}

}  // namespace
}  // namespace llmscape::hardware
