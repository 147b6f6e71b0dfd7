// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/observed.hpp"
#include "sim/observe/alignment.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

using llmscape::testing::approx;

namespace llmscape::observe {

TEST_CASE("a course of any length keeps its mean in bounded memory") {
  Course course;
  constexpr int kSamples = 1'000'000;
  for (int i = 0; i < kSamples; ++i) course.add(i, i % 10);
  CHECK(course.samples().size() < Course::kMost);
  CHECK(course.samples().size() > Course::kMost / 4);
  double sum = 0, weight = 0;
  for (const auto& s : course.samples()) {
    sum += s.value * s.weight;
    weight += s.weight;
  }
  CHECK(sum / weight == approx(4.5).epsilon(0.001));
  CHECK(weight > 0.99 * kSamples);
}

TEST_CASE("figures by hand: three requests and two devices") {
  Observed observed;
  observed.requests = {{10, 100, 11, 0.5, 1.5}, {12, 100, 1, 0.25, 0.25}, {11, 100, 21, 1.0, 3.0}};
  for (const double at : {0.0, 1.0, 2.0, 90.0}) {
    observed.courses[quantity::kPower]["0"].add(at, at < 50 ? 300 : 10);
    observed.courses[quantity::kPower]["1"].add(at, 100);
  }
  align_requests(observed);
  align_courses(observed);
  CHECK(observed.requests[2].arrival == 2);
  const auto all = figures(observed);
  CHECK(all.at("ttft_s.mean") == approx(1.75 / 3));
  CHECK(all.at("ttft_s.p50") == 0.5);
  CHECK(all.at("tpot_s.mean") == approx(0.1));
  CHECK(all.at("output_tokens_per_s") == approx(33 / 4.0));  // until the last token, 4 s after the first call
  CHECK(all.at("mean_w") == approx(400));                    // while requests were served
  const auto json = nlohmann::json::parse(to_json(observed));
  CHECK(json["schema"] == "observed/1");
  CHECK(json["requests"] == 3);
  CHECK(json["courses"]["power_w"][0][1] == 400);
  CHECK(trace_text(observed, 4096).find("{\"arrival_s\": 1, \"prompt_tokens\": 100, \"output_tokens\": 21}") !=
        std::string::npos);
}

TEST_CASE("figures of several files: those of all requests, and of what is only told those of the first") {
  Observed both;
  for (const auto& [file, ttft, calls] : {std::tuple("a.json", 0.02, 30), std::tuple("b.json", 0.2, 10)}) {
    Observed one;
    one.sources = {file};
    for (int i = 0; i < calls; ++i) one.requests.push_back({static_cast<double>(i), 100, 41, ttft, ttft + 1});
    one.numbers = {{"ttft_s.mean", ttft}, {"output_tokens_per_s", 41 * calls / 30.0}, {"itl_s.mean", ttft}};
    if (calls == 10) one.numbers["itl_s.p90"] = 1;
    both.add(std::move(one), "vllm-bench");
  }
  align_requests(both);
  const auto all = figures(both);
  CHECK(all.at("ttft_s.mean") == approx((30 * 0.02 + 10 * 0.2) / 40));
  CHECK(all.at("output_tokens_per_s") == approx(40 * 41 / 30.02));  // the last one ends 1.02 s after 29 s
  CHECK(all.at("itl_s.mean") == 0.02);
  CHECK_FALSE(all.contains("itl_s.p90"));  // of another file than the mean
  REQUIRE(both.notes.size() == 1);
  CHECK(both.notes[0] ==
        "itl_s, output_tokens_per_s, ttft_s as b.json tells them are left out: a file before it tells them too");
}

TEST_CASE("watts that were drawn at other times than those of the requests are no mean of theirs") {
  Observed observed;
  observed.requests = {{0, 100, 11, 0.5, 100}};
  for (const double at : {1800.0, 1801.0}) observed.courses[quantity::kPower]["0"].add(at, 400);
  CHECK_FALSE(figures(observed).contains("mean_w"));
  observed.courses[quantity::kPower]["0"] = {};
  observed.courses[quantity::kPower]["0"].add(50, 300);
  CHECK(figures(observed).at("mean_w") == 300);
}

TEST_CASE("mean watts are over time, however often devices were sampled") {
  Observed observed;
  observed.requests = {{0, 100, 11, 0.5, 9.82}};
  auto& course = observed.courses[quantity::kPower]["0"];
  for (int i = 0; i < 50; ++i) course.add(0.1 * i, 600);
  for (int i = 5; i < 15; ++i) course.add(i, 300);
  // 600 W up to midway between 4.9 and 5 s, then 300 W: (4.95 * 600 + 4.87 * 300) / 9.82; the samples' mean is 573 W.
  CHECK(figures(observed).at("mean_w") == approx(451.22).epsilon(1e-5));
  // All samples, the last at 14 s: (4.95 * 600 + 9.05 * 300) / 14.
  CHECK(over_time(observed).at(quantity::kPower).mean == approx(406.07).epsilon(1e-5));
  CHECK(over_time(observed).at(quantity::kPower).samples == 60);
}

TEST_CASE("over time by hand: engines since they began to work, devices from their first sample on") {
  Observed observed;
  constexpr std::array<std::array<double, 3>, 3> kSamples = {{{50, 0, 0}, {60, 4, 1}, {70, 3, 3}}};
  for (const auto& [at, first, second] : kSamples) {
    observed.courses[quantity::kRunning]["0"].add(at, first);
    observed.courses[quantity::kRunning]["1"].add(at, second);
    observed.courses[quantity::kKvUse]["0"].add(at, first / 10);
    observed.courses[quantity::kKvUse]["1"].add(at, second / 10);
    observed.courses[quantity::kPower]["0"].add(at, 100 + at);
  }
  align_courses(observed);
  const auto all = over_time(observed);
  CHECK(all.size() == 3);
  const CourseSummary running = all.at(quantity::kRunning), kv = all.at(quantity::kKvUse),
                      power = all.at(quantity::kPower);
  CHECK(running.samples == 2);
  CHECK(running.mean == approx(5.5));  // 5 and 6 requests
  CHECK(running.most == 6);
  CHECK(kv.mean == approx(0.275));  // a share: 0.25 and 0.3
  CHECK(kv.most == approx(0.3));
  CHECK(power.samples == 3);
  CHECK(power.mean == approx(160));
  CHECK(power.most == 170);
}

TEST_CASE("work begins one period before the first line that shows any, however long nothing was written before") {
  for (const double idle : {10.0, 25.0, 3600.0}) {
    CAPTURE(idle);
    Observed observed;
    observed.courses[quantity::kRunning]["0"].add(1000, 0);
    for (int line = 0; line < 4; ++line) observed.courses[quantity::kRunning]["0"].add(1000 + idle + 10 * line, 1);
    align_courses(observed);
    CHECK(observed.total(quantity::kRunning)[1].at == approx(10));
    CHECK(over_time(observed).at(quantity::kRunning).samples == 4);
  }
  // A single line: of the period that the log has unless told otherwise.
  Observed observed;
  observed.log_period = 10;
  observed.courses[quantity::kRunning]["0"].add(1000, 0);
  observed.courses[quantity::kRunning]["0"].add(5000, 1);
  align_courses(observed);
  CHECK(observed.total(quantity::kRunning)[1].at == approx(10));
}

// Engine A answers 1,000 tokens a second for 300 s, B 2,000 in the first and the last 30: 31 lines, of which 30 show A
// and 6 B: (30 * 1,000 + 6 * 2,000) / 31 = 1,355. B writes nothing between, whichever of them is called 000.
TEST_CASE("engines of a log that are silent had nothing to do, whatever they are called") {
  for (const bool swapped : {false, true}) {
    CAPTURE(swapped);
    Observed observed;
    observed.log_period = 10;
    auto& rates = observed.courses[quantity::kOutputRate];
    for (int at = 0; at <= 310; at += 10) {
      rates[swapped ? "001" : "000"].add(at, at > 0 && at <= 300 ? 1000 : 0);
      if (at <= 40 || at >= 280)
        rates[swapped ? "000" : "001"].add(at, (at > 0 && at <= 30) || (at >= 280 && at <= 300) ? 2000 : 0);
    }
    const CourseSummary summary = over_time(observed).at(quantity::kOutputRate);
    CHECK(summary.samples == 31);
    CHECK(summary.mean == approx(42000 / 31.0));
    CHECK(summary.most == 3000);
  }
}

// 21 scrapes: 10 running always, 8 more in the first 5, 6 more in the last 5; the first scrape is at 0.
TEST_CASE("what a fleet no longer has is in no sum") {
  Observed observed;
  for (int k = 0; k <= 20; ++k) {
    auto& running = observed.courses[quantity::kRunning];
    running["0@h0"].add(15 * k, 10);
    if (k <= 4) running["0@h1"].add(15 * k, 8);
    if (k >= 16) running["0@h2"].add(15 * k, 6);
  }
  const CourseSummary summary = over_time(observed).at(quantity::kRunning);
  CHECK(summary.mean == approx((20 * 10 + 4 * 8 + 5 * 6) / 20.0));
  CHECK(summary.most == 18);
}

// Ten answers of 10 tokens in 20 s, and one that was given up after 7 of them: 100 / 20.
TEST_CASE("calls that were given up are in no rate, and their answers in the trace do not end before") {
  Observed observed;
  for (int i = 0; i < 10; ++i) observed.requests.push_back({2.0 * i, 100, 10, 0.5, 2});
  observed.requests.push_back({0, 105, 7, std::nullopt, std::nullopt, 3});
  const auto all = figures(observed);
  CHECK(all.at("output_tokens_per_s") == approx(5));
  CHECK(all.at("total_tokens_per_s") == approx(1100 / 20.0));
  CHECK(all.at("requests_per_s") == approx(0.5));
  // As long as the longest answer, but no longer than the server takes, beside one more than came.
  const auto answer = [&observed](std::int64_t prompt, std::int64_t longest) {
    const std::string trace = trace_text(observed, longest);
    const std::string before = "\"prompt_tokens\": " + std::to_string(prompt) + ", \"output_tokens\": ";
    return std::stoi(trace.substr(trace.find(before) + before.size()));
  };
  CHECK(answer(105, 4096) == 10);
  CHECK(answer(105, 112) == 8);
  // None of its 300 tokens was answered when it was given up: a faster server is not done with the first one either.
  observed.requests.push_back({0, 300, 0, std::nullopt, std::nullopt, 3});
  CHECK(answer(300, 4096) == 10);
  std::erase_if(observed.requests, [](const Request& r) { return r.output_tokens > 0; });
  CHECK(answer(300, 4096) == 3796);
}

TEST_CASE("records of a part count once beside the whole, and copies without ids are told") {
  const auto file_of = [](const char* name, int first, int last, bool ids) {
    Observed one;
    one.sources = {name};
    for (int i = first; i < last; ++i) {
      one.requests.push_back({1.0 * i, 100, 10, 0.5, 2});
      if (!ids) continue;
      one.requests.back().id = static_cast<std::uint64_t>(i + 1);
      one.records.insert(static_cast<std::uint64_t>(i + 1));
    }
    return one;
  };
  Observed both;
  both.add(file_of("all.jsonl", 0, 60, true), "aiperf");
  both.add(file_of("part.jsonl", 20, 60, true), "aiperf");
  CHECK(both.requests.size() == 60);
  REQUIRE(both.notes.size() == 1);
  CHECK(both.notes[0].starts_with("40 of 40 records of part.jsonl are in a file before it"));
  Observed copies;
  copies.add(file_of("a.json", 0, 60, false), "vllm-bench");
  copies.add(file_of("b.json", 0, 60, false), "vllm-bench");
  CHECK(copies.requests.size() == 120);
  REQUIRE(copies.notes.size() == 1);
  CHECK(copies.notes[0].starts_with("60 calls of b.json are equal in all times"));
}

}  // namespace llmscape::observe
