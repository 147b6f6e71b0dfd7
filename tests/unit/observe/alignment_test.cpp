// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/alignment.hpp"

#include <doctest/doctest.h>

#include <utility>

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
  CHECK(observed.courses[quantity::kClock]["0"].samples()[0].at == approx(-0.5));  // moves with them
  REQUIRE(observed.notes.size() == 1);
  CHECK(observed.notes[0].find("9.5 s") != std::string::npos);
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
    CHECK(observed.courses[quantity::kPower]["0"].samples()[57].at == 0.5);
    CHECK(figures(observed).at("mean_w") == approx(400));
    REQUIRE(observed.notes.size() == 1);
    CHECK(observed.notes[0].find("56.5 s") != std::string::npos);
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

// 100 W idle and 600 W for exactly 10 s, sampled each second at any phase: a window that begins with the first loaded
// sample ends half a second late, and has (9.5 * 600 + 0.5 * 100) / 10 = 575 W.
TEST_CASE("mean watts begin midway to the last idle sample, whatever the phase of the sampler") {
  for (const double phase : {0.1, 0.5, 0.9}) {
    CAPTURE(phase);
    Observed observed;
    observed.requests = {{0, 100, 11, 0.5, 10}};
    for (int i = 0; i < 40; ++i) {
      const double at = 5000 + i + phase;
      observed.courses[quantity::kPower]["0"].add(at, at >= 5015 && at < 5025 ? 600 : 100);
    }
    align_courses(observed);
    CHECK(figures(observed).at("mean_w") == approx(600));
  }
}

// A call of 20 tokens a second for a minute; the engine had another one of 5 s 50 s before, at start-up.
TEST_CASE("work that came before the requests is left out, and said") {
  Observed observed;
  observed.log_period = 10;
  observed.requests = {{7000, 100, 1200, 0, 60}};
  for (const auto& [at, rate] : {std::pair(950.0, 0.0), std::pair(960.0, 10.0)})
    observed.courses[quantity::kOutputRate]["0"].add(at, rate);
  for (int i = 0; i <= 7; ++i)
    observed.courses[quantity::kOutputRate]["0"].add(1000 + 10 * i, i >= 1 && i <= 6 ? 20 : 0);
  align_courses(observed);
  CHECK(observed.total(quantity::kOutputRate)[2].at == approx(0));  // the line at 1,000 s
  REQUIRE(observed.notes.size() == 1);
  CHECK_MESSAGE(observed.notes[0].starts_with("engines worked 50 s before the requests began"), observed.notes[0]);
}

TEST_CASE("work begins with the first sample of any quantity that shows it") {
  Observed observed;
  for (int i = 0; i < 4; ++i) {  // nothing runs at the moments of the first lines, which tell rates
    observed.courses[quantity::kRunning]["0"].add(100 + 10 * i, i < 3 ? 0 : 2);
    observed.courses[quantity::kOutputRate]["0"].add(100 + 10 * i, i < 1 ? 0 : 30);
  }
  align_courses(observed);
  CHECK(observed.total(quantity::kRunning)[1].at == approx(10));
}

// The client's clock is UTC, the log's two hours ahead; a warm-up that only the client tells of began 20 s before.
TEST_CASE("times of a calendar are those of one clock, in the zone that fits") {
  Observed observed;
  observed.log_period = 10;
  const double begun = time_in("2025-05-12 09:01:03").value();
  observed.requests = {{begun, 100, 1200, 0, 60}};
  observed.first_call = begun - 20;
  const double log = time_in("05-12 11:00:40").value();  // of no year
  for (int i = 0; i < 10; ++i) observed.courses[quantity::kOutputRate]["0"].add(log + 10 * i, i > 0 ? 20 : 0);
  align_courses(observed);
  CHECK(observed.total(quantity::kOutputRate)[0].at == approx(-23));  // 11:00:40 for 11:01:03
}

TEST_CASE("a warm-up that the client tells of came first where clocks have nothing in common") {
  Observed observed;
  observed.requests = {{120, 100, 11, 0.5, 30}};
  observed.first_call = 100;
  for (int i = 0; i < 10; ++i) observed.courses[quantity::kRunning]["0"].add(7000 + 10 * i, i > 0 ? 1 : 0);
  align_courses(observed);
  CHECK(observed.total(quantity::kRunning)[0].at == approx(-20));
}

}  // namespace llmscape::observe
