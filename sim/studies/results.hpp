// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/studies/study.hpp"

namespace llmscape::studies {

// What one simulation left: run.json as bytes and as a tree.
struct Outcome {
  std::string text;  // schema run/1, or analytic/1; empty if it failed
  nlohmann::json json;
  std::string why;  // it failed
};

// All simulations of a study.
class Results {
 public:
  explicit Results(const Study& study);
  [[nodiscard]] const Outcome& at(std::size_t run, std::size_t point, std::int64_t seed) const {
    return outcomes_[run][point][static_cast<std::size_t>(seed - 1)];
  }
  Outcome& at(std::size_t run, std::size_t point, std::int64_t seed) {
    return outcomes_[run][point][static_cast<std::size_t>(seed - 1)];
  }

 private:
  std::vector<std::vector<std::vector<Outcome>>> outcomes_;  // by run, point of its axis, seed
};

// Reads each scenario with the first seed, so that mistakes are found before anything runs; each says of which run.
void check_scenarios(const Study& study, const scenario::Catalogs& catalogs, Diagnostics& diagnostics);

// Runs all simulations of all studies on the bare event queue, in child processes, `jobs` at once. The results do not
// depend on `jobs`. What could not be simulated says why.
std::vector<Results> simulate(const std::vector<Study>& studies, const scenario::Catalogs& catalogs, int jobs,
                              const std::function<void(double share)>& progress);

}  // namespace llmscape::studies
