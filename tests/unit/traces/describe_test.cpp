// SPDX-License-Identifier: Apache-2.0
#include "traces/describe.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/support/approx.hpp"
#include "tests/unit/traces/trace_folder.hpp"

using namespace llmscape;
using namespace llmscape::traces;
using llmscape::testing::approx;

namespace {

TraceStatistics described(const std::string& content, int block_tokens = 16) {
  const TraceFolder folder;
  Diagnostics diagnostics;
  const auto trace = open_trace(folder.write("trace.jsonl", content), "llmscape-jsonl", {}, diagnostics);
  REQUIRE(trace);
  auto statistics = describe(*trace, block_tokens, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  return statistics;
}

std::string row(double arrival, int prompt = 10, int output = 1) {
  return fmt::format("{{\"arrival_s\": {}, \"prompt_tokens\": {}, \"output_tokens\": {}}}\n", arrival, prompt, output);
}

}  // namespace

TEST_CASE("quantiles of lengths interpolate between the nearest ranks") {
  std::string content;
  for (int i = 0; i < 11; ++i) content += row(i, 10 * (11 - i), 7);  // 110, 100, ... 10
  const TraceStatistics s = described(content);
  CHECK(s.requests == 11);
  CHECK(s.prompt.mean == 60);
  CHECK(s.prompt.p10 == 20);
  CHECK(s.prompt.p50 == 60);
  CHECK(s.prompt.p90 == 100);
  CHECK(s.prompt.p99 == approx(109));  // rank 9.9 of 0 to 10
  CHECK(s.prompt.maximum == 110);
  CHECK(s.output.p99 == 7);
}

TEST_CASE("evenly spaced arrivals have no variation") {
  std::string content;
  for (int i = 0; i <= 240; ++i) content += row(i);  // one a second, four whole minutes
  const ArrivalStatistics a = described(content).arrivals;
  CHECK(a.duration == Seconds(240));
  CHECK(a.rate->si() == approx(241.0 / 240));
  CHECK(a.peak_minute.si() == 1);
  CHECK(*a.interarrival_cv == 0);
  CHECK(a.busy_minutes == 4);
  CHECK(*a.busy_cv == 0);
  CHECK(*a.fano_1_s == 0);
  CHECK(*a.fano_60_s == 0);
  CHECK(*a.empty_minutes == 0);
}

TEST_CASE("bursts show in the variation, the windows and the empty minutes") {
  // Pairs of arrivals at 0 s, 120 s and 240 s: gaps 0, 120, 0, 120, 0; whole minutes hold 2, 0, 2, 0 arrivals.
  std::string content;
  for (const int t : {0, 120, 240}) content += row(t) + row(t);
  const ArrivalStatistics a = described(content).arrivals;
  CHECK(*a.interarrival_cv == approx(std::sqrt(1.5)));  // mean 48, variance 2 * 120^2 / 5 - 48^2 = 3456
  CHECK(*a.fano_60_s == approx(1));                     // mean 1, variance 1
  CHECK(*a.empty_minutes == 0.5);
  CHECK(a.peak_minute.si() == approx(2.0 / 60));
  CHECK(a.busy_minutes == 0);
  CHECK_FALSE(a.busy_cv);
}

TEST_CASE("a gap of centuries costs no time") {
  const ArrivalStatistics a = described(row(0) + row(9e9)).arrivals;
  CHECK(*a.empty_minutes == approx(1));
  CHECK(a.duration == Seconds(9e9));
}

TEST_CASE("figures that one request cannot give are absent") {
  const TraceStatistics s = described(row(5));
  CHECK(s.requests == 1);
  CHECK_FALSE(s.arrivals.rate);
  CHECK_FALSE(s.arrivals.interarrival_cv);
  CHECK_FALSE(s.arrivals.fano_1_s);
  CHECK_FALSE(s.arrivals.empty_minutes);
  CHECK_FALSE(s.reuse);
}

TEST_CASE("prefix reuse is counted in tokens, segments, blocks and per request") {
  const TraceStatistics s = described(
      "{\"arrival_s\": 0, \"prompt\": [[1, 40], [2, 60]], \"output_tokens\": 1}\n"
      "{\"arrival_s\": 1, \"prompt\": [[1, 40], [3, 10]], \"output_tokens\": 1}\n"  // 40 of 50 tokens
      "{\"arrival_s\": 2, \"prompt\": [[1, 40], [2, 10]], \"output_tokens\": 1}\n"  // 50 of 50
      "{\"arrival_s\": 3, \"prompt_tokens\": 1000, \"output_tokens\": 1}\n");       // unknown: not counted
  REQUIRE(s.reuse);
  CHECK(s.reuse->requests == 3);
  CHECK(s.reuse->distinct_contents == 3);
  CHECK(s.reuse->tokens == 90.0 / 200);
  CHECK(s.reuse->mean_prefix == approx((0 + 0.8 + 1) / 3));
  CHECK(s.reuse->segments == 3.0 / 6);
  CHECK(*s.reuse->blocks == 5.0 / 12);  // 16 tokens: 2 + 3 of 6 + 3 + 3
}

TEST_CASE("the text says what every figure means, with a dash for what is absent") {
  const std::string text = text_of(described(row(0, 100, 20) + row(2, 300, 40)));
  CHECK(text.find("2 requests, llmscape-jsonl\n") == 0);
  CHECK(text.find("prompt   200") != std::string::npos);
  CHECK(text.find("1 /s  requests over duration") != std::string::npos);
  CHECK(text.find("-  median of 0 minutes with 60 arrivals or more") != std::string::npos);
  CHECK(text.find("prefix reuse") == std::string::npos);
}
