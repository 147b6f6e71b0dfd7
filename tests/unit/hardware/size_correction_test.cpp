// SPDX-License-Identifier: Apache-2.0
#include "hardware/size_correction.hpp"
#include "hardware/calibration/size_correction_fit.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <cmath>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

TEST_CASE("a factor is even between sizes in their logarithm, and stays beyond them") {
  const SizeCorrection c{Bytes(1024), {0, 10, 20}, {}};
  CHECK(c.factor(1024) == approx(1));
  CHECK(c.factor(2048) == approx(std::exp(0.1)));
  CHECK(c.factor(2048 * std::sqrt(2.0)) == approx(std::exp(0.15)));
  CHECK(c.factor(1) == approx(1));
  CHECK(c.factor(0) == approx(1));
  CHECK(c.factor(1e9) == approx(std::exp(0.2)));
}

TEST_CASE("nothing is even across the size where the software changes its way") {
  const SizeCorrection c{Bytes(1024), {0, 10, 40, 50}, Bytes(4096)};
  CHECK(c.factor(1024 * std::sqrt(2.0)) == approx(std::exp(0.05)));
  CHECK(c.factor(4095) == approx(std::exp(0.1)));
  CHECK(c.factor(4096) == approx(std::exp(0.4)));
  CHECK(c.factor(4096 * std::sqrt(2.0)) == approx(std::exp(0.45)));
}

TEST_CASE("a change of way off the points leaves all of them on one side") {
  CHECK(SizeCorrection{Bytes(1024), {0, 10}, Bytes(512)}.factor(100) == approx(1));
  CHECK(SizeCorrection{Bytes(1024), {0, 10}, Bytes(512)}.factor(2048) == approx(std::exp(0.1)));
  CHECK(SizeCorrection{Bytes(1024), {0, 10}, Bytes(1 << 20)}.factor(1448.15) == approx(std::exp(0.05)));
  CHECK(SizeCorrection{Bytes(1024), {0, 10}, Bytes(1 << 20)}.factor(1 << 20) == approx(std::exp(0.1)));
}

TEST_CASE("points are the means of residuals near them; where there are none, what lies between the next") {
  const std::vector<SizeResidual> residuals = {{1024, 0.1}, {1100, 0.3}, {4096, 0.4}, {8192, 0.5}};
  const SizeCorrection c = size_correction(residuals, Bytes(1024), {});
  CHECK(c.percent == std::vector<double>{20, 30, 40, 50});
  // From 2 KiB on in another way: the point there has only those above to go by.
  CHECK(size_correction(residuals, Bytes(1024), Bytes(2048)).percent == std::vector<double>{20, 40, 40, 50});
}

}  // namespace
}  // namespace llmscape::hardware
