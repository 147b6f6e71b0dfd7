// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::search_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("search says the value first, then what fails next and why, then its runs; 1 where no value meets the SLO") {
  const Scratch scratch;
  const std::string scenario = scratch.file("scenario.yaml", small_scenario());
  const auto search = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"search", scenario, "-q", "--include-invalid", "-j1"});
    return run_program(more);
  };
  const Ran ran = search({"--max", "workload.arrivals.rate", "--slo", "ttft.p99<=300ms", "--precision", "20%"});
  CHECK(ran.code == 0);
  CHECK(ran.out.starts_with("workload.arrivals.rate = "));
  CHECK(holds(ran.out, " /s is the largest found that meets ttft.p99 <= 300ms\n  ttft.p99 <= 300ms: "));
  CHECK(holds(ran.out, " /s fails: ttft.p99 <= 300ms\n"));
  CHECK(holds(ran.out, "value  seed  verdict"));
  CHECK(search({"--max", "workload.arrivals.rate", "--slo", "ttft.p99<=1us"}).code == 1);
}

TEST_CASE("search prints JSON, the same for any number of jobs") {
  const Scratch scratch;
  const std::string scenario = scratch.file("scenario.yaml", small_scenario());
  const auto search = [&](const char* jobs) {
    return run_program({"search", scenario, "--max", "workload.arrivals.rate", "--slo", "e2e.p50<=1s", "--precision",
                        "30%", "--include-invalid", "--format", "json", "-q", "-j", jobs});
  };
  const Ran one = search("1"), two = search("2");
  CHECK(one.code == 0);
  CHECK(one.out == two.out);
  const auto json = nlohmann::json::parse(one.out);
  CHECK(json.at("schema") == "search/1");
  CHECK(json.at("tried").size() >= 2);
}

TEST_CASE("search says after its first run that no run has a metric of the SLO") {
  const Scratch scratch;
  const std::string scenario = scratch.file("scenario.yaml", small_scenario());
  for (const char* jobs : {"1", "2"}) {
    const Ran ran = run_program({"search", scenario, "--max", "workload.arrivals.rate", "--slo",
                                 "goodput_rps>=1,ttft.p99<=1s,total_cost<=5", "-q", "-j", jobs});
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK(holds(ran.err, "the run has no 'goodput_rps'"));
    CHECK(holds(ran.err, "the run has no 'total_cost'"));
    CHECK(holds(ran.err, "2 errors. workload.arrivals.rate = 5 /s was run, and the search went no further. See "));
  }
}

TEST_CASE("search, optimize and sensitivity compare no sums over windows whose length differs, and name the ratio") {
  const Scratch scratch;
  const std::string scenario = scratch.file(
      "scenario.yaml", small_scenario("{arrivals: {kind: poisson, rate: 5 /s}, requests: 400, stream: {kind: lengths, "
                                      "prompt: {kind: fixed, value: 256}, output: {kind: fixed, value: 32}}}"));
  const std::string plan =
      scratch.file("plan.yaml", "schema: sweep/1\nbase: scenario.yaml\naxes: {workload.arrivals.rate: [4 /s, 8 /s]}\n");
  const auto search = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"search", scenario, "--max", "workload.arrivals.rate", "--precision", "50%", "-q", "-j1",
                               "--slo", "total_joules<=1000 J"});
    return run_program(more);
  };
  const Ran refused = search({});
  CHECK(refused.code == 2);
  CHECK(holds(refused.err, "total_joules is a sum over the window, whose length differs from value to value"));
  CHECK(holds(refused.err, "look at joules_per_output_token"));
  CHECK(holds(refused.err, "1 error. workload.arrivals.rate = 5 /s was run, and the search went no further. See "));
  CHECK(search({"--set", "window.rule=whole"}).code != 2);
  const Ran optimized =
      run_program({"optimize", plan, "-o", scratch.path("o"), "--min", "total_joules,ttft.p99", "-q", "-j1"});
  CHECK(optimized.code == 2);
  CHECK(holds(optimized.err, "an objective or a limit is total_joules"));
  CHECK(holds(optimized.err, "1 error. 2 configurations ran, and no more were looked at.\n"));
  const auto sensitivity = [&](const std::string& rule) {
    return run_program({"sensitivity", scenario, "--only", "bandwidth", "--metrics", "total_joules,tpot.mean", "-q",
                        "-j1", "--change", "80%", "--set", "window.rule=" + rule});
  };
  CHECK(holds(sensitivity("steady").err, "effects on total_joules are left out"));
  CHECK_FALSE(holds(sensitivity("whole").err, "left out"));
}

TEST_CASE("every mistake in a search is reported at once, with a suggestion, and nothing runs") {
  const Scratch scratch;
  const std::string scenario = scratch.file("scenario.yaml", small_scenario());
  const Ran ran =
      run_program({"search", scenario, "--max", "workload.arrivals.rat", "--slo", "ttft.p98<=1s", "--precision", "0"});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(holds(ran.err, "did you mean 'rate'?"));
  CHECK(holds(ran.err, "did you mean 'ttft.p9"));
  CHECK(holds(ran.err, "a precision is a share"));
  CHECK(holds(ran.err, "3 errors."));
  CHECK(run_program({"search", scenario, "--slo", "ttft.p99<=1s"}).code == 2);
}

}  // namespace llmscape::test::search_test
