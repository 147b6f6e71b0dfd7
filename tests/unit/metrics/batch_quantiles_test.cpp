// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "sim/metrics/observer.hpp"

namespace llmscape::metrics {

TEST_CASE("the 99th percentile of a batch is the nearest rank, as everywhere: the 99th of 100, the 990th of 1,000") {
  BatchQuantiles short_series, long_series;
  for (int i = 1; i <= 2'000; ++i) short_series.add(i);
  for (int i = 1; i <= 20'000; ++i) long_series.add(i);
  const std::vector<double> hundreds = short_series.p99(), thousands = long_series.p99();
  REQUIRE(hundreds.size() == 20);
  REQUIRE(thousands.size() == 20);
  for (std::size_t batch = 0; batch < 20; ++batch) {
    CHECK(hundreds[batch] == static_cast<double>(100 * batch + 99));
    CHECK(thousands[batch] == static_cast<double>(1'000 * batch + 990));
  }
  BatchQuantiles forties;  // 0.99 x 40 = 39.6: the largest
  for (int i = 1; i <= 80; ++i) forties.add(i);
  CHECK(forties.p99() == std::vector<double>{40, 80});
}

}  // namespace llmscape::metrics
