// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/yaml_reader.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::check_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(holds(text, from));
  return text.replace(text.find(from), from.size(), to);
}

const std::string kHeader = "point,id,rate,repeat,seed,verdict,ttft_s.p99,goodput_rps\n";
const std::string kRows = "0,a,8 /s,0,1,valid,0.1,8\n1,b,16 /s,0,1,valid,0.2,15\n";

}  // namespace

TEST_CASE("results equal the baseline made of them; one that is worse fails, is named first, and stands in JUnit") {
  const Scratch scratch;
  const std::string folder = scratch.path("out"), baseline = scratch.path("baseline.json");
  scratch.file("out/results.csv", kHeader + kRows);
  const Ran made = run_program({"check", folder, "--baseline", baseline, "--update"});
  CHECK(made.code == 0);
  CHECK(made.out == baseline + ": 4 metrics of 2 configurations\n");
  const Ran same = run_program({"check", folder, "--baseline", baseline});
  CHECK(same.code == 0);
  CHECK(same.out == "0 of 4 metrics are WORSE\n4 SAME in 2 configurations\n");

  scratch.file("out/results.csv", kHeader + replaced(kRows, "0.2,15", "0.25,15"));
  const Ran worse = run_program({"check", folder, "--baseline", baseline, "--junit", scratch.path("check.xml"),
                                 "--markdown", scratch.path("check.md")});
  CHECK(worse.code == 1);
  CHECK(worse.out.starts_with("1 of 4 metrics is WORSE, most of all ttft.p99 of rate=16 /s (+25 %)\n"));
  CHECK(holds(scratch.content("check.xml"), "<failure message=\"200 ms -&gt; 250 ms, +25 %, beyond 1%\""));
  CHECK(holds(scratch.content("check.md"), "| WORSE | ttft.p99 | rate=16 /s | 200 ms | 250 ms | +25 % | 1% |"));
  CHECK(run_program({"check", folder, "--baseline", baseline, "--metrics", "goodput_rps"}).code == 0);
  const Ran json = run_program({"check", folder, "--baseline", baseline, "--format", "json"});
  CHECK(json.code == 1);
  CHECK(nlohmann::json::parse(json.out).at("counts").at("WORSE") == 1);

  scratch.file("baseline.json", replaced(scratch.content("baseline.json"), "\"tolerances\": {}",
                                         "\"tolerances\": {\"ttft\": \"60 ms\", \"peak_memory_bytes\": \"1 GB\"}"));
  CHECK(run_program({"check", folder, "--baseline", baseline, "-q"}).code == 0);
  CHECK(run_program({"check", folder, "--baseline", baseline, "--update"}).code == 0);
  CHECK(holds(scratch.content("baseline.json"),
              "\"tolerances\": {\"ttft\": \"60 ms\", \"peak_memory_bytes\": \"1 GB\"}"));
  CHECK(holds(scratch.content("baseline.json"), "\"ttft_s.p99\": {\"value\": 0.25}"));
}

TEST_CASE("costs in another currency than the baseline's are refused, and amounts are told in theirs") {
  const Scratch scratch;
  const std::string folder = scratch.path("out"), baseline = scratch.path("baseline.json");
  const auto write = [&](const std::string& cost, const std::string& currency) {
    scratch.file(
        "out/results.csv",
        "point,id,rate,repeat,seed,verdict,ttft_s.p99,cost_per_million_output_tokens,energy_boundary,currency\n"
        "0,a,8 /s,0,1,valid,0.1," +
            cost + ",board," + currency + "\n");
  };
  write("450", "JPY");
  CHECK(run_program({"check", folder, "--baseline", baseline, "--update"}).code == 0);
  CHECK(holds(scratch.content("baseline.json"), "\"currency\": \"JPY\""));
  write("500", "JPY");
  CHECK(holds(run_program({"check", folder, "--baseline", baseline}).out, "500 JPY"));
  write("3", "EUR");
  const Ran unlike = run_program({"check", folder, "--baseline", baseline});
  CHECK(unlike.code == 2);
  CHECK(holds(unlike.err, "the baseline's are in JPY, those of the results in EUR"));
  CHECK(run_program({"check", folder, "--baseline", baseline, "--metrics", "ttft.p99"}).code == 0);
  // An old baseline does not say.
  scratch.file("baseline.json", replaced(scratch.content("baseline.json"), ", \"currency\": \"JPY\"", ""));
  CHECK(
      holds(run_program({"check", folder, "--baseline", baseline}).err, "the baseline does not say what costs are in"));
}

TEST_CASE("the folder of one run is checked like that of a sweep") {
  const Scratch scratch;
  const std::string scenario = scratch.file("s.yaml", small_scenario()), folder = scratch.path("run");
  REQUIRE(run_program({"run", scenario, "-o", folder, "-q"}).code == 0);
  scratch.file("run/run.json",
               replaced(scratch.content("run/run.json"), "\"state\": \"", "\"state\": \"valid\", \"was\": \""));
  const std::string baseline = scratch.path("b.json");
  CHECK(run_program({"check", folder, "--baseline", baseline, "--update"}).code == 0);
  const Ran ran = run_program({"check", folder, "--baseline", baseline});
  CHECK(ran.code == 0);
  CHECK(holds(ran.out, "in 1 configuration\n"));
}

TEST_CASE("a baseline by class fails where one class alone is worse") {
  const Scratch scratch;
  const std::string folder = scratch.path("run"), baseline = scratch.path("b.json");
  // 99 calls of 100 are of the class big: the mean of all hardly moves with small.
  const auto write = [&](double small) {
    nlohmann::json run = {{"schema", "run/1"}, {"seed", 1}, {"verdict", {{"state", "valid"}}}};
    const auto with_ttft = [](double mean) { return nlohmann::json{{"latency", {{"ttft_s", {{"mean", mean}}}}}}; };
    run.update(with_ttft(0.99 * 0.1 + 0.01 * small));
    run["classes"] = {{"big", with_ttft(0.1)}, {"small", with_ttft(small)}};
    scratch.file("run/run.json", run.dump());
  };
  write(0.05);
  CHECK(run_program({"check", folder, "--baseline", scratch.path("all.json"), "--update"}).code == 0);
  CHECK(run_program({"check", folder, "--baseline", baseline, "--update", "--classes"}).out ==
        baseline + ": 3 metrics of 3 configurations\n");
  CHECK(run_program({"check", folder, "--baseline", baseline}).code == 0);
  write(0.06);  // +20 % for the class, +0.1 % for all: 0.0996 s of 0.0995
  CHECK(run_program({"check", folder, "--baseline", scratch.path("all.json")}).code == 0);
  const Ran worse = run_program({"check", folder, "--baseline", baseline});
  CHECK(worse.code == 1);
  CHECK_MESSAGE(holds(worse.out, "1 of 3 metrics is WORSE, most of all ttft.mean of slo_class=small (+20 %)"),
                worse.out);
  CHECK(run_program({"check", folder, "--baseline", baseline, "--update"}).code == 0);  // keeps its classes
  CHECK(run_program({"check", folder, "--baseline", baseline}).out ==
        "0 of 3 metrics are WORSE\n3 SAME in 3 configurations\n");
  CHECK(run_program({"check", folder, "--baseline", baseline, "--classes"}).code == 2);  // without effect
}

TEST_CASE("a broken baseline, unknown metrics and missing results are answered with 2, all at once") {
  const Scratch scratch;
  scratch.file("out/results.csv", kHeader + kRows);
  const std::string broken =
      scratch.file("b.json", "{\"schema\": \"baseline/1\",\n \"axis\": [],\n \"configurations\": []}");
  const Ran ran = run_program({"check", scratch.path("out"), "--baseline", broken, "--metrics", "speed"});
  CHECK(ran.code == 2);
  CHECK(ran.out.empty());
  CHECK(holds(ran.err, "b.json:2:2: error: unknown key 'axis'"));
  CHECK(holds(ran.err, "unknown metric 'speed'"));
  CHECK(run_program({"check", scratch.path("nowhere"), "--baseline", broken}).code == 2);
  CHECK(run_program({"check", scratch.path("out")}).code == 2);
  CHECK(run_program({"check", scratch.path("out"), "--baseline", scratch.path("none.json")}).code == 2);
  CHECK(run_program({"check", scratch.path("out"), "--baseline", broken, "--update"}).code == 2);  // not overwritten
  CHECK(holds(scratch.content("b.json"), "\"axis\""));
}

TEST_CASE("the snippets for CI servers are YAML") {
  std::ifstream page("docs/check.md");
  std::string block;
  int snippets = 0;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("```")) {
      if (inside) block += line + '\n';
      continue;
    }
    if (inside) {
      Diagnostics diagnostics;
      const YamlNode tree =
          read_yaml(std::make_shared<const SourceText>(SourceText{"docs/check.md", block}), diagnostics);
      CHECK_MESSAGE(tree.is_mapping(), block);
      CHECK_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
      ++snippets;
    }
    inside = line == "```yaml";
    block.clear();
  }
  CHECK(snippets == 3);
}

}  // namespace llmscape::test::check_test
