// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "base/yaml_reader.hpp"

namespace llmscape::explore {

// The values of an axis, computed: the ends are written like the values, with the same unit.
struct RangeConfig {
  std::vector<YamlNode> linspace, logspace;  // both ends and `points` in all, evenly spread (in the log)
  std::optional<std::int64_t> points;
  std::vector<YamlNode> range;  // from the first end on by `step`, not beyond the second
  std::optional<YamlNode> step;
  std::vector<YamlNode> between;  // any value from the first to the second, for samples
  bool log = false;               // ... evenly spread in the log
  bool whole = false;             // values are rounded to whole numbers, each once
};
const Fields<RangeConfig>& range_fields();

enum class SampleMethod { sobol, latin_hypercube, random };

// Instead of all combinations: so many of them, spread over the axes.
struct SampleConfig {
  SampleMethod method = SampleMethod::sobol;
  std::int64_t points = 0;
  std::int64_t seed = 1;
};

// What the child that runs one point may take.
struct LimitsConfig {
  std::optional<Seconds> time;
  std::optional<Bytes> memory;
};

struct ObjectivesConfig {
  std::vector<std::string> maximize, minimize;
};

// A plan as its file says it (schema sweep/1).
struct PlanConfig {
  YamlNode base, set, variants, axes, zip;
  std::optional<std::string> folder;
  std::vector<YamlNode> exclude;
  std::optional<SampleConfig> sample;
  std::int64_t repeat = 1;
  bool intervals = false;
  bool skip_refused = false;
  LimitsConfig limits;
  ObjectivesConfig objectives;
  std::optional<std::string> slo;
};
const Fields<PlanConfig>& plan_fields();

}  // namespace llmscape::explore
