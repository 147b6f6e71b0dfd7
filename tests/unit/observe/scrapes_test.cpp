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

// Of 100 calls 20 were below 0.1 s, the other 80 in the bucket from there to 0.5 s: the median lies 30 of 80 on.
TEST_CASE("scrapes: a quantile lies in one bucket, and that is kept beside it") {
  const std::string name = "vllm:time_to_first_token_seconds";
  const Scraped read = scraped(name + "_bucket{le=\"0.1\"} 20\n" + name + "_bucket{le=\"0.5\"} 100\n" + name +
                               "_bucket{le=\"+Inf\"} 100\n" + name + "_sum 30\n" + name + "_count 100\n");
  CHECK(read.observed.numbers.at("ttft_s.p50") == approx(0.1 + 0.4 * 30 / 80));
  const auto within = ends_of_figures(read.observed);
  CHECK(within.at("ttft_s.p50").least == 0.1);
  CHECK(within.at("ttft_s.p50").most == 0.5);
  CHECK(within.count("ttft_s.mean") == 0);
  // What requests say of a metric is measured.
  Observed with_requests = read.observed;
  with_requests.requests.push_back({0, 10, 5, 0.2, 0.5});
  CHECK(ends_of_figures(with_requests).empty());
}

std::string counted(const std::string& engine, int prompt, int output, int stopped, int aborted) {
  const std::string of = "{engine=\"" + engine + "\"";
  return "vllm:prompt_tokens_total" + of + "} " + std::to_string(prompt) + "\nvllm:generation_tokens_total" + of +
         "} " + std::to_string(output) + "\nvllm:request_success_total" + of + ",finished_reason=\"stop\"} " +
         std::to_string(stopped) + "\nvllm:request_success_total" + of + ",finished_reason=\"abort\"} " +
         std::to_string(aborted) + "\n";
}

// In 20 s one engine answers 400 tokens of 10 calls and reads 2,000; the other, which comes later, 200 of 5 and 1,000.
TEST_CASE("scrapes: counters are rates between the first and the last scrape, of all engines together") {
  const Scraped read =
      scraped("# time 100\n" + counted("0", 5000, 1000, 50, 2) + "# time 110\n" + counted("0", 6000, 1100, 53, 4) +
              "# time 120\n" + counted("0", 7000, 1400, 60, 9) + counted("1", 1000, 200, 5, 0));
  CHECK(read.said == "");
  CHECK(read.observed.notes.empty());
  CHECK(read.observed.numbers.at("output_tokens_per_s") == approx((400 + 200) / 20.0));
  CHECK(read.observed.numbers.at("requests_per_s") == approx((10 + 5) / 20.0));
  CHECK(read.observed.numbers.at("total_tokens_per_s") == approx((600 + 3000) / 20.0));
  const Scraped sglang = scraped(
      "# time 0\nsglang:generation_tokens_total 10\nsglang:num_requests_total 1\n# time 4\n"
      "sglang:generation_tokens_total 50\nsglang:num_requests_total 3\n");
  CHECK(sglang.observed.numbers.at("output_tokens_per_s") == approx(10));
  CHECK(sglang.observed.numbers.at("requests_per_s") == approx(0.5));
}

TEST_CASE("scrapes: counters of one scrape, or without its time, tell no rate, which is said; nor do they fall") {
  const auto note = [](const std::string& text) {
    const Scraped read = scraped(text);
    CHECK(read.observed.numbers.empty());
    return read.observed.notes.empty() ? read.said : read.observed.notes.front();
  };
  CHECK(note("# time 100\n" + counted("0", 50, 10, 5, 0)) ==
        "counters tell no output_tokens_per_s, total_tokens_per_s, requests_per_s: they need two scrapes, and there is "
        "one");
  CHECK(note(counted("0", 50, 10, 5, 0) + counted("0", 60, 20, 6, 0)).ends_with("('# time SECONDS' before each)"));
  const Scraped again = scraped("# time 1\n" + counted("0", 50, 10, 5, 0) + "# time 2\n" + counted("0", 60, 3, 6, 0));
  CHECK_MESSAGE(again.said.find("the counters of 'vllm:generation_tokens_total' fall") != std::string::npos,
                again.said);
}

TEST_CASE("scrapes: calls that failed are not served, and prefix hits are those between the scrapes") {
  const auto at = [](int time, int stopped, int failed, int queries, int hits) {
    const std::string n = "vllm:request_success_total{finished_reason=";
    return "# time " + std::to_string(time) + "\n" + n + "\"stop\"} " + std::to_string(stopped) + "\n" + n +
           "\"error\"} " + std::to_string(failed) + "\nvllm:prefix_cache_queries_total " + std::to_string(queries) +
           "\nvllm:prefix_cache_hits_total " + std::to_string(hits) + "\n";
  };
  const Scraped read = scraped(at(0, 5, 0, 1000, 900) + at(10, 20, 20, 3000, 1500));
  CHECK(read.said == "");
  CHECK(read.observed.numbers.at("requests_per_s") == approx(1.5));
  CHECK(figures(read.observed).at("hit_rate") == approx(0.3));  // 600 of 2,000
}

TEST_CASE("scrapes: a server that began between two of them was started again, though its counters are past the old") {
  const auto at = [](int time, int calls, int began) {
    return "# time " + std::to_string(time) + "\nvllm:request_success_total " + std::to_string(calls) +
           "\nprocess_start_time_seconds " + std::to_string(began) + "\n";
  };
  CHECK(scraped(at(0, 5, 1000) + at(10, 20, 1000)).said == "");
  const Scraped again = scraped(at(0, 5, 1000) + at(10, 20, 2000));
  CHECK_MESSAGE(again.said.find("the server was started again") != std::string::npos, again.said);
}

}  // namespace llmscape::observe
