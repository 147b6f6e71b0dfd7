// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/cli/scratch.hpp"
#include "tests/unit/explore/rows.hpp"

namespace llmscape::explore {
namespace {

const std::string kBase = "schema: sweep/1\nbase: {schema: scenario/1, model: qwen2.5-1.5b, seed: 7}\n";

std::optional<Plan> plan_of(const std::string& yaml, Diagnostics& diagnostics, const PlanChanges& changes = {}) {
  const llmscape::test::Scratch folder;
  return load_plan(folder.file("plan.yaml", kBase + yaml), changes, diagnostics);
}

Plan good_plan(const std::string& yaml, const PlanChanges& changes = {}) {
  Diagnostics diagnostics;
  auto plan = plan_of(yaml, diagnostics, changes);
  CAPTURE(diagnostics.text(false));
  REQUIRE(plan);
  return std::move(*plan);
}

std::vector<std::string> labels(const Plan& plan) {
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < plan.size(); ++i)
    if (const auto point = plan.point(i)) all.push_back(plan.label(*point));
  return all;
}

std::vector<std::string> values_of_axis(const std::string& axis) {
  std::vector<std::string> all;
  const Plan plan = good_plan("axes: {a.x: " + axis + "}\n");
  for (const Choice& choice : plan.axes().front().choices) all.push_back(choice.values.front());
  return all;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("all combinations, the last axis fastest, repeats faster still") {
  const Plan plan = good_plan("axes: {a.x: [1, 2], a.y: [u, v]}\nrepeat: 2\n");
  CHECK(plan.size() == 8);
  CHECK(labels(plan) == Words{"x=1 y=u seed=7", "x=1 y=u seed=8", "x=1 y=v seed=7", "x=1 y=v seed=8", "x=2 y=u seed=7",
                              "x=2 y=u seed=8", "x=2 y=v seed=7", "x=2 y=v seed=8"});
  CHECK(plan.point(5)->overrides == Words{"a.x=2", "a.y=u"});
  CHECK(plan.point(5)->repeat == 1);
}

TEST_CASE("ranges: both ends, evenly or by a factor, in the unit of the ends") {
  CHECK(values_of_axis("{linspace: [1 /s, 3 /s], points: 5}") == Words{"1 /s", "1.5 /s", "2 /s", "2.5 /s", "3 /s"});
  CHECK(values_of_axis("{logspace: [1 /s, 64 /s], points: 7}") ==
        Words{"1 /s", "2 /s", "4 /s", "8 /s", "16 /s", "32 /s", "64 /s"});
  CHECK(values_of_axis("{range: [0.1, 0.65], step: 0.1}") == Words{"0.1", "0.2", "0.3", "0.4", "0.5", "0.6"});
  CHECK(values_of_axis("{range: [0, 1], step: 0.1}").size() == 11);
  CHECK(values_of_axis("{logspace: [1, 8], points: 13, whole: true}") == Words{"1", "2", "3", "4", "5", "6", "7", "8"});
}

TEST_CASE("computed values have all digits of whole numbers, and as many as tell neighbours apart") {
  CHECK(values_of_axis("{range: [1000000, 1000004], step: 1}") ==
        Words{"1000000", "1000001", "1000002", "1000003", "1000004"});
  CHECK(values_of_axis("{linspace: [1048576, 2097152], points: 2, whole: true}") == Words{"1048576", "2097152"});
  CHECK(values_of_axis("{logspace: [1 B, 1073741824 B], points: 3}") == Words{"1 B", "32768 B", "1073741824 B"});
  CHECK(values_of_axis("{range: [1000000.5, 1000001.5], step: 0.5}") == Words{"1000000.5", "1000001", "1000001.5"});
  CHECK(values_of_axis("{linspace: [0, 1], points: 4}") == Words{"0", "0.333333", "0.666667", "1"});  // as six do
}

TEST_CASE("a zip varies together, a variant sets several paths") {
  const Plan plan = good_plan(
      "variants: {hardware: {edge: {h.kind: cim, h.count: 4}, rack: {h.kind: gpu}}}\n"
      "zip: {m.weights: [int8, int4], m.kv: [bf16, int8]}\n");
  CHECK(plan.columns() == Words{"hardware", "m.weights", "m.kv"});
  CHECK(labels(plan) == Words{"hardware=edge weights=int8 kv=bf16", "hardware=edge weights=int4 kv=int8",
                              "hardware=rack weights=int8 kv=bf16", "hardware=rack weights=int4 kv=int8"});
  CHECK(plan.point(1)->overrides == Words{"h.kind=cim", "h.count=4", "m.weights=int4", "m.kv=int8"});
}

TEST_CASE("what is excluded keeps its number, and others theirs") {
  const Plan plan = good_plan(
      "axes: {a.count: [1, 2, 4], a.rate: [8 /s, 64 /s]}\n"
      "exclude: [\"count == 1 and rate > 32 /s\", \"a.count == 4\"]\n");
  std::vector<std::uint64_t> left;
  for (std::uint64_t i = 0; i < plan.size(); ++i)
    if (plan.point(i)) left.push_back(i);
  CHECK(left == std::vector<std::uint64_t>{0, 2, 3});
}

TEST_CASE("a million points are named one by one") {
  const Plan plan = good_plan("axes: {a.x: {range: [1, 1000], step: 1}, a.y: {range: [1, 1000], step: 1}}\n");
  CHECK(plan.size() == 1'000'000);
  CHECK(plan.label(*plan.point(999'999)) == "x=1000 y=1000");
  CHECK(plan.label(*plan.point(1'234)) == "x=2 y=235");
}

TEST_CASE("samples of a Latin hypercube hit every part of every axis once") {
  const Plan plan = good_plan(
      "axes: {a.x: {between: [0, 1]}, a.y: {between: [10 /s, 1000 /s], log: true}}\n"
      "sample: {method: latin_hypercube, points: 50}\n");
  std::set<int> x, y;
  for (std::uint64_t i = 0; i < plan.size(); ++i) {
    const Point point = *plan.point(i);
    x.insert(static_cast<int>(std::get<double>(value_of(point.values[0])) * 50));
    y.insert(static_cast<int>(std::log10(std::get<double>(value_of(point.values[1])) / 10) * 25));
  }
  CHECK(x.size() == 50);
  CHECK(y.size() == 50);
}

TEST_CASE("any beginning of a Sobol sample covers lists and whole numbers evenly") {
  const Plan plan = good_plan(
      "axes: {a.x: [p, q, r, s], a.n: {between: [1, 8], whole: true}}\n"
      "sample: {points: 64, seed: 3}\n");
  std::map<std::string, int> x, n;
  for (std::uint64_t i = 0; i < 32; ++i) {
    const auto point = plan.point(i);
    REQUIRE(point);
    ++x[point->values[0]];
    ++n[point->values[1]];
  }
  CHECK(x == std::map<std::string, int>{{"p", 8}, {"q", 8}, {"r", 8}, {"s", 8}});
  CHECK(n.size() == 8);
  CHECK(std::ranges::all_of(n, [](const auto& count) { return count.second == 4; }));
}

TEST_CASE("a sample has no point twice: 16 draws of 4 x 2 values are 8 points") {
  const std::string axes = "axes: {a.n: {between: [1, 4], whole: true}, a.x: [p, q]}\n";
  for (const char* method : {"sobol", "latin_hypercube"}) {
    const Plan plan = good_plan(axes + "repeat: 2\nsample: {points: 16, method: " + method + "}\n");
    const Words all = labels(plan);
    CHECK(plan.size() == 32);
    CHECK(std::set(all.begin(), all.end()).size() == all.size());
    if (method == std::string("sobol")) CHECK(all.size() == 16);  // each of 8 with two seeds
  }
  CHECK(labels(good_plan("sample: {points: 3}\n")).size() == 1);
}

TEST_CASE("axes, values and repeats can be typed beside a plan, or beside a scenario") {
  const Plan plan = good_plan("axes: {a.x: [1, 2]}\n",
                              {{"a.y={logspace: [1, 4], points: 3}", "a.z=[[1, 2], [3]]"}, {"b.c=5"}, 2, true});
  CHECK(plan.columns() == Words{"a.x", "a.y", "a.z"});
  CHECK(plan.size() == 24);
  CHECK(plan.point(23)->overrides == Words{"a.x=2", "a.y=4", "a.z=[3]"});
  CHECK(plan.base().find("b")->find("c")->text == "5");
  CHECK(plan.config().intervals);
  const llmscape::test::Scratch folder;
  Diagnostics diagnostics;
  const auto one =
      load_plan(folder.file("scenario.yaml", "schema: scenario/1\nmodel: qwen2.5-1.5b\n"), {}, diagnostics);
  REQUIRE(one);
  CHECK(one->size() == 1);
  CHECK(one->label(*one->point(0)) == "the scenario itself");
}

TEST_CASE("an exclusion by a word that an axis never is is a mistake: it would exclude nothing") {
  const auto said = [](const std::string& exclusion) {
    Diagnostics diagnostics;
    plan_of("axes: {a.hw: [h100, a100], a.p: [1, 2]}\nexclude: [\"" + exclusion + "\"]\n", diagnostics);
    return diagnostics.text(false);
  };
  CHECK(said("hw == H100 and p == 1").find("'hw' never is 'H100'") != std::string::npos);
  CHECK(said("hw == H100 and p == 1").find("did you mean 'h100'?") != std::string::npos);
  CHECK(said("hw == h100 and p == 1").empty());
  CHECK(said("hw != a100").empty());
}

TEST_CASE("a plan says everything that is wrong with it at once") {
  Diagnostics diagnostics;
  CHECK_FALSE(
      plan_of("axes:\n"
              "  a.rate: {linspace: [1 /s, 3 ms], points: 4}\n"
              "  a.none: []\n"
              "  seed: [1, 2]\n"
              "  a.free: {between: [1, 2]}\n"
              "zip: {a.p: [1, 2], a.q: [1, 2, 3]}\n"
              "exclude: [\"rat == 3\", \"rate >\"]\n",
              diagnostics));
  const std::string text = diagnostics.text(false);
  for (const char* part :
       {"plan.yaml:4:29: error: '1 /s' and '3 ms' have different units",
        "plan.yaml:5:11: error: an axis has at least one value", "plan.yaml:6:3: error: no axis can be called 'seed'",
        "takes any value between two ends", "this has 3 values and 'a.p' has 2", "'rat' is not varied in this plan",
        "plan.yaml:9:30: error: a value is missing here"}) {
    CAPTURE(part);
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("exclusions and the SLO of a plan have the units of what they compare") {
  Diagnostics diagnostics;
  CHECK_FALSE(
      plan_of("axes: {a.rate: [8 /s, 64 /s], a.time: {between: [1 s, 9 s]}, a.count: [1, 2]}\n"
              "sample: {points: 4}\n"
              "exclude: [\"rate > 10\", \"time > 5\", \"count > 1\", \"rate > 10 /s\"]\n"
              "slo: 'ttft.p99 <= 400, tpot.p98 <= 20 ms'\n",
              diagnostics));
  const std::string text = diagnostics.text(false);
  CAPTURE(text);
  CHECK(diagnostics.errors() == 4);
  for (const char* part : {"plan.yaml:5:19: error: '10' needs a unit", "plan.yaml:5:32: error: '5' needs a unit",
                           "plan.yaml:6:19: error: '400' needs a unit, for example 400 ms",
                           "plan.yaml:6:24: error: 'tpot.p98' is neither a metric nor an axis"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
}

TEST_CASE("what a plan varies cannot be set beside it; what only some variants say can") {
  const std::string axes =
      "axes: {workload.rate: [1 /s, 2 /s]}\nvariants: {chip: {a: {model: x, slo.ttft: 1 s}, b: {model: y}}}\n";
  const auto said = [&](const std::string& plan_set, const std::vector<std::string>& set) {
    Diagnostics diagnostics;
    PlanChanges changes;
    changes.set = set;
    plan_of(axes + plan_set, diagnostics, changes);
    return diagnostics.text(false);
  };
  const std::string typed = said("", {"workload.rate=9 /s"});
  CHECK_MESSAGE(typed.find("'workload.rate' is varied in this plan: what is set has no effect") != typed.npos, typed);
  CHECK_MESSAGE(typed.find("use --axis workload.rate=9 /s") != typed.npos, typed);
  const std::string planned = said("set: {workload.rate: 9 /s, model: z}\n", {});
  CHECK_MESSAGE(planned.find("plan.yaml:5:7: error: 'workload.rate' is varied") != planned.npos, planned);
  CHECK_MESSAGE(planned.find("'model' is varied") != planned.npos, planned);
  CHECK(said("set: {slo.ttft: 2 s}\n", {"seed=8"}).empty());
}

TEST_CASE("what an axis that is laid later replaces is no axis, by whatever name it is called") {
  const auto said = [](const std::string& text) {
    Diagnostics diagnostics;
    plan_of(text, diagnostics);
    return diagnostics.text(false);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };
  const std::string whole = "serving.batcher: [{policy: vllm_v1}, {policy: orca}]",
                    part = "serving.batcher.max_num_seqs: [1, 8]";
  has(said("axes: {" + part + ", " + whole + "}\n"),
      "'serving.batcher.max_num_seqs' has no effect: 'serving.batcher' is laid later and replaces it");
  CHECK(said("axes: {" + whole + ", " + part + "}\n").empty());
  has(said("set: {serving.batcher.max_num_seqs: 4}\naxes: {" + whole + "}\n"),
      "'serving.batcher.max_num_seqs' has no effect: this plan varies 'serving.batcher', which replaces it");
  has(said("variants: {chip: {a: {" + std::string("serving.batcher.max_num_seqs: 1") + "}, b: {model: y}}}\naxes: {" +
           whole + "}\n"),
      "'serving.batcher.max_num_seqs' has no effect");
  // Some variants alone replace it: the others leave its effect.
  CHECK(said("set: {serving.batcher.max_num_seqs: 4}\nvariants: {chip: {a: {serving.batcher: {policy: orca}}, b: "
             "{slo.ttft: "
             "3 s}}}\n")
            .empty());
  has(said("axes: {workload.rate: [1 /s, 2 /s, 1 /s]}\n"), "'workload.rate' has the value '1 /s' twice");
}

// 2^53 + 1 is no double, and 2^63 - 1 the largest seed that a run takes.
TEST_CASE("seeds have all their digits, and are the plan's alone") {
  const auto seeds = [](const std::string& seed, std::int64_t repeat) {
    PlanChanges changes;
    changes.set = {"seed=" + seed};
    changes.repeat = repeat;
    const Plan plan = good_plan("", changes);
    return std::pair(plan.point(0)->seed, plan.point(plan.size() - 1)->seed);
  };
  CHECK(seeds("9007199254740993", 2) == std::pair(9007199254740993, 9007199254740994));
  CHECK(seeds("9223372036854775806", 2) == std::pair(9223372036854775806, 9223372036854775807));
  CHECK(seeds("1e3", 1) == std::pair(std::int64_t{1000}, std::int64_t{1000}));
  const auto said = [](const std::string& yaml, const std::string& seed, const std::string& part) {
    Diagnostics diagnostics;
    PlanChanges changes;
    changes.set = {"seed=" + seed};
    CHECK_FALSE(plan_of(yaml, diagnostics, changes));
    CHECK_MESSAGE(diagnostics.text(false).find(part) != std::string::npos, diagnostics.text(false));
  };
  said("repeat: 3\n", "9223372036854775806", "'seed' must be a whole number from");  // the third would be 2^63
  said("", "many", "'seed' must be a whole number; got 'many'");
  said("variants: {v: {a: {seed: 3}, b: {seed: 4}}}\n", "1",
       "plan.yaml:3:20: error: 'seed' of a variant has no effect");
}

TEST_CASE("keys of an axis without effect are refused, and an axis that is typed twice") {
  const auto said = [](const std::string& axis, const std::vector<std::string>& typed = {}) {
    Diagnostics diagnostics;
    PlanChanges changes;
    changes.axes = typed;
    plan_of("axes: {a.x: " + axis + "}\n", diagnostics, changes);
    return diagnostics.text(false);
  };
  const auto has = [](const std::string& text, int errors, const std::string& part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
    CHECK(text.find(std::to_string(errors) + " error") != std::string::npos);
  };
  const std::string many = said("{linspace: [1, 9], points: 4, log: true, step: 9}");
  has(many, 2, "plan.yaml:3:48: error: 'log' has no effect beside 'linspace'");
  has(many, 2, "plan.yaml:3:60: error: 'step' has no effect beside 'linspace'");
  has(said("{range: [1, 9], step: 2, points: 3}"), 1, "'points' has no effect beside 'range'");
  has(said("{logspace: [1, 9], points: 3, log: true}"), 1, "'log' has no effect beside 'logspace'");
  CHECK(said("{range: [1, 9], step: 2, whole: true}").empty());
  has(said("[1]", {"b.y=1,2", "b.y=3"}), 1, "--axis b.y=3:1:1: error: 'b.y' is varied by two --axis");
  CHECK(said("[1]", {"a.x=1,2", "b.y=3"}).empty());
}

TEST_CASE("objectives of a plan are metrics or axes, each once") {
  Diagnostics diagnostics;
  CHECK_FALSE(
      plan_of("axes: {a.x: [1, 2]}\n"
              "objectives: {maximize: [output_tokens_per_joul, x], minimize: ['ttft.p98', ttft.p99, ttft.p99]}\n",
              diagnostics));
  const std::string text = diagnostics.text(false);
  CAPTURE(text);
  CHECK(diagnostics.errors() == 3);
  for (const char* part : {"plan.yaml:4:25: error: 'output_tokens_per_joul' is neither a metric nor an axis",
                           "plan.yaml:4:65: error: 'ttft.p98' is neither a metric nor an axis",
                           "plan.yaml:4:86: error: the objective 'ttft.p99' stands twice"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part);
}

// Every process has more than 1 MB; 10^9 MB are more than the 2^47 bytes that one can have.
TEST_CASE("a limit of memory that this program is above already is refused") {
  Diagnostics diagnostics;
  CHECK_FALSE(plan_of("limits: {memory: 1 MB}\n", diagnostics));
  const std::string text = diagnostics.text(false);
  CHECK_MESSAGE(text.find("plan.yaml:3:18: error: 'memory' is the address space of a process") != text.npos, text);
  good_plan("limits: {memory: 1000000000 MB}\n");
}

TEST_CASE("a name in brackets and a number mean the same place") {
  Diagnostics diagnostics;
  const YamlNode root = read_yaml(
      std::make_shared<const SourceText>(SourceText{"x", "hardware: {devices: [{name: cpu}, {name: edge, count: 2}]}"}),
      diagnostics);
  CHECK(override_path(root, "hardware.devices[edge].count") == override_path(root, "hardware.devices[1].count"));
  CHECK(override_path(root, "hardware.devices[edge].count") != override_path(root, "hardware.devices[0].count"));
  CHECK(override_path(root, "hardware.devices[none].count").size() == 4);
}

}  // namespace llmscape::explore
