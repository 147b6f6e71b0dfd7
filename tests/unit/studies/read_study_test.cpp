// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/studies/support.hpp"

namespace llmscape::studies {
namespace {

const std::string kRuns = "runs: {a: {scenario: s.yaml}, b: {scenario: s.yaml, set: [seed=3], seeds: 1}}\n";

// The messages about a study with this claim, a line each.
std::string mistakes_of(const std::string& lines) {
  Diagnostics diagnostics;
  CHECK_FALSE(test::read(lines, diagnostics));
  std::string messages;
  for (const Diagnostic& d : diagnostics.sorted())
    messages +=
        std::to_string(d.where.line) + ": " + d.message + (d.suggestion.empty() ? "" : "; " + d.suggestion) + '\n';
  return messages;
}

}  // namespace

TEST_CASE("a study is named after its folder; runs inherit its seeds") {
  const Study study = test::study_of("seeds: 5\n" + kRuns + "claims: []\n");
  CHECK(study.name == "thing");
  REQUIRE(study.runs.size() == 2);
  CHECK(study.runs[0].seeds == 5);
  CHECK(study.runs[1].seeds == 1);
  CHECK(study.runs[1].set == std::vector<std::string>{"seed=3"});
}

TEST_CASE("kernels of all scenarios, more of one, and none for a run that has the catalogue's") {
  const std::string runs = "runs: {a: {scenario: s.yaml}, b: {scenario: s.yaml, kernels: false}}\nclaims: []\n";
  const Study study =
      test::study_of(runs + "kernels: {set: [x=1], scenarios: {s.yaml: {set: [y=2]}}, source: a paper}\n");
  CHECK(study.runs[0].kernels == std::vector<std::string>{"x=1", "y=2"});
  CHECK(study.runs[1].kernels.empty());
  CHECK(mistakes_of(runs + "kernels: {set: [x=1], scenarios: {t.yaml: {set: [y=2]}}, source: a paper}\n") ==
        "8: no run is of the scenario 't.yaml'\n");
}

TEST_CASE("names of runs are taken apart") {
  CHECK(split_run_name("a.kv.hit_rate").path == "kv.hit_rate");
  const RunName item = split_run_name("rate[2].pools[0].busy");
  CHECK(item.run == "rate");
  CHECK(item.item == "2");
  CHECK(item.path == "pools[0].busy");
  CHECK(split_run_name("rate[].value").indexed);
  CHECK(split_run_name("rate[].value").item.empty());
}

TEST_CASE("every mistake in a claim is found where it stands") {
  CHECK(mistakes_of(kRuns + "claims: [{id: x, what: x, kind: close, evidence: derived, value: c.ttft.mean, published: "
                            "1, tolerance: 1}]\n") == "7: there is no run 'c'\n");
  CHECK(mistakes_of(
            kRuns +
            "claims: [{id: x, what: x, kind: close, evidence: derived, value: 1, published: many, tolerance: 1}]\n") ==
        "7: 'published' must be a number; write it like 0.5, 50% or 20 ms\n");
  CHECK(mistakes_of(kRuns + "claims: [{id: x, what: x, kind: close, evidence: derived, value: 1, published: 1}]\n") ==
        "7: claim 'x' needs 'tolerance'\n");
  CHECK(mistakes_of(kRuns + "claims: [{id: x, what: x, kind: direction, evidence: derived, value: 1}]\n") ==
        "7: claim 'x' needs 'holds'\n");
  CHECK(mistakes_of(kRuns +
                    "claims: [{id: x, what: x, kind: range, evidence: derived, value: 1, published: [2, 1]}]\n") ==
        "7: the first end of a range is the lower one\n");
  CHECK(
      mistakes_of(kRuns + "claims: [{id: x, what: x, kind: direction, evidence: derived, holds: a < b.ttft.mean}]\n") ==
      "7: 'a' is a run: say which of its metrics; see 'llmscape list metrics'\n");
  CHECK(mistakes_of(kRuns +
                    "claims: [{id: x, what: x, kind: direction, evidence: derived, holds: 'a[1].ttft.mean < 1'}]\n") ==
        "7: 'a' is one run and has no items\n");
}

TEST_CASE("a claim says what its evidence is, and a study what it does in a line") {
  const Study study = test::study_of(
      kRuns + "claims: [{id: x, what: x, kind: direction, evidence: full_text, holds: a.ttft.mean < 1}]\n");
  CHECK(study.claims[0].evidence == Evidence::full_text);
  CHECK(study.summary == "A thing that does things.");
  CHECK(mistakes_of(kRuns + "claims: [{id: x, what: x, kind: direction, holds: 1 < 2}]\n")
            .starts_with("7: 'evidence' is required"));
  CHECK(is_published(Evidence::abstract));
  CHECK(is_published(Evidence::vendor));
  CHECK_FALSE(is_published(Evidence::note));
  CHECK_FALSE(is_published(Evidence::derived));
}

TEST_CASE("a named expression is known below it only") {
  CHECK(mistakes_of(kRuns + "let: {late: early * 2, early: a.ttft.mean}\nclaims: []\n") ==
        "7: there is no run 'early'\n");
  const Study study = test::study_of(kRuns + "let: {early: a.ttft.mean, late: early * 2}\nclaims: []\n");
  CHECK(study.lets.size() == 2);
  // What uses a broken one is not to blame.
  CHECK(mistakes_of(kRuns + "let: {early: 'a.ttft.mean +', late: early * 2}\nclaims: []\n") ==
        "7: a value is missing here\n");
}

TEST_CASE("items, seeds and names of files have limits") {
  CHECK(mistakes_of("runs: {r: {scenario: s.yaml, axis: seed, values: [1, 2]}}\n"
                    "claims: [{id: x, what: x, kind: direction, evidence: derived, holds: "
                    "'r[99999999999999999999].ttft.mean < 1'}]\n") ==
        "7: 'r' has no item '99999999999999999999': they count from 0 to 1\n");
  CHECK(mistakes_of("runs: {a: {scenario: s.yaml, seeds: 100000000000}}\nclaims: []\n") ==
        "6: 'seeds' must be at least 1 and at most 10000; got 100000000000\n");
  CHECK(mistakes_of("runs: {a: {scenario: " + std::string(300, 'x') + "}}\nclaims: []\n")
            .starts_with("6: there is no scenario"));
}

TEST_CASE("a bare word behind '==' is a text, unless it is a place in a run") {
  test::study_of(kRuns +
                 "claims: [{id: x, what: x, kind: direction, evidence: derived, holds: a.verdict.state == steady}]\n");
  CHECK(
      mistakes_of(
          kRuns +
          "claims: [{id: x, what: x, kind: direction, evidence: derived, holds: 'a.ttft.mean == b[0].ttft.mean'}]\n") ==
      "7: 'b' is one run and has no items\n");
}

TEST_CASE("pairs, ids, axes and figures are checked") {
  CHECK(mistakes_of(kRuns + "claims: []\nsame: [[a, b]]\n") == "8: 'a' and 'b' have not as many runs\n");
  CHECK(mistakes_of(kRuns + "claims: []\nsame: [[a, c]]\n") == "8: there is no run 'c'\n");
  CHECK(mistakes_of(kRuns + "claims: []\nsame: [[a, a]]\n") == "8: 'a' is compared with itself\n");
  CHECK(
      mistakes_of(kRuns + "claims: []\nnegative: [{id: x, what: x, holds: 1 < 2}, {id: x, what: x, holds: 1 < 2}]\n") ==
      "8: 'x' is the id of another one\n");
  CHECK(mistakes_of("runs: {a: {scenario: s.yaml, axis: seed}}\nclaims: []\n") ==
        "6: an axis has a path and values: 'axis' and 'values' stand together\n");
  CHECK(mistakes_of(kRuns +
                    "claims: []\nfigure: {title: t, y: s, labels: [p, q], series: [{name: n, values: [1, 2, 3]}]}\n") ==
        "8: series 'n' has 3 values for 2 labels\n");
}

}  // namespace llmscape::studies
