// SPDX-License-Identifier: Apache-2.0
// What a sweep does when its folder is damaged, taken, removed or shared.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/cli/shell.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::sweep_faults_test {
namespace {

namespace fs = std::filesystem;

const std::string kProgram = LLMSCAPE_PROGRAM;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> points_in(const std::string& folder) {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(folder + "/points")) all.push_back(entry.path().filename());
  std::ranges::sort(all);
  return all;
}

std::string plan_of(const Scratch& scratch, const std::string& name, int points, int requests = 40) {
  scratch.file("scenario.yaml", small_scenario());
  return scratch.file(
      name, "schema: sweep/1\nbase: scenario.yaml\nset: {workload.requests: " + std::to_string(requests) +
                "}\naxes:\n  workload.arrivals.rate: {linspace: [1 /s, 4 /s], points: " + std::to_string(points) +
                "}\n");
}

}  // namespace

TEST_CASE("a point that is empty, cut or no JSON any more is named, set aside and run again") {
  const Scratch scratch;
  const std::string plan = plan_of(scratch, "plan.yaml", 4), out = scratch.path("out");
  REQUIRE(run_program({"sweep", plan, "-o", out, "-q"}).code == 0);
  const std::string results = scratch.content("out/results.csv");
  const auto points = points_in(out);
  REQUIRE(points.size() == 4);
  const std::string whole = scratch.content("out/points/" + points[1]);
  scratch.file("out/points/" + points[0], "");
  scratch.file("out/points/" + points[1], whole.substr(0, whole.size() / 2));
  scratch.file("out/points/" + points[2], std::string(whole.size(), '\0'));
  const Ran merged = run_program({"sweep", "--merge", out});
  CHECK(merged.code == 3);
  CHECK(holds(merged.out, "1 points, 3 not run yet"));
  for (int i = 0; i < 3; ++i) CHECK(holds(merged.err, "set aside as " + out + "/damaged/" + points[i]));
  const Ran resumed = run_program({"sweep", "-o", out, "--resume", "-q"});
  CHECK(resumed.code == 0);
  CHECK(scratch.content("out/results.csv") == results);
  CHECK(scratch.content("out/points/" + points[1]) == whole);
  CHECK(scratch.content("out/damaged/" + points[1]) == whole.substr(0, whole.size() / 2));

  // Ends that look right, with damage between them, are found when the result is read.
  std::string torn = whole;
  const std::size_t at = torn.find("\"result\": {") + 20;
  torn.replace(at, 40, std::string(40, '\0'));
  scratch.file("out/points/" + points[1], torn);
  const Ran found = run_program({"sweep", "-o", out, "--resume", "-q"});
  CHECK(found.code == 3);
  CHECK(holds(found.err, "set aside as"));
  CHECK(holds(found.err, "1 points are missing, --resume runs them"));
  CHECK(run_program({"sweep", "-o", out, "--resume", "-q"}).code == 0);
  CHECK(scratch.content("out/results.csv") == results);
}

TEST_CASE("of two plans that are started at once in one folder one wins, and the other says so") {
  const Scratch scratch;
  const std::string one = plan_of(scratch, "one.yaml", 4), other = plan_of(scratch, "other.yaml", 5);
  const std::string out = scratch.path("out");
  for (int turn = 0; turn < 5; ++turn) {
    fs::remove_all(out);
    const auto start = [&](const std::string& plan, const std::string& log) {
      return "( " + kProgram + " sweep " + plan + " -q -j1 -o " + out + " > " + scratch.path(log) +
             " 2>&1; echo $? >> " + scratch.path(log) + " ) & ";
    };
    shell(start(one, "one.log") + start(other, "other.log") + "wait");
    const std::string said = scratch.content("one.log") + scratch.content("other.log");
    CAPTURE(said);
    CHECK(holds(said, "points\n0\n"));
    CHECK(holds(said, "holds the sweep of another plan"));
    CHECK(holds(said, "Nothing was run.\n2\n"));
    const std::size_t points = points_in(out).size();
    CHECK((points == 4 || points == 5));
  }
}

TEST_CASE("a folder that is removed while its sweep runs is an error, and is not made again") {
  const Scratch scratch;
  const std::string plan = plan_of(scratch, "plan.yaml", 40, 4000), out = scratch.path("out");
  const Shell ran = shell(kProgram + " sweep " + plan + " -q -j1 -o " + out + " 2>&1 & " + "while [ ! -e " + out +
                          "/points ]; do sleep 0.01; done; mv " + out + " " + out + "-elsewhere; wait $!");
  CAPTURE(ran.out);
  CHECK(ran.code == 3);
  CHECK(holds(ran.out, out + " is gone: it was removed or renamed while its sweep ran"));
  CHECK_FALSE(fs::exists(out));
}

TEST_CASE("shards differ by one point at most, whatever is excluded, and each point is in one") {
  const Scratch scratch;
  scratch.file("scenario.yaml", small_scenario());
  const std::string plan = scratch.file(
      "plan.yaml",
      "schema: sweep/1\nbase: scenario.yaml\naxes:\n  workload.arrivals.rate: {linspace: [1 /s, 4 /s], points: 25}\n"
      "  hardware.devices[0].count: [1, 2, 3, 4]\nexclude: [\"rate > 3 /s and count == 1\"]\n");
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  const std::string all = run_program({"sweep", plan, "--list"}).out;
  CHECK(lines(all) == 92);
  std::string parts;
  for (int shard = 1; shard <= 7; ++shard) {
    const std::string part = run_program({"sweep", plan, "--list", "--shard", std::to_string(shard) + "/7"}).out;
    CHECK((lines(part) == 13 || lines(part) == 14));  // 92 = 7 * 13 + 1
    int devices = 0;
    for (const char* device : {"count=1", "count=2", "count=3", "count=4"}) devices += holds(part, device);
    CHECK(devices >= 2);
    parts += part;
  }
  CHECK(lines(parts) == lines(all));
  for (std::size_t from = 0; from < all.size(); from = all.find('\n', from) + 1)
    CHECK(holds(parts, all.substr(from, all.find('\n', from) + 1 - from)));
}

}  // namespace llmscape::test::sweep_faults_test
