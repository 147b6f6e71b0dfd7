// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/requests.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::validation;
using llmscape::testing::approx;

namespace {

const Comparison& named(const std::vector<Comparison>& all, const std::string& metric) {
  for (const Comparison& c : all)
    if (c.metric == metric) return c;
  FAIL("no comparison of " << metric);
  return all.front();
}

// Queued at 100 and 101, on another clock than the prediction; the second waits for 1 s.
const std::vector<RequestTimes> kMeasured = {{"bench-0", 10, 3, 100, 100, 101, 103},
                                             {"bench-1", 20, 1, 101, 102, 104, 104}};

}  // namespace

TEST_CASE("times are taken from the engine's queue, whatever the clock's start") {
  const std::vector<RequestTimes> predicted = {{"0", 10, 3, 0, 0, 1.5, 3.5}, {"1", 20, 1, 1, 2, 4, 4}};
  Diagnostics diagnostics;
  const auto all = compare_requests(predicted, kMeasured, {}, diagnostics);
  REQUIRE(all);
  CHECK(*named(*all, "queueing").error("mean") == 0);
  CHECK(named(*all, "ttft").statistics[0].predicted == approx(2.25));  // 1.5 and 3
  CHECK(named(*all, "ttft").statistics[0].measured == approx(2));      // 1 and 3
  CHECK(named(*all, "tpot").count == 1);                               // the other has a single token
  CHECK(*named(*all, "tpot").error("mean") == 0);                      // 1 s a token on both sides
  CHECK(named(*all, "e2e").statistics[0].predicted == approx(3.25));
  CHECK(*named(*all, "makespan").error("mean") == 0);  // 4 s
}

TEST_CASE("requests are matched by the number in their id, not by their place in the file") {
  const std::vector<RequestTimes> predicted = {{"1", 20, 1, 1, 2, 4, 4}, {"0", 10, 3, 0, 0, 1, 3}};
  Diagnostics diagnostics;
  const auto all = compare_requests(predicted, kMeasured, {}, diagnostics);
  REQUIRE(all);
  for (const Comparison& c : *all) CHECK(*c.error("mean") == 0);
}

TEST_CASE("digits that end hashes are no numbers: such requests are in the order in which they were queued") {
  std::vector<RequestTimes> requests = {{"cmpl-9ab7f3c91", 10, 3, 0, 0, 1, 3}, {"cmpl-77e0d4", 10, 3, 1, 1, 2, 4}};
  put_in_order(requests);
  CHECK(requests.front().id == "cmpl-9ab7f3c91");
  requests[0].id = "cmpl-91";
  requests[1].id = "cmpl-4";
  put_in_order(requests);
  CHECK(requests.front().id == "cmpl-4");
}

TEST_CASE("other requests than those measured are refused") {
  for (const std::vector<RequestTimes>& predicted :
       {std::vector<RequestTimes>{{"0", 10, 3, 0, 0, 1, 3}},
        std::vector<RequestTimes>{{"0", 10, 3, 0, 0, 1, 3}, {"1", 21, 1, 1, 2, 4, 4}}}) {
    Diagnostics diagnostics;
    CHECK_FALSE(compare_requests(predicted, kMeasured, {}, diagnostics));
    CHECK(diagnostics.errors() == 1);
  }
}

TEST_CASE("a request runs from its schedule to its last token, and waits before") {
  const Load start = load_at(kMeasured, 0), middle = load_at(kMeasured, 1.5), end = load_at(kMeasured, 3);
  CHECK(start.running == 1);
  CHECK(start.waiting == 0);
  CHECK(middle.running == 1);
  CHECK(middle.waiting == 1);
  CHECK(end.running == 1);  // the first has had its last token
  CHECK(end.waiting == 0);
}

TEST_CASE("over time: root mean square of the differences, and where the largest lies") {
  // Predicted running 1, 2, 1 and waiting 1, 0, 0 at 1, 2 and 3 s.
  const auto courses = compare_loads(kMeasured, {{1, 1, 1}, {2, 5, 0}, {3, 1, 4}});
  REQUIRE(courses.size() == 2);
  CHECK(courses[0].rmse == approx(std::sqrt(9.0 / 3)));
  CHECK(courses[0].largest == -3);
  CHECK(courses[0].largest_at == 2);
  CHECK(courses[1].rmse == approx(std::sqrt(16.0 / 3)));
  CHECK(courses[1].largest == -4);
}

TEST_CASE("vLLM's log and the simulator's rows read as the same times") {
  const test::Scratch scratch;
  const std::string vllm = scratch.file(
      "vllm.jsonl",
      R"({"request_id": "bench-7", "input_toks": 10, "output_toks": 3, "arrival_time": 9e8, "queued_ts": 5.0,)"
      R"( "scheduled_ts": 5.5, "first_token_ts": 6.0, "last_token_ts": 7.0})"
      "\n");
  // Arrived at 4 s: a second on the way to the queue.
  const std::string ours = scratch.file(
      "ours.jsonl",
      R"({"metadata":{"session_num":7,"request_start_ns":4000000000},"metrics":{"time_to_queue":{"value":1000},)"
      R"("queue_time":{"value":1500},"time_to_first_token":{"value":2000},"request_latency":{"value":3000},)"
      R"("input_sequence_length":{"value":10.0},"output_sequence_length":{"value":3.0}},"error":null})"
      "\n"
      R"({"metadata":{"session_num":8,"request_start_ns":4000000000},"metrics":{},"error":{"type":"dropped"}})"
      "\n");
  Diagnostics diagnostics;
  const auto a = read_request_times(vllm, diagnostics), b = read_request_times(ours, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  REQUIRE(a->size() == 1);
  REQUIRE(b->size() == 1);
  for (const auto& r : {a->front(), b->front()}) {
    CHECK(r.prompt_tokens == 10);
    CHECK(r.output_tokens == 3);
    CHECK(r.queued == approx(5));
    CHECK(r.scheduled == approx(5.5));
    CHECK(r.first_token == approx(6));
    CHECK(r.last_token == approx(7));
  }
}

TEST_CASE("broken logs are reported by line") {
  const test::Scratch scratch;
  const std::string log = scratch.file(
      "log.jsonl",
      "{\n"
      R"({"request_id": "a", "input_toks": 1, "output_toks": 1, "queued_ts": 5, "scheduled_ts": 4, "first_token_ts": 6,)"
      R"( "last_token_ts": 6})"
      "\n");
  Diagnostics diagnostics;
  CHECK_FALSE(read_request_times(log, diagnostics));
  CHECK(diagnostics.errors() == 2);
  CHECK(diagnostics.text(false).find("not in the order") != std::string::npos);
  Diagnostics empty;
  CHECK_FALSE(read_request_times(scratch.file("empty.jsonl", ""), empty));
  CHECK(empty.errors() == 1);
}

TEST_CASE("a line of a log says which key is wrong, and an id may be a number") {
  const test::Scratch scratch;
  const auto line = [](const std::string& id, const std::string& more) {
    return "{\"request_id\": " + id + ", \"input_toks\": 1, \"output_toks\": 1, \"queued_ts\": 5" + more +
           ", \"first_token_ts\": 6, \"last_token_ts\": 6}\n";
  };
  Diagnostics diagnostics;
  const auto requests = read_request_times(
      scratch.file("ids.jsonl", line("7", ", \"scheduled_ts\": 5") + "\n" + line("8", ", \"scheduled_ts\": 5")),
      diagnostics);
  REQUIRE_MESSAGE(requests, diagnostics.text(false));
  CHECK(requests->at(1).id == "8");
  CHECK_FALSE(read_request_times(scratch.file("broken.jsonl", line("7", "") + line("[7]", ", \"scheduled_ts\": 5") +
                                                                  line("7", ", \"scheduled_ts\": \"noon\"") +
                                                                  "{\"request_id\": 7,\n" + "[7]\n{\"x\": 1e400}\n"),
                                 diagnostics));
  const std::string told = diagnostics.text(false);
  for (const char* part :
       {":1:1: error: this is no request with its times: 'scheduled_ts' is missing",
        ":2:1: error: this is no request with its times: 'request_id' must be a text or a whole number; got [7]",
        ":3:1: error: this is no request with its times: 'scheduled_ts' must be a number; got \"noon\"",
        ":4:18: error: this is no JSON from here on", ":5:1: error: this is no request with its times: it is no object",
        ":6:1: error: this is no request with its times: a number is too large"})
    CHECK_MESSAGE(told.find(part) != told.npos, told);
}

TEST_CASE("loads over time: from the first moment on, of columns in any order, and means") {
  const test::Scratch scratch;
  Diagnostics diagnostics;
  const auto loads = read_loads(scratch.file("l.csv", "running,t,waiting\n0,0,0\n1.5,1,2\n"), diagnostics);
  REQUIRE_MESSAGE(loads, diagnostics.text(false));
  CHECK(loads->at(0).at == 0);
  CHECK(loads->at(1).running == 1.5);
  CHECK(loads->at(1).waiting == 2);
}
