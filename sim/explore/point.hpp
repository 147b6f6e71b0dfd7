// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/yaml_reader.hpp"
#include "sim/explore/series.hpp"
#include "sim/result/result.hpp"

namespace llmscape::explore {

// One scenario of many: the base with `overrides` laid over it.
struct Point {
  std::uint64_t index = 0;             // in the plan; numbers of excluded points are not given to others
  std::vector<std::string> values;     // one for each column of the plan, as written: "8 /s"
  std::vector<std::string> overrides;  // "path=value", in the order in which they are laid
  std::int64_t repeat = 0;
  std::int64_t seed = 1;
  template <class Message>
  void cross(Message& m) {
    m(index, values, overrides, repeat, seed);
  }
};

// What points/<id>.json holds (schema point/1, a line for each member):
//   schema     "point/1"
//   inputs     {path: hash of its content} of what was opened and the id does not cover; left out where that is none.
//              Relative paths start from the folder of the plan's base
//   id, repeat, seed            as in results.csv; the number in the plan is the plan's to say
//   values     {column: value as written}, in the order of the plan
//   scenario   the base with the point's values laid over it, as YAML text: what 'run --from' repeats. Relative paths
//              start from `folder` of the sweep's plan.yaml
//   result     run/1, as 'run --format json' prints it
//   curves     {"levels": [0, 0.01, ...], "ttft_s": [...], "tpot_s": [...], "itl_s": [...], "e2e_s": [...]}: quantiles
//   series     {"window_s": w, "largest_batch": n, "waiting": [...], "batch": [...], "kv_blocks": [...],
//              "power_w": [...]}
std::string point_json(const Point& point, const std::string& id, const std::vector<std::string>& columns,
                       const std::string& scenario, const std::map<std::string, std::string>& inputs,
                       const result::RunResult& result, const TimeLines& lines);

// The `inputs` of such a file, read without the rest of it; nothing if it is no point, or not a whole one: each ends
// with the two braces that close `series` and itself.
std::optional<std::map<std::string, std::string>> inputs_of(const std::filesystem::path& point_file);

// The scenario of a point that a sweep left behind, and the folder from which its relative paths start: the sweep's, as
// its plan.yaml says it, else that of the file. Nothing after reporting.
struct SavedScenario {
  YamlNode tree;
  std::filesystem::path folder;
};
std::optional<SavedScenario> saved_scenario(const std::filesystem::path& point_file, Diagnostics& diagnostics);

}  // namespace llmscape::explore
