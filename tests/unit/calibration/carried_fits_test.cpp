// SPDX-License-Identifier: Apache-2.0
// A chip by the kernels of another one and both data sheets.
#include "hardware/calibration/carried_fits.hpp"

#include "tests/support/approx.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

YamlNode entry(const std::string& name) {
  Diagnostics diagnostics;
  auto tree = device_entry(kCatalog, name, {}, diagnostics);
  REQUIRE(tree);
  return *tree;
}

Gpu read(const YamlNode& tree) {
  Diagnostics diagnostics;
  const auto device = devices().read(tree, diagnostics);
  REQUIRE_MESSAGE(device, diagnostics.text(false));
  return dynamic_cast<const Gpu&>(*device);
}

TEST_CASE("a B200 by an H200: its data sheet, the H200's efficiencies, and nothing of its own kernels") {
  const Gpu h200 = catalog_gpu("h200"), b200 = catalog_gpu("b200"),
            carried_over = read(carried(entry("h200"), entry("b200")));
  CHECK(carried_over.peak_bf16.value == b200.peak_bf16.value);
  CHECK(carried_over.peak_fp4->value == b200.peak_fp4->value);
  CHECK(carried_over.hbm_bandwidth.value == b200.hbm_bandwidth.value);
  CHECK(carried_over.links.bandwidth.value == b200.links.bandwidth.value);
  CHECK(carried_over.gemm.compute_efficiency == h200.gemm.compute_efficiency);
  CHECK(carried_over.gemm.cta_bandwidth.si() ==
        approx(h200.gemm.cta_bandwidth.si() * (b200.hbm_bandwidth.value / h200.hbm_bandwidth.value)));
  CHECK(carried_over.gemm.tag == Tag::assumed);
  CHECK(carried_over.gemm_by_format.size() == h200.gemm_by_format.size());  // none of nvfp4

  // By hand: one GEMM of 16,384 x 16,384 x 8,192 fills the chip, so that it takes its arithmetic at the H200's
  // efficiency, the operands of 64 x 128 tiles of 256 x 128 through L2, its traffic (the fourth root of the sum of
  // their fourth powers) and a launch.
  GemmParameters plain = carried_over.gemm;
  plain.correction.reset();
  plain.tile = Seconds();
  plain.wave_quantisation = 0;
  const models::Gemm gemm{16384, 16384, 8192, models::Format(), models::Format()};
  const double arithmetic = 2.0 * 16384 * 16384 * 8192 / (plain.compute_efficiency * 2250e12);
  const double through_l2 = 64 * 128 * 8192.0 * (256 + 128) * 2 / plain.l2_bandwidth.si();
  const double traffic = (16384 + 2 * 8192) * 16384.0 * 2 / (plain.memory_efficiency * b200.hbm_bandwidth.value.si());
  const double by_hand =
      std::pow(std::pow(arithmetic, 4) + std::pow(through_l2, 4) + std::pow(traffic, 4), 0.25) + plain.launch.si();
  CHECK(gemm_cost(carried_over, plain, gemm).time.si() == approx(by_hand));
}

TEST_CASE("kernels are scored by engine, family and format, with the parameters that price them") {
  const Gpu gpu = catalog_gpu("h200");
  traces::KernelTables tables;
  for (std::int64_t m = 1; m <= 64; ++m) {
    tables.gemm.push_back({{m, 4096, 4096, "bf16"}, Seconds(1e-5 + 1e-6 * static_cast<double>(m)), "vllm"});
    tables.gemm.push_back({{m, 4096, 4096, "fp8"}, Seconds(1e-5 + 1e-6 * static_cast<double>(m)), "sglang"});
  }
  const auto reports = score_kernels(tables, gpu, 1500);
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].engine == "sglang");
  CHECK(reports[0].data == "fp8");
  CHECK(reports[1].engine == "vllm");
  REQUIRE(reports[1].rows.size() == 64);
  const models::Gemm first{1, 4096, 4096, models::Format(), models::Format()};
  CHECK(reports[1].rows[0].held_out == approx(gemm_cost(gpu, gpu.gemm, first).time.si()));
  CHECK(reports[1].fitted.empty());
}

}  // namespace
}  // namespace llmscape::hardware
