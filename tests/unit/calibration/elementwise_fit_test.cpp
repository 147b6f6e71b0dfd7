// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/elementwise_fit.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

Chip chip() {
  Chip c;
  c.hbm_bandwidth.value = BytesPerSecond(2e12);
  c.l2.value = Bytes(1e12);  // nothing leaves it
  return c;
}

// Kernels that take `launch` and move `bytes_per_element` of each element at `rate`.
void add(std::vector<traces::TimedElementwise>& records, const std::string& kind, double launch, double rate,
         double bytes_per_element) {
  for (const std::int64_t width : {1024, 2048, 4096, 8192})
    for (std::int64_t rows = 1; rows <= 4096; rows *= 4)
      records.push_back({{kind, rows, width, "bf16"},
                         Seconds(launch + bytes_per_element * static_cast<double>(rows * width) / rate)});
}

TEST_CASE("each kind of kernel gives its launch and its share of the bandwidth back") {
  std::vector<traces::TimedElementwise> records;
  add(records, "norm", 3e-6, 1e12, 4);          // a value read and written
  add(records, "activation", 2e-6, 1.2e12, 6);  // gate and up read, one written
  const auto fit = fit_elementwise(chip(), records, {});
  CHECK(fit.parameters.norm.launch.si() == approx(3e-6).epsilon(0.02));
  CHECK(fit.parameters.norm.efficiency == approx(0.5).epsilon(0.02));
  CHECK(fit.parameters.activation.launch.si() == approx(2e-6).epsilon(0.02));
  CHECK(fit.parameters.activation.efficiency == approx(0.6).epsilon(0.02));
  CHECK(fit.parameters.tag == Tag::fitted);
  CHECK(fit.report.held_out.rows == 2 * 4 * 7);
  CHECK(fit.report.held_out.mean < 0.01);
  REQUIRE(fit.report.fitted.size() == 4);
  CHECK(fit.report.fitted[0].name == "norm.launch");
}

TEST_CASE("kinds without records enough stay as they were") {
  std::vector<traces::TimedElementwise> records;
  add(records, "rope", 3e-6, 1e12, 4);
  ElementwiseParameters before;
  before.norm = {Seconds(7e-6), 0.3};
  const auto fit = fit_elementwise(chip(), records, before);
  CHECK(fit.parameters.norm.launch.si() == 7e-6);
  CHECK(fit.parameters.rope.efficiency == approx(0.5).epsilon(0.02));
  CHECK_FALSE(fit.parameters.add);
  CHECK_FALSE(fit.all_kinds);

  records.resize(9);
  CHECK(fit_elementwise(chip(), records, before).report.fitted.empty());

  for (const char* kind : {"norm", "activation", "rope", "embedding"}) add(records, kind, 3e-6, 1e12, 4);
  for (std::int64_t rows = 1; rows <= 10; ++rows) records.push_back({{"sampling", rows, 32000, "fp32"}, Seconds(1e-5)});
  CHECK(fit_elementwise(chip(), records, before).all_kinds);  // nothing priced an addition or a quantisation before
  before.add = {Seconds(7e-6), 0.3};
  CHECK_FALSE(fit_elementwise(chip(), records, before).all_kinds);
}

}  // namespace
}  // namespace llmscape::hardware
