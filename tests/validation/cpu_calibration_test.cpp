// SPDX-License-Identifier: Apache-2.0
// The committed record of a CPU's kernels, the device file fitted to it, and a look at the machine that runs this.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "hardware/calibration/cpu_fit.hpp"
#include "hardware/calibration/cpu_groups.hpp"
#include "hardware/cpu.hpp"
#include "hardware/harness/backend.hpp"
#include "hardware/harness/samples.hpp"
#include "tests/support/alike.hpp"
#include "tests/support/approx.hpp"
#include "traces/microbench_record.hpp"

using namespace llmscape;
using hardware::CpuCalibration;
using llmscape::testing::approx;

namespace {

constexpr const char* kRecord = "traces/measured/epyc-zen4-vm-2026-11-21.json";

traces::MicrobenchRecord committed_record() {
  Diagnostics diagnostics;
  const auto record = traces::read_microbench_record(kRecord, diagnostics);
  CAPTURE(diagnostics.text(false));
  REQUIRE(record);
  return *record;
}

const hardware::FamilyReport& report_of(const CpuCalibration& calibration, const std::string& family) {
  return *std::ranges::find(calibration.reports, family, &hardware::FamilyReport::family);
}

}  // namespace

TEST_CASE("the committed record says where it comes from, and the machine kept its pace") {
  const traces::MicrobenchRecord record = committed_record();
  for (const char* fact : {"device", "kernel", "compiler", "software", "date", "tool", "seed", "steal", "clock"}) {
    CAPTURE(fact);
    CHECK(record.context.contains(fact));
  }
  CHECK(record.backend == "cpu");
  CHECK(record.rows.size() > 150);
  for (const traces::MicrobenchRow& row : record.rows) CHECK(row.error < 1e-4);
  CHECK(record.sentinels.size() == 5);
  for (const traces::Sentinel& sentinel : record.sentinels) {
    REQUIRE(sentinel.medians_s.size() == 3);
    const auto [least, most] = std::ranges::minmax(sentinel.medians_s);
    CHECK(most / least < 1.35);  // what is bound by memory shares its bandwidth with the other core
  }
}

TEST_CASE("the fit of the committed record is what the catalogue says") {
  const CpuCalibration calibration = hardware::fit_cpu(traces::kernel_tables(committed_record()));
  Diagnostics diagnostics;
  const YamlNode file = read_yaml_file("hardware/catalog/cpu-epyc-vm.yaml", diagnostics);
  REQUIRE_FALSE(diagnostics.has_errors());
  for (const YamlNode::Entry& group : groups_of(calibration, kRecord)) {
    CAPTURE(group.key);
    const YamlNode* stands = file.find(group.key);
    REQUIRE(stands);
    CHECK(test::difference_beyond_rounding(write_yaml(*stands), write_yaml(group.value), 0.001) == "");
  }
}

TEST_CASE("shapes that a fit has not seen are predicted within the bounds of the kernel model") {
  const CpuCalibration calibration = hardware::fit_cpu(traces::kernel_tables(committed_record()));
  struct Bound {
    const char* family;
    double median, mean;
  };
  // Element-wise kernels leave the first cache's level at sizes of their own; they are a few per cent of a step.
  for (const Bound& bound : {Bound{"gemm", 0.05, 0.08}, Bound{"prefill_attention", 0.08, 0.12},
                             Bound{"decode_attention", 0.10, 0.13}, Bound{"elementwise", 0.12, 0.22}}) {
    CAPTURE(bound.family);
    const hardware::ErrorSummary errors = report_of(calibration, bound.family).held_out;
    CHECK(errors.median < bound.median);
    CHECK(errors.mean < bound.mean);
  }
}

TEST_CASE("the order of a record's rows does not move the fit") {
  traces::MicrobenchRecord record = committed_record();
  const CpuCalibration before = hardware::fit_cpu(traces::kernel_tables(record));
  std::ranges::reverse(record.rows);
  const CpuCalibration after = hardware::fit_cpu(traces::kernel_tables(record));
  CHECK(before.products.rate == after.products.rate);
  CHECK(before.decode_attention.bandwidth == after.decode_attention.bandwidth);
  CHECK(before.elementwise.norm.launch == after.elementwise.norm.launch);
}

TEST_CASE("on this machine, the form carries from one product to others of other shapes") {
  // Its rate from one product, the rest as in the catalogue: these are bound by arithmetic. Whoever shares the machine
  // only adds to a time, at times for seconds on end: all products are timed in turns, and the least time of each
  // counts.
  using Shape = std::array<std::int64_t, 3>;
  constexpr std::array<Shape, 3> kShapes{Shape{192, 1088, 1088}, {96, 1600, 832}, {400, 576, 1344}};
  std::string reason;
  const auto backend = hardware::harness::make_cpu_backend(1, reason);
  std::array<double, kShapes.size()> measured{};
  measured.fill(std::numeric_limits<double>::infinity());
  std::array<std::unique_ptr<hardware::harness::PreparedCase>, kShapes.size()> prepared;
  for (std::size_t i = 0; i < kShapes.size(); ++i) {
    const auto [m, n, k] = kShapes[i];
    prepared[i] = backend->prepare(traces::GemmCase{m, n, k, "fp32"}, 1);
    REQUIRE(prepared[i]->error() < prepared[i]->tolerance());
  }
  for (int turn = 0; turn < 12; ++turn)
    for (std::size_t i = 0; i < kShapes.size(); ++i)
      measured[i] = std::min(measured[i], std::ranges::min(hardware::harness::timed_samples(*prepared[i])));

  const models::Format single{"fp32", 4, 0, 0};
  const hardware::CpuProducts products = hardware::fit_cpu(traces::kernel_tables(committed_record())).products;
  const auto predicted = [&](std::size_t i) {
    const auto [m, n, k] = kShapes[i];
    return product_cost(products, 1, {m, n, k, single, single}).time.si();
  };
  for (std::size_t i = 1; i < kShapes.size(); ++i) {
    CAPTURE(i);
    CHECK(measured[i] / measured[0] == approx(predicted(i) / predicted(0)).epsilon(0.25));
  }
}
