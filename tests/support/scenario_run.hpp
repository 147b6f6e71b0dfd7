// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

#include "base/files.hpp"
#include "base/process_pool.hpp"
#include "sim/result/result_json.hpp"
#include "sim/run/run.hpp"

// Whole scenarios in tests: written to a temporary file, run in a child process (SimGrid runs once in the life of a
// process).
namespace llmscape::testing {

// Their files are read once in the life of a test program: reading a GPU's takes longer than most runs.
inline scenario::Catalogs source_catalogs() {
  static const auto remembered = std::make_shared<scenario::Catalogs::Remembered>();
  return {"models/catalog", "hardware/catalog", "workloads/catalog", remembered};
}

inline std::optional<scenario::Scenario> scenario_of(const std::string& yaml,
                                                     const std::vector<std::string>& overrides = {}) {
  const auto path = std::filesystem::temp_directory_path() / ("llmscape-test-" + std::to_string(getpid()) + ".yaml");
  write_file_atomically(path, yaml);
  Diagnostics diagnostics;
  auto scenario = scenario::load_scenario(path, overrides, std::nullopt, source_catalogs(), diagnostics);
  std::filesystem::remove(path);
  if (diagnostics.has_errors()) FAIL_CHECK(diagnostics.text(false));
  return scenario;
}

// What is said of a scenario that cannot be run.
inline std::string mistakes(const std::string& yaml) {
  Diagnostics diagnostics;
  const auto tree = read_yaml(std::make_shared<const SourceText>(SourceText{"s.yaml", yaml}), diagnostics);
  CHECK_FALSE(scenario::read_scenario(tree, ".", {}, std::nullopt, source_catalogs(), diagnostics));
  return diagnostics.text(false);
}

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What `text` returns in a child process; empty when it fails there, with a failed check that says why.
inline std::string in_child(const std::function<std::string()>& text) {
  auto outcome = llmscape::in_child<std::string>(text);
  if (!outcome.answer) FAIL_CHECK(outcome.error);
  return std::move(outcome.answer).value_or("");
}

inline result::RunResult run_on_event_queue(const scenario::Scenario& scenario, std::int64_t lookahead = 64) {
  world::Options options;
  options.kernel = world::KernelKind::event_queue;
  options.lookahead = lookahead;
  Diagnostics diagnostics;
  return run::run_scenario(scenario, options, diagnostics);
}

// The result as JSON, run under SimGrid.
inline std::string json_on_simgrid(const scenario::Scenario& scenario, std::int64_t lookahead = 64) {
  return in_child([&] {
    world::Options options;
    options.lookahead = lookahead;
    Diagnostics diagnostics;
    return result::to_json(run::run_scenario(scenario, options, diagnostics));
  });
}

// A scenario that replays a trace, whose file it is given the path of, on both kernels alike.
inline result::RunResult run_replayed(const std::string& trace,
                                      const std::function<std::string(const std::string& path)>& yaml) {
  const auto path = std::filesystem::temp_directory_path() / ("llmscape-trace-" + std::to_string(getpid()) + ".jsonl");
  write_file_atomically(path, trace);
  const auto read = scenario_of(yaml(path.string()));
  REQUIRE(read);
  const result::RunResult result = run_on_event_queue(*read);
  CHECK(json_on_simgrid(*read) == result::to_json(result));
  std::filesystem::remove(path);
  return result;
}

}  // namespace llmscape::testing
