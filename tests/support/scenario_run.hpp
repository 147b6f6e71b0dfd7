// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>

#include "base/files.hpp"
#include "sim/result/result_json.hpp"
#include "sim/run/run.hpp"

// Whole scenarios in tests: written to a temporary file, run in a child process (SimGrid runs once in the life of a
// process).
namespace llmscape::testing {

inline scenario::Catalogs source_catalogs() { return {"models/catalog", "hardware/catalog", "workloads/catalog"}; }

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

// What `text` returns in a child process; empty when it fails there.
inline std::string in_child(const std::function<std::string()>& text) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::string result;
    try {
      result = text();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    std::FILE* out = fdopen(ends[1], "w");
    std::fwrite(result.data(), 1, result.size(), out);
    std::fclose(out);
    _exit(0);
  }
  close(ends[1]);
  std::string result;
  char buffer[65536];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    result.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return result;
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

}  // namespace llmscape::testing
