// SPDX-License-Identifier: Apache-2.0
// Scrapes of /metrics: what belongs to which, and what is of whom.
#include <doctest/doctest.h>

#include "sim/observe/alignment.hpp"
#include "sim/observe/readers.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"

using llmscape::testing::approx;

namespace llmscape::observe {
namespace {

struct Scraped {
  Observed observed;
  std::string said;
};

Scraped scraped(const std::string& text) {
  const test::Scratch scratch;
  Scraped read;
  Diagnostics diagnostics;
  read_observed(scratch.file("x.prom", text), "prometheus", read.observed, diagnostics);
  read.said = diagnostics.text(false);
  align_courses(read.observed);
  return read;
}

// TTFT of an engine: `fast` calls below 0.1 s of `all`, which waited `sum` seconds together.
std::string ttfts(const std::string& engine, int fast, int all, double sum, const std::string& stamp = "") {
  const std::string name = "vllm:time_to_first_token_seconds", labels = "engine=\"" + engine + "\"";
  return name + "_bucket{" + labels + ",le=\"0.1\"} " + std::to_string(fast) + stamp + "\n" + name + "_bucket{" +
         labels + ",le=\"+Inf\"} " + std::to_string(all) + stamp + "\n" + name + "_sum{" + labels + "} " +
         std::to_string(sum) + stamp + "\n" + name + "_count{" + labels + "} " + std::to_string(all) + stamp + "\n";
}

}  // namespace

TEST_CASE("scrapes: a server that was started again between two of them is refused, whatever the last one says") {
  const Scraped read = scraped("# time 1000\n" + ttfts("0", 100, 400, 100) + "# time 1010\n" + ttfts("0", 10, 40, 10) +
                               "# time 1020\n" + ttfts("0", 500, 900, 300));
  CHECK_MESSAGE(read.said.find(":7:1: error: the counters of 'ttft_s' fall between two scrapes") != std::string::npos,
                read.said);
  CHECK(read.observed.numbers.empty());
}

// One engine grows by 10 calls of 5 s together, the other appears with as many: 10 s over 20 calls.
TEST_CASE("scrapes: a series that the first one lacks counts from none, wherever it stands") {
  for (const Scraped& read :
       {scraped("# time 1\n" + ttfts("0", 1, 4, 4) + "# time 11\n" + ttfts("1", 0, 10, 5) + ttfts("0", 11, 14, 9)),
        scraped(ttfts("0", 1, 4, 4, " 1000") + ttfts("1", 0, 10, 5, " 11000") + ttfts("0", 11, 14, 9, " 11000")),
        scraped(ttfts("0", 1, 4, 4) + ttfts("0", 11, 14, 9) + ttfts("1", 0, 10, 5))}) {
    CHECK(read.said == "");
    CHECK(read.observed.numbers.at("ttft_s.mean") == approx(0.5));
    CHECK(read.observed.numbers.at("ttft_s.p50") == approx(0.1));
  }
  // Servers that are scraped by turns have other timestamps in one scrape: 10 s over 20 calls of 2 engines.
  const Scraped turns = scraped(ttfts("0", 1, 4, 4, " 1000") + ttfts("1", 3, 30, 50, " 3000") +
                                ttfts("0", 11, 14, 9, " 11000") + ttfts("1", 3, 40, 55, " 13000"));
  CHECK(turns.observed.numbers.at("ttft_s.mean") == approx(0.5));
}

TEST_CASE("scrapes: of one that is cut off no figures are made") {
  const std::string last = ttfts("0", 20, 20, 3);
  const Scraped read =
      scraped("# time 1\n" + ttfts("0", 1, 4, 4) + "# time 11\n" + last.substr(0, last.find("_sum")) + "\n");
  CHECK_MESSAGE(read.said.find("the last scrape has but a part of 'ttft_s'") != std::string::npos, read.said);
}

TEST_CASE("scrapes: gauges of ranks that attend alone are summed, those of ranks that share a batch are one") {
  std::string text;
  for (const auto& [at, first, second] :
       {std::tuple(1000, 10, 20), std::tuple(1010, 30, 40), std::tuple(1020, 30, 40)}) {
    text += "# time " + std::to_string(at) + "\n";
    for (const auto& [rank, value] : {std::pair("0", first), std::pair("1", second)})
      text += "sglang:num_running_reqs{engine_type=\"unified\",dp_rank=\"" + std::string(rank) + "\",tp_rank=\"0\"} " +
              std::to_string(value) + "\n";
    text += "sglang:token_usage{dp_rank=\"0\"} 0.5\nsglang:token_usage{dp_rank=\"1\"} 0.7\n";
    for (const char* rank : {"0", "1"}) text += "sglang:num_queue_reqs{tp_rank=\"" + std::string(rank) + "\"} 5\n";
  }
  const Scraped read = scraped(text);
  CHECK(read.said == "");
  const auto courses = over_time(read.observed);
  CHECK(courses.at(quantity::kRunning).mean == 70);
  CHECK(courses.at(quantity::kKvUse).mean == approx(0.6));
  CHECK(courses.at(quantity::kWaiting).mean == 5);
}

TEST_CASE("scrapes: labels are read as they are written") {
  // 10 calls below 0.1 s: the fifth lies half way.
  const std::string name = "vllm:e2e_request_latency_seconds";
  const Scraped inside =
      scraped(name + "_bucket{bundle=\"b7\",le=\"0.1\"} 10\n" + name + "_bucket{bundle=\"b7\",le=\"+Inf\"} 10\n" +
              name + "_sum{bundle=\"b7\"} 0.5\n" + name + "_count{bundle=\"b7\"} 10\n");
  CHECK(inside.said == "");
  CHECK(inside.observed.numbers.at("e2e_s.p50") == approx(0.05));
  for (const char* labels : {"{model_name=\"a}b\"} ", "{model_name=\"a\\\"}, le=\\\"3\"} ", " {engine=\"0\"}\t",
                             "{ engine = \"0\" , } ", "\t", "{} "}) {
    CAPTURE(std::string(labels));
    const std::string gauge = "vllm:num_requests_running" + std::string(labels);
    const Scraped read = scraped(gauge + "3 1000\n" + gauge + "5 11000\n");
    CHECK(read.said == "");
    CHECK(over_time(read.observed).at(quantity::kRunning).mean == 5);
  }
}

}  // namespace llmscape::observe
