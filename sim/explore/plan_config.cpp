// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/plan_config.hpp"

#include <fmt/format.h>

#include "sim/result/result.hpp"

namespace llmscape::explore {
namespace {

const Fields<SampleConfig>& sample_fields() {
  static const Fields<SampleConfig> fields = [] {
    Fields<SampleConfig> f("sample", "instead of all combinations: so many of them, spread over the axes");
    f.add_enum(
        "method", &SampleConfig::method,
        {{"sobol", SampleMethod::sobol},
         {"latin_hypercube", SampleMethod::latin_hypercube},
         {"random", SampleMethod::random}},
        "sobol: a scrambled Sobol sequence, of which every beginning is spread well; latin_hypercube: every axis "
        "is covered evenly; random: independent");
    f.add("points", &SampleConfig::points, "how many are drawn; a point that was drawn before is left out")
        .at_least(1)
        .required();
    f.add("seed", &SampleConfig::seed, "of the scrambling, or of the draws").at_least(0);
    return f;
  }();
  return fields;
}

const Fields<LimitsConfig>& limits_fields() {
  static const Fields<LimitsConfig> fields = [] {
    Fields<LimitsConfig> f("limits", "what the process that runs one point may take; above it the point has failed");
    f.add("time", &LimitsConfig::time, "of the clock on the wall").above(0);
    f.add("memory", &LimitsConfig::memory, "address space").above(0);
    return f;
  }();
  return fields;
}

const Fields<ObjectivesConfig>& objectives_fields() {
  static const Fields<ObjectivesConfig> fields = [] {
    Fields<ObjectivesConfig> f("objectives",
                               "what 'pareto', 'report' and 'optimize' look at when nothing else is said");
    f.add("maximize", &ObjectivesConfig::maximize, "metrics to maximise: [output_tokens_per_joule]");
    f.add("minimize", &ObjectivesConfig::minimize, "metrics to minimise: [ttft.p99]");
    return f;
  }();
  return fields;
}

}  // namespace

const Fields<RangeConfig>& range_fields() {
  static const Fields<RangeConfig> fields = [] {
    Fields<RangeConfig> f("range", "the values of an axis, computed; ends are written like values, with the same unit");
    f.add("linspace", &RangeConfig::linspace, "both ends of `points` values, evenly spread: [1 /s, 9 /s]");
    f.add("logspace", &RangeConfig::logspace, "both ends of `points` values, each the same multiple of the one before");
    f.add("points", &RangeConfig::points, "how many values linspace and logspace have").at_least(2);
    f.add("range", &RangeConfig::range, "from the first end on by `step`, not beyond the second");
    f.add("step", &RangeConfig::step, "between the values of a range");
    f.add("between", &RangeConfig::between, "any value from the first end to the second; needs `sample`");
    f.add("log", &RangeConfig::log, "samples of `between` are spread evenly in the log");
    f.add("whole", &RangeConfig::whole, "values are rounded to whole numbers, each once");
    return f;
  }();
  return fields;
}

const Fields<PlanConfig>& plan_fields() {
  static const Fields<PlanConfig> fields = [] {
    Fields<PlanConfig> f("sweep", "many runs: a base scenario and what is varied in it");
    f.add("base", &PlanConfig::base, "path of the scenario that all points start from, or the scenario itself")
        .required();
    f.add("folder", &PlanConfig::folder, "where relative paths of the base start; absent: where the base stands");
    f.add("set", &PlanConfig::set, "values laid over the base first: {workload.requests: 500}");
    f.add(
        "variants", &PlanConfig::variants,
        "axes whose values have a name and set several paths: {hardware: {edge: {hardware.devices: [...], ...}, ...}}");
    f.add("zip", &PlanConfig::zip,
          "paths that vary together, lists of equal length: {model.weights: [int8, int4], model.kv: [bf16, int8]}; or "
          "several such mappings");
    f.add("axes", &PlanConfig::axes,
          "paths that are varied, each with a list of values or a range: {workload.arrivals.rate: [1 /s, 2 /s]}");
    f.add("exclude", &PlanConfig::exclude,
          "conditions on the values of a point, each enough to leave it out: [\"count == 1 and rate > 32 /s\"]");
    f.add_group("sample", &PlanConfig::sample, sample_fields(),
                "instead of all combinations: so many of them, spread over the axes");
    f.add("repeat", &PlanConfig::repeat, "runs of each point, with seeds that count up from the scenario's")
        .at_least(1);
    f.add(
        "intervals", &PlanConfig::intervals,
        fmt::format("run each point {} times more with kernel times drawn from the errors of their fits, for intervals",
                    result::kIntervalRuns));
    f.add("skip_refused", &PlanConfig::skip_refused,
          "points whose scenario is refused (a model that does not fit its devices) are left out, not failed");
    f.add_group("limits", &PlanConfig::limits, limits_fields(), "what the process that runs one point may take");
    f.add_group("objectives", &PlanConfig::objectives, objectives_fields(),
                "what 'pareto', 'report' and 'optimize' look at when nothing else is said");
    f.add("slo", &PlanConfig::slo, "condition that a configuration must meet there: ttft.p99 <= 200 ms");
    return f;
  }();
  return fields;
}

}  // namespace llmscape::explore
