// SPDX-License-Identifier: Apache-2.0
// What `explain` says of a result: the answer first, then the tables.
#include "sim/report/explain.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

using namespace llmscape;
using llmscape::testing::approx;
using Json = nlohmann::ordered_json;

namespace {

// TTFT 1 s: 0.7 waiting, 0.3 prefill; 3 s of decoding; steps of 10 s, 8 of them bound by memory; 200 J, half idle, 50
// of them in the window.
Json run_json() {
  return Json::parse(R"({
    "schema": "run/1", "seed": 7, "model": "some-model", "hardware": "2 x gpu",
    "verdict": {"state": "valid", "reasons": []},
    "latency": {"ttft_s": {"mean": 1.0}},
    "kv": {"peak_use": 0.4, "preemptions": 0},
    "breakdown": {
      "requests": {"count": 10, "whole_s": 4.0, "held_s": 0.0, "queued_s": 0.7, "prefill_s": 0.3, "decode_s": 3.0},
      "tasks": {"count": 5, "whole_s": 20.0, "model_calls_s": 8.0, "tools_s": 12.0},
      "steps": {"gpu": {"seconds": 10.0, "joules": 100.0, "families": {
        "gemm": {"seconds": 8.0, "joules": 90.0, "bound_by": {"arithmetic": 1.0, "memory": 7.0}},
        "decode_attention": {"seconds": 1.0, "joules": 10.0, "bound_by": {"memory": 1.0}},
        "host": {"seconds": 1.0, "joules": 0.0, "bound_by": {"overhead": 1.0}}}}}},
    "utilisation": {"gpu": {"busy": 0.98, "memory": 0.7, "of_busy": {"memory": 0.71}}},
    "energy": {"total_joules": 50.0, "joules": {"memory": 40.0, "static": 10.0},
               "by_group": {"gpu": {"memory": 40.0, "static": 10.0}}},
    "overall": {
      "utilisation": {"gpu": {"busy": 0.8, "memory": 0.56, "of_busy": {"memory": 0.7}}},
      "energy": {"total_joules": 200.0, "joules": {"memory": 100.0, "static": 100.0},
                 "by_group": {"gpu": {"memory": 100.0, "static": 100.0}}}},
    "provenance": {"measured": 0.0, "fitted": 1.0, "datasheet": 0.0, "assumed": 0.0, "extrapolated": 0.25},
    "warnings": ["gemm of gpu left its fitted range"]
  })");
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("calls that were not answered are told before any time") {
  Json run = run_json();
  CHECK_FALSE(has(report::explain(run).answer.front(), "calls"));
  run["requests"] = {{"injected", 1000}, {"completed", 700}, {"dropped", 290}, {"timed_out", 0}, {"failed", 10}};
  CHECK(report::explain(run).answer.front() ==
        "Of 1,000 calls, 290 dropped, 10 failed: all times are those of calls that were answered.");
}

TEST_CASE("the phases of a request are told in words") {
  // 0.5 of the 1.0 s to the first token.
  Json run = run_json();
  auto& requests = run["breakdown"]["requests"];
  requests["queued_s"] = 0.2;
  requests["moving_s"] = 0.5;
  CHECK(has(report::explain(run).answer.front(), "50.0 % KV entries on their way"));
}

TEST_CASE("the answer comes first: what the first token waits for, and why") {
  const auto explanation = report::explain(run_json());
  REQUIRE(explanation.answer.size() == 5);
  CHECK(explanation.answer[0] ==
        "TTFT is 1.00 s in the mean: 70.0 % waiting in the queue, 30.0 % prefill. gpu runs steps 98.0 % of the window: "
        "it "
        "is saturated.");
  CHECK(explanation.answer[1] == "From there to the last token it is 3.00 s: 100.0 % decode.");
  CHECK(explanation.answer[2] == "A task takes 20.0 s in the mean: 60.0 % tools, 40.0 % model calls.");
  CHECK(explanation.answer[3] ==
        "Step time of gpu is bound 80.0 % by memory, 10.0 % by launches, latencies and the host, 10.0 % by arithmetic; "
        "it is 80.0 % gemm, 10.0 % decode attention. With memory infinitely fast, steps would be at most 5.00 times as "
        "fast.");
  CHECK(explanation.answer[4] == "200 J over the whole run: 50.0 % memory, 50.0 % idle power of devices that are on.");
}

TEST_CASE("a queue is not put down to devices that are idle for much of their time") {
  Json idle = run_json();
  idle["utilisation"]["gpu"]["busy"] = 0.5;
  CHECK(has(report::explain(idle).answer[0], "No group of devices is saturated (gpu is busy 50.0 % of the window)"));
  idle["turns"] = {{"model_loads", 3}, {"model_load_s", 0.173}};
  CHECK(has(report::explain(idle).answer[0],
            "but models take turns: their weights were loaded 3 times, 173 ms in all, and requests wait for that"));
  idle["kv"]["peak_use"] = 1.0;
  idle["kv"]["preemptions"] = 12;
  CHECK(has(report::explain(idle).answer[0], "The KV cache is full at times (12 preemptions)"));
}

TEST_CASE("steps, joules and use are of the whole run, all three") {
  const Json json = Json::parse(report::to_json(report::explain(run_json())));
  CHECK(json["steps"][3]["joules"] == 100.0);  // what of them is dynamic, as the parts of the ledger but the static one
  CHECK(json["joules"][0]["joules"] == 100.0);
  CHECK(json["joules"][1]["joules"] == 100.0);
  CHECK(json["utilisation"][0]["busy"] == 0.8);
}

TEST_CASE("a run that is not valid says so before everything else") {
  Json saturated = run_json();
  saturated["verdict"] = {{"state", "saturated"}, {"reasons", {"the backlog grows"}}};
  const auto explanation = report::explain(saturated);
  CHECK(has(explanation.about, "NOT VALID, saturated"));
  CHECK(has(explanation.answer[0], "NOT VALID"));
  CHECK(has(explanation.answer[0], "the backlog grows"));
}

TEST_CASE("shares are of the whole time, and of the first token's for what comes before it") {
  const Json json = Json::parse(report::to_json(report::explain(run_json())));
  CHECK(json["schema"] == "explain/1");
  REQUIRE(json["requests"].size() == 3);  // nothing was held
  CHECK(json["requests"][0]["seconds"] == 0.7);
  CHECK(json["requests"][0]["share"].get<double>() == approx(0.7 / 4));
  CHECK(json["requests"][0]["ttft_share"].get<double>() == approx(0.7));
  CHECK(json["requests"][2]["ttft_share"].is_null());
  CHECK(json["steps"][0]["memory"].get<double>() == approx(7.0 / 8));
  CHECK(json["steps"][3]["family"] == "all");
  CHECK(json["steps"][3]["memory"].get<double>() == approx(0.8));
  CHECK(json["joules"][1]["share"].get<double>() == approx(0.5));
  CHECK(json["provenance"][4]["share"] == 0.25);
  CHECK(json["warnings"][0] == "gemm of gpu left its fitted range");
}

TEST_CASE("no line is wider than 100 columns") {
  std::istringstream lines(report::to_text(report::explain(run_json())));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CAPTURE(line);
    CHECK(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }) <= 100);
  }
  CHECK(count > 30);
}

TEST_CASE("a result without a breakdown is explained as far as it goes") {
  Json old = run_json();
  old.erase("breakdown");
  const auto explanation = report::explain(old);
  CHECK(explanation.answer.size() == 1);
  CHECK(explanation.sections.size() == 3);
}
