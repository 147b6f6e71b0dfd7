// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <string>

#include "sim/studies/verdicts.hpp"
#include "tests/cli/scratch.hpp"

namespace llmscape::studies::test {

// A study with these lines below its head; its scenario is a file that nobody reads.
inline std::optional<Study> read(const std::string& lines, Diagnostics& diagnostics) {
  const llmscape::test::Scratch scratch;
  scratch.file("thing/s.yaml", "");
  const std::string head =
      "schema: study/1\ntitle: A thing\nsummary: A thing that does things.\npaper: a paper\nabout: what it is\n";
  return read_study(scratch.file("thing/study.yaml", head + lines), diagnostics);
}

inline Study study_of(const std::string& lines) {
  Diagnostics diagnostics;
  auto study = read(lines, diagnostics);
  REQUIRE_MESSAGE(study, diagnostics.text(false));
  return *study;
}

// What one simulation is said to have found: its mean TTFT in s.
inline void found(Results& results, std::size_t run, std::size_t point, std::int64_t seed, double ttft) {
  Outcome& outcome = results.at(run, point, seed);
  outcome.json = {{"schema", "run/1"}, {"latency", {{"ttft_s", {{"mean", ttft}}}}}, {"kv", {{"hit_rate", 0.5}}}};
  outcome.text = outcome.json.dump();
}

}  // namespace llmscape::studies::test
