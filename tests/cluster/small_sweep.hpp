// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test {

// A plan of `points` points (a multiple of 4) that take some milliseconds each.
inline std::string small_plan(const Scratch& scratch, int points) {
  scratch.file("scenario.yaml", small_scenario());
  return scratch.file("plan.yaml",
                      "schema: sweep/1\n"
                      "base: scenario.yaml\n"
                      "axes:\n"
                      "  workload.arrivals.rate: {linspace: [1 /s, 4 /s], points: " +
                          std::to_string(points / 4) +
                          "}\n"
                          "  hardware.devices[0].count: [1, 2, 3, 4]\n");
}

// results.csv of the plan when nothing disturbs it.
inline std::string undisturbed(const Scratch& scratch, const std::string& plan) {
  REQUIRE(run_program({"sweep", plan, "-o", scratch.path("undisturbed"), "-j", "2", "-q"}, 120).code == 0);
  return scratch.content("undisturbed/results.csv");
}

// The finished points in a folder of results, by file name, with their bytes.
inline std::map<std::string, std::string> finished_points(const Scratch& scratch, const std::string& folder) {
  std::map<std::string, std::string> points;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path(folder + "/points"), none))
    if (entry.path().extension() == ".json")
      points[entry.path().filename()] = scratch.content(folder + "/points/" + entry.path().filename().string());
  return points;
}

}  // namespace llmscape::test
