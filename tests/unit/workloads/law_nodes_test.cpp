// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/law_nodes.hpp"

#include <cmath>

#include "base/random.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/workloads/support.hpp"

using llmscape::testing::approx;

namespace llmscape::workloads {
namespace {

double mean_of_law(const YamlNode& law) {
  const SharedList<YamlNode>&shares = law.find("shares")->items, &values = law.find("values")->items;
  const auto number = [](const YamlNode& node) { return std::stod(node.text); };
  double sum = 0;
  for (std::size_t i = 1; i < shares.size(); ++i)
    sum += (number(shares[i]) - number(shares[i - 1])) * (number(values[i]) + number(values[i - 1])) / 2;
  return sum;
}

}  // namespace

TEST_CASE("a law of lengths far apart has their mean") {
  // Log-normal values with a mean of 200 and a cv of 2, as answers of code completion have.
  RandomStream draws(3);
  std::vector<double> values;
  double sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double variance = std::log(1 + 2.0 * 2);
    values.push_back(std::round(200 * std::exp(-variance / 2 + std::sqrt(variance) * draws.normal())));
    sum += values.back();
  }
  CHECK(mean_of_law(quantile_lengths(values)) == approx(sum / 20'000).epsilon(0.02));
}

TEST_CASE("one length far from all others stays one, and likes in a row are written once") {
  // 19,999 of 40 tokens and one of 20,000. From share 0.9999 a line leads to it: 40 + 0.0001 x 19,960 / 2 = 40.998, as
  // recorded. From 0.975 on it would be 289.5.
  std::vector<double> values(20'000, 40);
  values[7] = 20'000;
  const YamlNode law = quantile_lengths(values);
  CHECK(mean_of_law(law) == approx(40.998));
  REQUIRE(law.find("shares")->items.size() == 3);
  CHECK(law.find("shares")->items[1].text == "0.9999");
}

}  // namespace llmscape::workloads
