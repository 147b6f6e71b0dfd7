// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface for programs of others: read a scenario, run it, look at the result. It needs no other header of
// llmscape and keeps to what stands here within a major version. One thread of a process at a time: runs share
// SimGrid's engine and the descriptions that were read before. Runs beside each other are processes.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace llmscape::scenario {
struct Scenario;
}
namespace llmscape::result {
struct RunResult;
}

namespace llmscape::api {

// One thing that is wrong with an input. Lines and columns count from 1; line 0 is the file as a whole.
struct Mistake {
  std::string file;
  int line = 0, column = 0;
  bool is_error = true;  // else a warning
  std::string message, suggestion;
};

// An input is wrong: what() is the text that `llmscape lint` prints, `mistakes` all that it says.
struct Refused : std::runtime_error {
  Refused(const std::string& text, std::vector<Mistake> all) : std::runtime_error(text), mistakes(std::move(all)) {}
  std::vector<Mistake> mistakes;
};

// The folder with models/catalog, hardware/catalog and workloads/catalog: that of the package that was found by
// find_package(llmscape), wherever it was moved to.
inline std::filesystem::path data_folder() {
#ifdef LLMSCAPE_DATA_FOLDER
  return LLMSCAPE_DATA_FOLDER;
#else
  return ".";  // the source tree, for its own tests
#endif
}

// A scenario that was read and is free of mistakes.
class Scenario {
 public:
  // `overrides` are "path=value", as --set takes them; `seed` replaces the scenario's. Throws Refused.
  static Scenario read(const std::filesystem::path& file, const std::vector<std::string>& overrides = {},
                       std::optional<std::int64_t> seed = {}, const std::filesystem::path& data = data_folder());

 private:
  friend class Result;
  std::shared_ptr<const scenario::Scenario> scenario_;
};

// What a run came to.
class Result {
 public:
  // The same scenario gives the same bytes, in one process as often as wanted. Throws Refused where the workload cannot
  // start (a trace that is broken), std::exception where an invariant breaks.
  static Result of_run(const Scenario& scenario);

  // Schema run/1: what `llmscape run --format json` prints.
  [[nodiscard]] std::string json() const;
  // "valid", "noisy", "unsteady", "saturated" or "truncated" (docs/metrics.md).
  [[nodiscard]] std::string verdict() const;
  // By the name of its column, as `llmscape list metrics` has them ("ttft_s.p99", "output_tokens_per_s"), in the unit
  // of the name; nothing where the run has none. Throws std::invalid_argument for a name that there is not.
  [[nodiscard]] std::optional<double> metric(const std::string& name) const;

 private:
  std::shared_ptr<const result::RunResult> result_;
};

}  // namespace llmscape::api
