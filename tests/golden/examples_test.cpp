// SPDX-License-Identifier: Apache-2.0
// Of each example what its reader looks at: expected.txt is the summary as it is printed, expected.json the figures
// listed here, with all their digits. A metric that is added moves neither. One whole result is pinned in
// format_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/golden/golden_file.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/run_program.hpp"

using llmscape::testing::approx;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using llmscape::test::Ran;
using llmscape::test::run_program;

// Places in run.json. What an example's result has no section for is left out.
constexpr std::array<std::string_view, 29> kFigures = {
    "/seed",
    "/verdict/state",
    "/requests/injected",
    "/requests/completed",
    "/tokens/computed",
    "/tokens/reused",
    "/tokens/emitted",
    "/latency/ttft_s/mean",
    "/latency/ttft_s/p50",
    "/latency/ttft_s/p99",
    "/latency/tpot_s/mean",
    "/latency/tpot_s/p50",
    "/latency/tpot_s/p99",
    "/latency/e2e_s/mean",
    "/latency/e2e_s/p50",
    "/latency/e2e_s/p99",
    "/throughput/requests_per_s",
    "/throughput/output_tokens_per_s",
    "/throughput/goodput_rps",
    "/kv/hit_rate",
    "/kv/preemptions",
    "/energy/total_joules",
    "/energy/joules_per_output_token",
    "/energy/mean_w",
    "/cost/total_cost",
    "/cost/cost_per_million_output_tokens",
    "/provenance",
    "/steps",
    "/simulated_s",
};

std::string figures_of(const std::string& run_json) {
  const Json run = Json::parse(run_json);
  Json figures = Json::object();
  for (const std::string_view place : kFigures)
    if (const Json::json_pointer pointer{std::string(place)}; run.contains(pointer)) figures[pointer] = run[pointer];
  return llmscape::json_text(figures.dump());
}

std::vector<fs::path> examples() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator("examples"))
    if (fs::exists(entry.path() / "scenario.yaml")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

}  // namespace

TEST_CASE("every example prints what it printed before, with the same figures to the last digit, and is valid") {
  CHECK(examples().size() >= 7);
  for (const fs::path& folder : examples()) {
    CAPTURE(folder.string());
    const llmscape::test::Scratch scratch;
    const Ran ran = run_program({"run", folder / "scenario.yaml", "-o", scratch.path("out"), "--quiet"}, 120);
    CAPTURE(ran.err);
    CHECK(ran.code == 0);
    CHECK(ran.out.find(": valid") != std::string::npos);
    llmscape::test::check_golden(folder / "expected.txt", ran.out);
    llmscape::test::check_golden(folder / "expected.json", figures_of(scratch.content("out/run.json")));
    CHECK(fs::exists(folder / "README.md"));
  }
}

TEST_CASE(
    "KV entries cross each link of examples/prefill-decode-pools/links.yaml as fast as its narrowest part lets them") {
  struct Way {
    double narrowest;  // bytes per second
    double latency;    // of ports, uplinks, and of racks or sites, both ends, in seconds
  };
  const std::map<std::string, Way> ways = {{"edge-wan-10g", {1.25e9, 2 * (5e-6 + 50e-6 + 5e-3)}},
                                           {"a40-ethernet-100g", {12.5e9, 2 * (5e-6 + 5e-6 + 10e-6)}},
                                           {"a100-infiniband-hdr", {25e9, 2 * (2.5e-6 + 5e-6 + 2e-6)}},
                                           {"mi325x-ethernet-400g", {50e9, 2 * (5e-6 + 5e-6 + 10e-6)}},
                                           {"sn40l-8", {100e9, 2 * (2e-6 + 5e-6)}},
                                           {"gb200-nvl72", {50e9, 2 * (2.5e-6 + 5e-6)}}};
  const llmscape::test::Scratch scratch;
  const Ran ran =
      run_program({"sweep", "examples/prefill-decode-pools/links.yaml", "-q", "-o", scratch.path("out")}, 120);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  std::size_t seen = 0;
  for (const auto& entry : fs::directory_iterator(scratch.path("out/points"))) {
    const Json point = Json::parse(scratch.content("out/points/" + entry.path().filename().string()));
    const Way& way = ways.at(point.at("values").at("machine").get<std::string>());
    const double bytes = 8192 * 131072.0;  // 2 x 32 layers x 8 heads x 128 x 2 bytes a token
    const double transfer = point.at("/result/breakdown/requests/transfer_s"_json_pointer).get<double>();
    CHECK(transfer == approx(bytes / way.narrowest + way.latency).epsilon(1e-9));
    ++seen;
  }
  CHECK(seen == ways.size());
}

TEST_CASE("a metric that is new to a result moves no figure of an example, one that is listed does") {
  const std::string before = R"({"seed": 1, "latency": {"ttft_s": {"mean": 0.25, "p75": 1}}, "steps": 3})";
  const std::string figures = figures_of(before);
  CHECK(figures ==
        figures_of(R"({"seed": 1, "new": {"a": 1}, "latency": {"ttft_s": {"mean": 0.25, "p70": 2}, "x_s": {}},
                                  "steps": 3, "more": 2})"));
  CHECK(Json::parse(figures) == Json::parse(R"({"seed": 1, "latency": {"ttft_s": {"mean": 0.25}}, "steps": 3})"));
  CHECK(figures != figures_of(R"({"seed": 1, "latency": {"ttft_s": {"mean": 0.26}}, "steps": 3})"));
}
