// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>

#include "traces/describe.hpp"

using namespace llmscape;
using namespace llmscape::traces;

// The figures of the reference data's own README files, to the digits printed there.
namespace {

std::optional<TraceStatistics> described_reference(const std::string& file, int block_tokens = 16) {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA names no folder");
    return std::nullopt;
  }
  Diagnostics diagnostics;
  const auto trace = open_trace(data + ("/" + file), "", {}, diagnostics);
  REQUIRE_MESSAGE(trace, diagnostics.text(false));
  auto statistics = describe(*trace, block_tokens, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  return statistics;
}

std::string printed(const LengthStatistics& l) {
  return fmt::format("{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {}", l.mean, l.p10, l.p50, l.p90, l.p99, l.maximum);
}
std::string printed(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }
std::string percent(double share) { return printed(share * 100, 1); }

}  // namespace

TEST_CASE("the Azure code trace has the figures of its README") {
  const auto s = described_reference("traces/azure_llm_2023/code.csv");
  if (!s) return;
  CHECK(s->requests == 8819);
  CHECK(printed(s->prompt) == "2048 147 1469 5188 7436 7437");
  CHECK(printed(s->output) == "28 7 13 55 251 1899");
  CHECK(printed(s->arrivals.duration.si(), 0) == "3436");
  CHECK(printed(s->arrivals.rate->si(), 2) == "2.57");
  CHECK(printed(s->arrivals.peak_minute.si(), 2) == "10.53");
  CHECK(printed(*s->arrivals.interarrival_cv, 2) == "13.15");
  CHECK(printed(*s->arrivals.busy_cv, 2) == "3.74");
  CHECK(s->arrivals.busy_minutes == 35);
  CHECK(printed(*s->arrivals.fano_1_s, 2) == "13.19");
  CHECK(printed(*s->arrivals.fano_60_s, 1) == "164.0");
  CHECK(percent(*s->arrivals.empty_minutes) == "21.1");
  CHECK_FALSE(s->reuse);
}

TEST_CASE("the Azure conversation trace has the figures of its README") {
  const auto s = described_reference("traces/azure_llm_2023/conv.csv");
  if (!s) return;
  CHECK(s->requests == 13653);
  CHECK(printed(s->prompt) == "1206 237 1015 4075 4122 14050");
  CHECK(printed(s->output) == "201 50 114 421 598 1000");
  CHECK(printed(s->arrivals.duration.si(), 0) == "2301");
  CHECK(printed(s->arrivals.rate->si(), 2) == "5.93");
  CHECK(printed(s->arrivals.peak_minute.si(), 2) == "8.45");
  CHECK(printed(*s->arrivals.interarrival_cv, 2) == "1.08");
  CHECK(printed(*s->arrivals.busy_cv, 2) == "1.02");
  CHECK(s->arrivals.busy_minutes == 39);
  CHECK(printed(*s->arrivals.fano_1_s, 2) == "1.34");
  CHECK(printed(*s->arrivals.fano_60_s, 1) == "15.4");
  CHECK(percent(*s->arrivals.empty_minutes) == "0.0");
}

TEST_CASE("the Mooncake conversation trace has the figures of its README") {
  const auto s = described_reference("traces/mooncake/conversation_first_half.jsonl.gz", 512);
  if (!s) return;
  CHECK(s->requests == 5606);
  CHECK(printed(s->prompt) == "12935 973 7650 28777 91573 123192");
  CHECK(printed(s->output) == "346 24 356 609 1105 2000");
  CHECK(printed(s->arrivals.duration.si(), 0) == "1767");
  CHECK(printed(s->arrivals.rate->si(), 2) == "3.17");
  CHECK(printed(*s->arrivals.interarrival_cv, 2) == "2.92");
  CHECK(printed(*s->arrivals.fano_1_s, 2) == "7.43");
  CHECK(printed(*s->arrivals.fano_60_s, 2) == "2.61");
  CHECK(s->reuse->distinct_contents == 95189);
  CHECK(percent(s->reuse->segments) == "34.0");
  CHECK(percent(s->reuse->mean_prefix) == "38.4");
}

TEST_CASE("the Mooncake synthetic trace has the figures of its README") {
  const auto s = described_reference("traces/mooncake/synthetic_trace.jsonl.gz", 512);
  if (!s) return;
  CHECK(s->requests == 3993);
  CHECK(printed(s->prompt) == "15325 30 11587 38611 66456 191378");
  CHECK(printed(s->output) == "149 4 69 389 768 893");
  CHECK(printed(s->arrivals.duration.si(), 0) == "1022");
  CHECK(printed(s->arrivals.rate->si(), 2) == "3.91");
  CHECK(printed(*s->arrivals.interarrival_cv, 2) == "1.01");
  CHECK(printed(*s->arrivals.fano_1_s, 2) == "1.09");
  CHECK(printed(*s->arrivals.fano_60_s, 2) == "1.19");
  CHECK(s->reuse->distinct_contents == 43924);
  CHECK(percent(s->reuse->segments) == "64.0");
  CHECK(percent(s->reuse->mean_prefix) == "43.2");
}

TEST_CASE("RAGPulse week 1 has the figures of its README") {
  const auto s = described_reference("traces/ragpulse/week1_days1-4.jsonl.gz");
  if (!s) return;
  CHECK(s->requests == 2538);
  CHECK(printed(s->prompt) == "2997 1256 3167 3852 4802 6226");
  CHECK(printed(s->output) == "251 83 196 497 794 1843");
  CHECK(printed(s->arrivals.rate->si(), 4) == "0.0073");
  CHECK(printed(*s->arrivals.interarrival_cv, 2) == "2.76");
  // The README counts the tokens of the components; here the template of 9.3 tokens a request is part of the prompt.
  CHECK(percent(s->reuse->tokens * s->prompt.mean / (s->prompt.mean - 9.3)) == "31.8");
}

TEST_CASE("the measured vLLM workload has the figures of its README") {
  const auto s = described_reference("measured/vllm_rtxpro6000_llama31_8b/workload.jsonl.gz");
  if (!s) return;
  CHECK(s->requests == 300);
  CHECK(printed(s->prompt) == "857 363 732 1460 2765 3998");
  CHECK(printed(s->output) == "653 531 632 770 784 1021");
  CHECK(printed(s->arrivals.rate->si(), 1) == "10.3");
  CHECK(printed(*s->arrivals.interarrival_cv, 2) == "0.94");
  CHECK(percent(*s->reuse->blocks) == "7.7");
}

TEST_CASE("the runs of a coding agent have the figures of their README") {
  const auto s = described_reference("traces/lmcache_agent/miniswe_sessions_1-12.csv");
  if (!s) return;
  CHECK(s->requests == 260);
  CHECK(printed(s->prompt) == "5529 1896 5182 9617 13406 14694");
  CHECK(printed(s->output) == "118 59 99 217 300 390");
  CHECK(printed(s->arrivals.duration.si(), 1) == "300.8");  // 12 runs of 25.1 s in the mean
  CHECK(s->reuse->distinct_contents == 12);
}
