// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/explore/plan.hpp"
#include "tests/cli/scratch.hpp"

namespace llmscape::explore {
namespace {

std::optional<Plan> read_plan(const std::string& yaml, Diagnostics& diagnostics, const PlanChanges& changes = {}) {
  const llmscape::test::Scratch folder;
  const std::string base = "schema: sweep/1\nbase: {schema: scenario/1, model: qwen2.5-1.5b, seed: 7}\n";
  return load_plan(folder.file("plan.yaml", base + yaml), changes, diagnostics);
}

}  // namespace

TEST_CASE("a broken axis is one mistake: what names it is none") {
  Diagnostics diagnostics;
  CHECK_FALSE(
      read_plan("axes: {a.rate: {linspace: [1 /s, 3 ms], points: 4}}\nexclude: [\"rate > 2 /s\", \"rat > 2 /s\"]\n"
                "objectives: {minimize: [rate]}\n",
                diagnostics));
  const std::string text = diagnostics.text(false);
  CHECK_MESSAGE(diagnostics.errors() == 2, text);  // the range, and 'rat'
  CHECK(text.find("'rat' is not varied in this plan") != text.npos);
  CHECK(text.find("did you mean 'rate'?") != text.npos);
}

TEST_CASE("an axis has a name that conditions can say, in letters of any language") {
  Diagnostics none;
  const auto plan =
      read_plan("variants: {größe: {klein: {a.x: 1}, groß: {a.x: 2}}}\nexclude: [\"größe == groß\"]\n", none);
  REQUIRE_MESSAGE(plan, none.text(false));
  REQUIRE(plan->size() == 2);
  CHECK(plan->label(*plan->point(0)) == "größe=klein");
  CHECK_FALSE(plan->point(1));
  for (const char* name : {"my size", "2x", "a+b", "and"}) {
    Diagnostics diagnostics;
    CHECK_FALSE(read_plan(std::string("variants: {") + name + ": {a: {a.x: 1}, b: {a.x: 2}}}\n", diagnostics));
    const std::string text = diagnostics.text(false);
    CHECK_MESSAGE(text.find(std::string("3:12: error: no condition could name the axis '") + name) != text.npos, text);
  }
}

TEST_CASE("of two values that are typed for one place the first has no effect") {
  const auto errors = [](const std::vector<std::string>& set) {
    Diagnostics diagnostics;
    PlanChanges changes;
    changes.set = set;
    read_plan("", diagnostics, changes);
    return diagnostics.sorted();
  };
  const auto twice = errors({"slo.ttft=1 s", "slo.tpot=9 ms", "slo.ttft=2 s"});
  REQUIRE(twice.size() == 1);
  CHECK(twice[0].message == "'slo.ttft' has no effect: 'slo.ttft=2 s' is set later");
  CHECK(twice[0].where.length == 8);
  CHECK(errors({"slo.ttft=1 s", "slo={tpot: 2 ms}"}).size() == 1);
  CHECK(errors({"slo={tpot: 2 ms}", "slo.ttft=1 s"}).empty());  // one within the other
}

}  // namespace llmscape::explore
