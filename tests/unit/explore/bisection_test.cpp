// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/bisection.hpp"

#include <doctest/doctest.h>

#include "tests/support/approx.hpp"

#include <cmath>
#include <functional>
#include <map>

using namespace llmscape::explore;

namespace {

// What a search finds of values that meet up to an edge (or from it on), and how many it looked at. Some are refused.
struct Found {
  std::optional<double> met, failed;
  int looked_at = 0;
};

Found find(const SearchSpace& space, double edge, const std::function<bool(double)>& refused) {
  std::map<double, Standing> known;
  const auto standing = [&](double value) -> std::optional<Standing> {
    if (refused(value)) return Standing::refused;
    const auto found = known.find(value);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  };
  for (;;) {
    const SearchStep step = next_step(space, standing);
    if (!step.next) return {step.met, step.failed, static_cast<int>(known.size())};
    REQUIRE(known.size() < 200);
    const bool meets = space.largest ? *step.next <= edge : *step.next >= edge;
    REQUIRE(known.emplace(*step.next, meets ? Standing::met : Standing::failed).second);
  }
}

Found find(const SearchSpace& space, double edge, int only_multiples_of = 1) {
  return find(space, edge,
              [=](double value) { return only_multiples_of > 1 && std::fmod(value, only_multiples_of) != 0; });
}

}  // namespace

TEST_CASE("over whole numbers the search finds what trying them all finds, whatever it starts from") {
  for (const bool largest : {true, false})
    for (const int multiple : {1, 4, 6})
      for (int edge = 0; edge <= 101; ++edge)
        for (const double start : {1., 5., 37., 100.}) {
          std::optional<double> expected;
          for (int value = multiple; value <= 100; value += multiple) {
            if (largest && value <= edge) expected = value;
            if (!largest && value >= edge && !expected) expected = value;
          }
          CAPTURE(edge);
          CAPTURE(start);
          CAPTURE(multiple);
          CHECK(find({largest, start, 1, 100, true, 0.02}, edge, multiple).met == expected);
        }
}

TEST_CASE("other values end in a bracket that holds the edge and is as narrow as asked") {
  for (const double precision : {0.2, 0.02, 0.001})
    for (const double edge : {0.037, 1., 11.7, 4321.}) {
      const Found largest = find({true, 3, 0, 0, false, precision}, edge);
      REQUIRE(largest.met);
      REQUIRE(largest.failed);
      CHECK(*largest.met <= edge);
      CHECK(*largest.failed > edge);
      CHECK(*largest.failed <= *largest.met * (1 + precision));
      const Found smallest = find({false, 3, 0, 0, false, precision}, edge);
      CHECK(*smallest.met >= edge);
      CHECK(*smallest.failed < edge);
      // As many doublings as it takes from 3, one to see the other side, and halvings of log 2; values are rounded,
      // which may cost one more.
      const double doublings = std::ceil(std::abs(std::log2(edge / 3)));
      CHECK(largest.looked_at <= doublings + 2 + std::ceil(std::log2(std::log(2) / std::log(1 + precision))) + 1);
    }
}

TEST_CASE("a search does not leave its ends, and says so by the side that is missing") {
  const Found all_meet = find({true, 4, 1, 10, false, 0.02}, 50);
  CHECK(all_meet.met == 10);
  CHECK_FALSE(all_meet.failed);
  const Found none_meets = find({true, 4, 1, 10, false, 0.02}, 0.5);
  CHECK_FALSE(none_meets.met);
  CHECK(none_meets.failed == 1);
  CHECK_FALSE(find({false, 2, 0, 0, true, 0.02}, 0).failed);  // 1 device is enough
}

TEST_CASE("a value that is refused ends the space: what lies before it is looked at") {
  for (const double precision : {0.05, 0.001})
    for (const double edge : {0.81, 0.953, 0.97}) {
      const auto share = [](double value) { return value > 1; };  // doubled, 0.8 is none
      const Found smallest = find({false, 0.8, 0, 0, false, precision}, edge, share);
      CAPTURE(edge);
      REQUIRE(smallest.met);
      CHECK(*smallest.met >= edge);
      CHECK(*smallest.failed < edge);
      CHECK(*smallest.met <= *smallest.failed * (1 + precision));
    }
  const Found largest = find({true, 8, 0, 0, false, 0.02}, 6, [](double value) { return value < 5; });
  REQUIRE(largest.met);
  CHECK(*largest.met <= 6);
  CHECK(*largest.met >= 6 / 1.021);
  const Found whole = find({false, 100, 0, 0, true, 0.02}, 140, [](double value) { return value > 150; });
  CHECK(whole.met == 140);
  CHECK(whole.failed == 139);
  const Found none = find({false, 0.8, 0, 0, false, 0.02}, 1.5, [](double value) { return value > 1; });
  CHECK_FALSE(none.met);
  CHECK(*none.failed > 1 / 1.03);
}

// 2^20 = 1,048,576.
TEST_CASE("where no value meets it the search gives up at a millionth of the start, after 21 values") {
  const Found none_meets = find({true, 8, 0, 0, false, 0.02}, 0);
  CHECK_FALSE(none_meets.met);
  CHECK(none_meets.looked_at == 21);
  CHECK(*none_meets.failed == llmscape::testing::approx(8 / 1048576.).epsilon(0.01));
}

TEST_CASE("values are short enough to be typed again") {
  const Found found = find({true, 1, 0, 0, false, 0.02}, 23.456789);
  CHECK(std::round(*found.met * 100) / 100 == *found.met);
}
