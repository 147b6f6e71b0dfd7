// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/alignment.hpp"

#include <doctest/doctest.h>

#include "sim/observe/log_line.hpp"
#include "tests/support/approx.hpp"

using llmscape::testing::approx;

namespace llmscape::observe {
namespace {

// A device sampled each second: 10 s at 100 W, then 20 s at 400 W, then 5 s at 100 W, from that moment on.
Course watts_from(double first) {
  Course course;
  for (int i = 0; i < 35; ++i) course.add(first + i, i >= 10 && i < 30 ? 400 : 100);
  return course;
}

}  // namespace

TEST_CASE("watts sampled before the load: without a log the rise of power is where the requests begin") {
  Observed observed;
  observed.requests = {{0, 100, 11, 0.5, 19}};
  observed.courses[quantity::kPower]["0"] = watts_from(5000);
  observed.courses[quantity::kClock]["0"].add(5009, 300);
  align_courses(observed);
  CHECK(figures(observed).at("mean_w") == approx(400));
  CHECK(observed.courses[quantity::kClock]["0"].samples()[0].at == approx(-1));  // moves with them
  REQUIRE(observed.notes.size() == 1);
  CHECK(observed.notes[0].find("10 s") != std::string::npos);
}

TEST_CASE("watts of start-up are not those of work: a log that tells the time of day says when it began") {
  for (const char* line : {"2028-05-12 09:01:00,000", "05-12 09:01:00"}) {  // after a 29 February
    CAPTURE(line);
    Observed observed;
    observed.log_period = 10;
    observed.requests = {{0, 100, 11, 0.5, 19}};
    const double begun = time_in(line).value();
    observed.courses[quantity::kRunning]["0"].add(begun, 0);
    observed.courses[quantity::kRunning]["0"].add(begun + 10, 1);
    Course& watts = observed.courses[quantity::kPower]["0"];
    const double sampled = time_in("2028/05/12 09:00:00.000").value();
    // Graphs are captured at 20 to 30 s, requests served from 57 to 77 s.
    for (int i = 0; i < 90; ++i) watts.add(sampled + i, (i >= 20 && i < 30) || (i >= 57 && i < 77) ? 400 : 100);
    align_courses(observed);
    CHECK(observed.courses[quantity::kPower]["0"].samples()[57].at == 0);
    CHECK(figures(observed).at("mean_w") == approx(400));
    REQUIRE(observed.notes.size() == 1);
    CHECK(observed.notes[0].find("57 s") != std::string::npos);
  }
}

TEST_CASE("watts that do not rise begin with their first sample") {
  Observed observed;
  observed.requests = {{0, 100, 11, 0.5, 19}};
  for (int i = 0; i < 20; ++i) observed.courses[quantity::kPower]["0"].add(5000 + i, 300 + 7 * i);
  align_courses(observed);
  CHECK(observed.courses[quantity::kPower]["0"].samples()[0].at == 0);
  CHECK(observed.notes.empty());
}

}  // namespace llmscape::observe
