// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::observe_limits_test {
namespace {

const std::string kFixtures = "tests/unit/observe/fixtures/";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("observe and check: a prediction that served a part, or is saturated, meets no limit and says so") {
  const Scratch scratch;
  const std::string seen = scratch.path("seen");
  const std::vector<std::string> files = {"observe", kFixtures + "vllm.log", kFixtures + "vllm_bench.json", "--device",
                                          "h100-sxm"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> call = files;
    call.insert(call.end(), more.begin(), more.end());
    return run_program(call);
  };
  const Ran noisy = with({"--max-error", "tpot.mean=50%", "-o", seen, "--junit", scratch.path("o.xml")});
  CHECK(noisy.code == 0);
  CHECK(holds(noisy.out, "verdict of the prediction: noisy: 5 completed requests are too few"));
  CHECK(holds(scratch.content("o.xml"), "<testsuites name=\"llmscape observe\""));
  CHECK(holds(scratch.content("o.xml"), "name=\"verdict\" value=\"noisy: "));
  // Calls of 500 + 41 tokens do not fit, the one of 500 + 36 does.
  const std::vector<std::string> part = {"--set", "serving.max_model_len=540", "--max-error", "tpot.mean=50%"};
  const Ran refused = with(part);
  CHECK(refused.code == 1);
  CHECK_MESSAGE(holds(refused.out, "4 of 5 requests were not served by the simulation"), refused.out);

  REQUIRE(run_program({"run", seen + "/scenario.yaml", "-o", scratch.path("run"), "-q"}).code == 0);
  const auto check = [&](const std::vector<std::string>& more) {
    std::vector<std::string> call = {"check",       scratch.path("run"), "--against", seen + "/observed.json",
                                     "--max-error", "tpot.mean=50%",     "--junit",   scratch.path("c.xml")};
    call.insert(call.end(), more.begin(), more.end());
    return run_program(call);
  };
  CHECK(check({}).code == 0);
  CHECK(holds(scratch.content("c.xml"), "<testsuites name=\"llmscape check\""));
  for (const std::vector<std::string>& without_effect :
       std::vector<std::vector<std::string>>{{"-q"}, {"--update"}, {"--metrics", "tpot"}})
    CHECK(check(without_effect).code == 2);
  auto run = nlohmann::json::parse(scratch.content("run/run.json"));
  run["verdict"] = {{"state", "saturated"}, {"reasons", {"too much came"}}};
  scratch.file("run/run.json", run.dump());
  const Ran saturated = check({});
  CHECK(saturated.code == 1);
  CHECK(holds(saturated.out, "verdict of the prediction: saturated: too much came"));
  CHECK(holds(saturated.out, "but the prediction is saturated"));
  CHECK(check({"--include-invalid"}).code == 0);
}

TEST_CASE("observe: limits are printed where nothing could be compared") {
  const Ran ran =
      run_program({"observe", kFixtures + "vllm.log", "--device", "h100-sxm", "--max-error", "tpot.mean=5%"});
  CHECK(ran.code == 1);
  CHECK_MESSAGE(holds(ran.out, "tpot.mean=5%  not compared  NO"), ran.out);
}

}  // namespace llmscape::test::observe_limits_test
