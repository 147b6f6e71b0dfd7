// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::optimize_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// 2 x 3 x 3 x 2 configurations and an interval.
std::string space(const Scratch& scratch) {
  scratch.file("scenario.yaml", small_scenario());
  return scratch.file("space.yaml",
                      "schema: sweep/1\nbase: scenario.yaml\nset: {workload.requests: 12}\n"
                      "variants: {hardware: {l4: {\"hardware.devices[0].preset\": l4}, a100: "
                      "{\"hardware.devices[0].preset\": a100-80}}}\n"
                      "axes:\n  hardware.devices[0].count: [1, 2, 3]\n  serving.batcher.max_num_seqs: [4, 16, 64]\n"
                      "  workload.arrivals.rate: {between: [1 /s, 64 /s], log: true}\n"
                      "objectives: {maximize: [output_tokens_per_joule], minimize: [ttft.p99]}\n");
}

}  // namespace

TEST_CASE("optimize keeps what it ran as a sweep does, the same for any number of jobs, and goes on where it stopped") {
  const Scratch scratch;
  const std::string plan = space(scratch);
  const auto optimize = [&](const std::string& folder, const char* jobs, const char* evaluations) {
    return run_program({"optimize", plan, "-o", scratch.path(folder), "--include-invalid", "--evaluations", evaluations,
                        "-q", "-j", jobs});
  };
  const Ran one = optimize("a", "1", "24");
  CHECK(one.code == 0);
  CHECK(holds(one.out, "24 configurations evaluated"));
  CHECK(optimize("b", "2", "24").code == 0);
  const std::string results = scratch.content("a/results.csv");
  CHECK(std::ranges::count(results, '\n') == 25);
  CHECK(results == scratch.content("b/results.csv"));
  CHECK(optimize("a", "1", "24").out == one.out);  // nothing runs again
  CHECK(run_program({"pareto", scratch.path("a"), "--include-invalid"}).code == 0);
}

TEST_CASE("with one objective optimize finds the configuration that a sweep of all finds") {
  const Scratch scratch;
  scratch.file("scenario.yaml", small_scenario());
  const std::string plan =
      scratch.file("space.yaml",
                   "schema: sweep/1\nbase: scenario.yaml\nset: {workload.requests: 12}\n"
                   "axes:\n  hardware.devices[0].count: [1, 2, 3]\n  serving.batcher.max_num_seqs: [1, 2, 4, 8, 16]\n"
                   "  workload.arrivals.rate: [1 /s, 4 /s, 16 /s, 64 /s]\n"
                   "objectives: {maximize: [output_tokens_per_joule]}\nslo: ttft.p99 <= 300 ms\n");
  const Ran found = run_program(
      {"optimize", plan, "-o", scratch.path("best"), "--include-invalid", "--evaluations", "40", "-q", "-j1"});
  CHECK(found.code == 0);
  CHECK(run_program({"sweep", plan, "-o", scratch.path("all"), "-q", "-j1"}).code == 0);
  const Ran all = run_program({"pareto", scratch.path("all"), "--include-invalid", "--slo", "ttft.p99 <= 300 ms",
                               "--max", "output_tokens_per_joule,same=output_tokens_per_joule", "--format", "json"});
  const auto best = nlohmann::json::parse(all.out)["groups"][0]["points"][0];
  // "count=2 max_num_seqs=16 rate=64 /s meets ttft.p99 <= 300 ms with ..., the best of the sweep"
  CHECK(
      found.out.starts_with(best["label"].get<std::string>() + " meets ttft.p99 <= 300 ms with output tokens/joule "));
  CHECK(holds(found.out, "  max tokens/J  ttft.p99"));  // how far it is from the limit
  CHECK_FALSE(holds(found.out, "Hypervolume"));
}

TEST_CASE("optimize --halving says how much it simulated") {
  const Scratch scratch;
  const std::string plan = space(scratch);
  const Ran ran = run_program({"optimize", plan, "-o", scratch.path("h"), "--include-invalid", "--evaluations", "16",
                               "--halving", "-q", "-j1"});
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, " dropped early, "));
  CHECK(holds(ran.out, " full lengths simulated"));
}

TEST_CASE("mistakes in an optimisation are reported together, and nothing runs") {
  const Scratch scratch;
  const Ran ran = run_program({"optimize", space(scratch), "-o", scratch.path("m"), "--max", "output_tokens_per_jule",
                               "--min", "ttft.p99", "--slo", "ttft.p99"});
  CHECK(ran.code == 2);
  CHECK(holds(ran.err, "did you mean 'output_tokens_per_joule'?"));
  CHECK(holds(ran.err, "'ttft.p99' is no limit"));
  CHECK_FALSE(std::filesystem::exists(scratch.path("m")));
}

}  // namespace llmscape::test::optimize_test
