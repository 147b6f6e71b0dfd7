// SPDX-License-Identifier: Apache-2.0
// Fixtures are written by hand after the format strings that each reader names, not cut from anybody's logs.
#include "sim/observe/readers.hpp"

#include <doctest/doctest.h>

#include "sim/observe/alignment.hpp"
#include "sim/observe/log_line.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"

using llmscape::testing::approx;

namespace llmscape::observe {
namespace {

Observed read(const std::string& fixture) {
  Observed observed;
  Diagnostics diagnostics;
  read_observed("tests/unit/observe/fixtures/" + fixture, "", observed, diagnostics);
  if (diagnostics.has_errors()) FAIL_CHECK(diagnostics.text(false));
  align_requests(observed);
  align_courses(observed);
  return observed;
}

double value(const Observed& observed, const char* quantity, std::size_t sample) {
  return observed.total(quantity).at(sample).value;
}

}  // namespace

TEST_CASE("a log of vLLM: arguments, pool, and what its line of statistics says") {
  const Observed seen = read("vllm.log");
  CHECK(seen.settings.at("version") == "0.11.0");
  CHECK(seen.settings.at("model") == "meta-llama/Llama-3.1-8B-Instruct");
  CHECK(seen.settings.at("kv_tokens") == "434368");
  CHECK(seen.arguments.at("gpu_memory_utilization") == "0.92");
  CHECK(seen.arguments.at("enable_prefix_caching") == "False");
  CHECK(seen.arguments.at("max_num_seqs") == "64");
  CHECK(seen.arguments.at("compilation_config") == "{'level': 3, 'sizes': [1, 2]}");
  // The second sample is of the ten seconds after the first: they began then.
  CHECK(seen.total(quantity::kRunning)[0].at == 0);
  CHECK(seen.total(quantity::kRunning)[1].at == 10);
  CHECK(value(seen, quantity::kRunning, 1) == 4);
  CHECK(value(seen, quantity::kWaiting, 1) == 1);
  CHECK(value(seen, quantity::kKvUse, 1) == approx(0.008));
  CHECK(value(seen, quantity::kPromptRate, 2) == 400);
  CHECK(value(seen, quantity::kOutputRate, 1) == 290.5);
}

TEST_CASE("a log of SGLang: arguments, pool, batches of prompts and of decodes") {
  const Observed seen = read("sglang.log");
  CHECK(seen.arguments.at("tp_size") == "2");
  CHECK(seen.arguments.at("disable_radix_cache") == "True");
  CHECK(seen.settings.at("kv_tokens") == "1862381");
  CHECK(seen.total(quantity::kRunning).size() == 3);
  CHECK(value(seen, quantity::kRunning, 0) == 2);  // the batch of prompts itself
  CHECK(value(seen, quantity::kRunning, 1) == 3);
  CHECK(value(seen, quantity::kWaiting, 0) == 1);
  CHECK(value(seen, quantity::kOutputRate, 1) == 330.5);
}

TEST_CASE("clients: requests with their times, those that failed or warmed up aside") {
  const Observed bench = read("vllm_bench.json");
  CHECK(bench.requests.size() == 5);
  CHECK(bench.requests[1].arrival == approx(0.002));
  CHECK(*bench.requests[0].ttft == 0.03);
  CHECK(*bench.requests[0].e2e == approx(0.03 + 40 * 0.007));
  CHECK(*bench.requests[2].tpot() == approx(0.0072));
  CHECK(bench.numbers.at("ttft_s.p50") == approx(0.03));
  CHECK(bench.numbers.at("output_tokens_per_s") == 133.33);

  const Observed guide = read("guidellm.json");
  CHECK(guide.requests.size() == 2);
  CHECK(guide.requests[1].arrival == approx(0.4));
  CHECK(guide.requests[1].prompt_tokens == 480);
  CHECK(*guide.requests[1].tpot() == approx(0.007));

  const Observed records = read("aiperf.jsonl");
  CHECK(records.requests.size() == 2);
  CHECK(records.requests[1].arrival == approx(0.4));
  CHECK(*records.requests[1].ttft == approx(0.031));
  const Observed means = read("aiperf.json");
  CHECK(means.numbers.at("ttft_s.mean") == approx(0.0305));
  CHECK(means.numbers.contains("output_tokens_per_s"));
  CHECK_FALSE(means.numbers.contains("output_tokens_per_s_per_user"));  // theirs is the mean of each request's own
}

TEST_CASE("requests that failed are told, whoever wrote them down") {
  CHECK(read("vllm_bench.json").notes ==
        std::vector<std::string>{
            "1 of 6 requests failed or had no answer and are not replayed: the server had them too"});
  CHECK(read("guidellm.json").notes.empty());
  CHECK(read("aiperf.jsonl").notes ==
        std::vector<std::string>{"1 records of a warm-up are left out: the server had them too"});
  const test::Scratch scratch;
  const auto notes = [&](const std::string& text) {
    Observed observed;
    Diagnostics diagnostics;
    read_observed(scratch.file("requests", text), "", observed, diagnostics);
    CHECK_FALSE(diagnostics.has_errors());
    CHECK(observed.requests.size() == 1);
    return observed.notes;
  };
  const auto guide = notes(
      R"({"benchmarks": [{"requests": {"successful": [{"request_start_time": 1, "prompt_tokens": 5, "output_tokens": )"
      R"(5}], "errored": [{}], "incomplete": [{}, {}]}}]})");
  REQUIRE(guide.size() == 1);
  CHECK(guide[0].starts_with("3 of 4 requests failed"));
  const std::string record =
      R"({"metadata": {"request_start_ns": 5}, "metrics": {"input_sequence_length": {"value": 5, "unit": "tokens"}, )"
      R"("output_sequence_length": {"value": 5, "unit": "tokens"}}, "error": )";
  const auto records = notes(record + "null}\n" + record + "{\"code\": 500}}\n");
  REQUIRE(records.size() == 1);
  CHECK(records[0].starts_with("1 of 2 requests failed"));
}

TEST_CASE("records of AIPerf that say when a call was given up are requests until then") {
  const test::Scratch scratch;
  const auto record = [](const std::string& times, const std::string& isl, const std::string& error) {
    return R"({"metadata": {"request_start_ns": 5000000000, )" + times + R"(}, "metrics": {")" + isl +
           R"(": {"value": 70, "unit": "tokens"}}, "error": )" + error + "}\n";
  };
  Observed observed;
  Diagnostics diagnostics;
  read_observed(
      scratch.file("requests", record(R"("request_end_ns": 8000000000)", "input_sequence_length",
                                      R"({"code": null, "type": "timed_out"})") +
                                   record(R"("cancellation_time_ns": 6500000000, "request_end_ns": 8000000000)",
                                          "error_isl", R"({"code": 499, "type": "RequestCancellationError"})") +
                                   record(R"("request_end_ns": 8000000000)", "error_isl", R"({"code": 500})")),
      "aiperf", observed, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  REQUIRE(observed.requests.size() == 2);
  CHECK(observed.left_out == 1);
  CHECK(*observed.requests[0].gave_up == approx(3));
  CHECK(*observed.requests[1].gave_up == approx(1.5));
  REQUIRE(observed.notes.size() == 2);
  CHECK(observed.notes[1].starts_with("2 of 3 requests were given up by their clients"));
  CHECK(trace_text(observed, 100)
            .ends_with("\n{\"arrival_s\": 5, \"prompt_tokens\": 70, \"output_tokens\": 30, \"give_up_s\": 1.5}\n"));
}

// Gaps of 7 ms but for 40 of 7.2 and 40 of 6.8: the mean of 195 is 7 ms.
TEST_CASE("the gaps of a benchmark are ITL, unless several tokens came at a time") {
  const auto all = figures(read("vllm_bench.json"));
  CHECK(all.at("itl_s.mean") == approx(0.007));
  CHECK(all.at("itl_s.p50") == approx(0.007));
  CHECK(all.at("itl_s.p99") == approx(0.0072));
  const test::Scratch scratch;
  Observed observed;
  Diagnostics diagnostics;
  read_observed(
      scratch.file("bench.json", R"({"backend": "vllm", "duration": 4, "input_lens": [5], "output_lens": [9], )"
                                 R"("ttfts": [1], "itls": [[1, 1, 1]], "start_times": [0]})"),
      "", observed, diagnostics);
  CHECK(diagnostics.text(false) == "");
  CHECK_FALSE(figures(observed).contains("itl_s.mean"));
  REQUIRE(observed.notes.size() == 1);
  CHECK(observed.notes[0].starts_with("'itls' has 3 gaps between 9 tokens"));
}

TEST_CASE("a benchmark without start_times: calls were sent as its rate and its concurrency say") {
  const test::Scratch scratch;
  const auto arrivals = [&](const std::string& said) {
    Observed observed;
    Diagnostics diagnostics;
    read_observed(
        scratch.file("bench.json", R"({"backend": "vllm", "duration": 40, "input_lens": [5, 5, 5, 5], "output_lens": )"
                                   R"([2, 2, 2, 2], "ttfts": [1, 1, 1, 1], "itls": [[1], [4], [1], [1]])" +
                                       said + "}"),
        "", observed, diagnostics);
    CHECK_FALSE(diagnostics.has_errors());
    CHECK(observed.notes.size() == 1);
    std::vector<double> all;
    for (const Request& r : observed.requests) all.push_back(r.arrival);
    return all;
  };
  using All = std::vector<double>;
  CHECK(arrivals(R"(, "request_rate": "inf")") == All{0, 0, 0, 0});
  CHECK(arrivals(R"(, "request_rate": "inf", "max_concurrency": null)") == All{0, 0, 0, 0});
  CHECK(arrivals(R"(, "request_rate": 2.0)") == All{0, 0.5, 1, 1.5});
  // Two at a time, of 2, 5, 2 and 2 s: the third follows the first, the fourth the third.
  CHECK(arrivals(R"(, "request_rate": "inf", "max_concurrency": 2)") == All{0, 0, 2, 4});
  CHECK(arrivals(R"(, "request_rate": 1.0, "max_concurrency": 2)") == All{0, 1, 2, 4});
  CHECK(arrivals("") == All{0, 10, 20, 30});
}

TEST_CASE("scrapes: what came between the first and the last") {
  const Observed seen = read("metrics.prom");
  CHECK(seen.numbers.at("ttft_s.mean") == approx(0.4 / 10));
  // 2 of 10 were below 20 ms and 6 more below 40: the fifth lies half way.
  CHECK(seen.numbers.at("ttft_s.p50") == approx(0.02 + 0.02 * 3 / 6));
  CHECK_FALSE(seen.numbers.contains("ttft_s.p99"));  // above the last finite bucket
  CHECK(seen.total(quantity::kRunning)[1].at == 15);
  CHECK(value(seen, quantity::kKvUse, 1) == 0.008);
}

TEST_CASE("power: each device apart, summed over all") {
  const Observed smi = read("nvidia_smi.csv");
  CHECK(smi.courses.at(quantity::kPower).at("0").samples().size() == 3);
  CHECK(smi.courses.at(quantity::kPower).at("1").samples().size() == 2);  // one was not available
  CHECK(value(smi, quantity::kPower, 1) == approx(411.5 + 74.3));
  CHECK(value(smi, quantity::kClock, 0) == approx((1980 + 345) / 2.0));
  // Since the first one rose, midway between 0.102 and 1.105 s; the samples of 1.105 and 2.104 s meet midway, too.
  CHECK(figures(smi).at("mean_w") == approx((1.001 * 411.5 + 0.4995 * 421.7) / 1.5005 + 74.3));
  CHECK(figures(read("dcgm.csv")).at("mean_w") == approx(402.2));
}

TEST_CASE("files of several nodes: names that are the same at the same time are of others") {
  const test::Scratch scratch;
  const std::string header = "timestamp, index, power.draw [W]\n";
  const auto node = [&](const char* name, int watts, int minute) {
    std::string text = header;
    for (int second = 10; second < 40; ++second)
      for (const char* gpu : {"0", "1"})
        text += "2025/05/12 09:0" + std::to_string(minute) + ":" + std::to_string(second) + ", " + gpu + ", " +
                std::to_string(watts) + " W\n";
    return scratch.file(name, text);
  };
  const auto both = [](const std::string& first, const std::string& second) {
    Observed observed;
    Diagnostics diagnostics;
    for (const std::string& file : {first, second}) read_observed(file, "", observed, diagnostics);
    CHECK_FALSE(diagnostics.has_errors());
    align_courses(observed);
    return observed;
  };
  const Observed nodes = both(node("n0.csv", 300, 1), node("n1.csv", 500, 1));
  CHECK(figures(nodes).at("mean_w") == 1600);
  CHECK(over_time(nodes).at(quantity::kPower).mean == 1600);
  CHECK(nodes.courses.at(quantity::kPower).contains("1@n1.csv"));
  // Files of one node, one after the other, in either order.
  const Observed parts = both(node("b.csv", 500, 2), node("a.csv", 300, 1));
  CHECK(parts.courses.at(quantity::kPower).size() == 2);
  CHECK(figures(parts).at("mean_w") == 800);
  CHECK(parts.total(quantity::kPower).front().value == 600);

  const std::string stats =
      "Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, "
      "Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%\n";
  const std::string log = "INFO 05-12 09:01:10 [l.py:1] " + stats + "INFO 05-12 09:01:20 [l.py:1] " + stats;
  const Observed servers = both(scratch.file("s0.log", log), scratch.file("s1.log", log));
  CHECK(value(servers, quantity::kRunning, 1) == 2);
  // The same quantity in two kinds of files is the same thing told twice.
  const std::string scrape =
      "# time 10\nvllm:num_requests_running{engine=\"0\"} 1\n# time 20\n"
      "vllm:num_requests_running{engine=\"0\"} 1\n";
  const Observed twice = both(scratch.file("s0.log", log), scratch.file("s.prom", scrape));
  CHECK(value(twice, quantity::kRunning, 1) == 1);
  CHECK(twice.notes == std::vector<std::string>{"running of s.prom is left out: a file of the kind vllm-log tells it"});
}

TEST_CASE("scrapes of two nodes in one file are of four devices") {
  const test::Scratch scratch;
  std::string text = "# TYPE DCGM_FI_DEV_POWER_USAGE gauge\n";
  for (const char* at : {"1700000000000", "1700000001000"})
    for (const char* series : {"gpu=\"0\",Hostname=\"n\"} 300 ", "gpu=\"1\",Hostname=\"n\"} 400 ",
                               "gpu=\"0\",Hostname=\"m\"} 300 ", "gpu=\"1\",Hostname=\"m\"} 400 "})
      text += "DCGM_FI_DEV_POWER_USAGE{" + std::string(series) + at + "\n";
  Observed observed;
  Diagnostics diagnostics;
  read_observed(scratch.file("two.prom", text), "", observed, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(observed.courses.at(quantity::kPower).size() == 4);
  CHECK(figures(observed).at("mean_w") == 1400);
}

TEST_CASE("times and numbers in lines") {
  CHECK(*time_in("[2025-05-12 09:00:31 TP0] x") - *time_in("2025/05/12 09:00:30.250, 0") == approx(0.75));
  CHECK(*time_in("INFO 05-12 09:00:31 [x.py:1]") - *time_in("INFO 05-11 09:00:31 [x.py:1]") == 86400);
  CHECK_FALSE(time_in("no time here 12:30"));
  CHECK(*find_number("size: 434,368 tokens", "size:") == 434368);
  CHECK(*find_number("a: 3, b: 4", "a:") == 3);
  CHECK(*find_number("use: 1.5%, x", "use:") == 1.5);
  CHECK_FALSE(find_number("use: none", "use:"));
  const auto arguments = python_arguments("args: Namespace(model='a(b)', sizes=[1, 2], x=None)");
  CHECK(arguments.at("model") == "a(b)");
  CHECK(arguments.at("sizes") == "[1, 2]");
  CHECK(arguments.size() == 3);
}

TEST_CASE("a record of AIPerf that stands twice is one request, an attempt of the same id is another") {
  const test::Scratch scratch;
  const auto record = [](const char* start) {
    return std::string(R"({"metadata": {"x_request_id": "a", "request_start_ns": )") + start +
           R"(}, "metrics": {"input_sequence_length": {"value": 5, "unit": "tokens"}, )" +
           R"("output_sequence_length": {"value": 2, "unit": "tokens"}}, "error": null})" + "\n";
  };
  Observed observed;
  Diagnostics diagnostics;
  read_observed(scratch.file("r.jsonl", record("100") + record("200") + record("100")), "", observed, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(observed.requests.size() == 2);
  REQUIRE(observed.notes.size() == 1);
  CHECK(observed.notes[0].starts_with("1 of 3 records repeat one before them"));
}

}  // namespace llmscape::observe
