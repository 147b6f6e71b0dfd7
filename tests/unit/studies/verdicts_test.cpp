// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "tests/unit/studies/support.hpp"

namespace llmscape::studies::verdicts_test {
namespace {

using test::found;
using test::study_of;

// Runs a (three seeds: 1 s, 2 s, 10 s) and b (one seed: 4 s).
const std::string kRuns = "runs: {a: {scenario: s.yaml, seeds: 3}, b: {scenario: s.yaml, seeds: 1}}\n";

Results three_and_one(const Study& study) {
  Results results(study);
  found(results, 0, 0, 1, 2);
  found(results, 0, 0, 2, 10);
  found(results, 0, 0, 3, 1);
  found(results, 1, 0, 1, 4);
  return results;
}

StudyOutcome judged(const Study& study) { return judge(study, three_and_one(study)); }

}  // namespace

TEST_CASE("a claim is the median over the seeds, with their 5 % and 95 % quantiles, held to its tolerance") {
  const Study study = study_of(
      kRuns +
      "claims:\n"
      "  - {id: shares, what: x, kind: close, evidence: derived, value: a.ttft.mean, published: 2.1, tolerance: 5%}\n"
      "  - {id: amount, what: x, kind: exact, evidence: derived, value: a.ttft.mean, published: 2.1 s, "
      "tolerance: 90 ms, miss: because}\n"
      "  - {id: none, what: x, kind: exact, evidence: derived, value: a.hit_rate, published: 50%, tolerance: 0}\n");
  const StudyOutcome outcome = judged(study);
  const ClaimOutcome& claim = outcome.claims[0];
  CHECK(claim.simulated == 2);  // of 1, 2, 10
  CHECK(claim.low == 1);
  CHECK(claim.high == 10);
  CHECK(claim.seeds == 3);
  CHECK(claim.verdict == Verdict::holds);  // 0.1 off, of 5 % of 2.1 = 0.105
  CHECK(outcome.claims[1].verdict == Verdict::misses);
  CHECK(outcome.claims[2].verdict == Verdict::holds);
  CHECK(outcome.count(ClaimKind::exact, false).counted == 2);
  CHECK(outcome.count(ClaimKind::exact, false).held == 1);
  CHECK(outcome.count(ClaimKind::exact, true).counted == 0);
  CHECK(outcome.as_declared());
  CHECK_FALSE(outcome.all_hold());
}

TEST_CASE("a run with one seed goes with every seed of the others") {
  const Study study =
      study_of(kRuns +
               "let: {ratio: a.ttft.mean / b.ttft.mean}\n"
               "claims:\n"
               "  - {id: most, what: x, kind: direction, evidence: derived, holds: ratio < 3, value: ratio}\n"
               "  - {id: few, what: x, kind: direction, evidence: derived, holds: ratio > 3, miss: because}\n");
  const StudyOutcome outcome = judged(study);
  CHECK(outcome.claims[0].share == 1);
  CHECK(outcome.claims[0].verdict == Verdict::holds);
  CHECK(outcome.claims[0].simulated == 0.5);  // 2 / 4
  CHECK(outcome.claims[1].verdict == Verdict::misses);
}

TEST_CASE("a direction holds when three seeds of four say so, misses when three say no, and else ties") {
  const Study study = study_of(
      "runs: {a: {scenario: s.yaml, seeds: 20}}\n"
      "claims:\n"
      "  - {id: fifteen, what: x, kind: direction, evidence: note, holds: a.ttft.mean <= 15}\n"
      "  - {id: fourteen, what: x, kind: direction, evidence: note, holds: a.ttft.mean <= 14, miss: because}\n"
      "  - {id: six, what: x, kind: direction, evidence: note, holds: a.ttft.mean <= 6}\n"
      "  - {id: five, what: x, kind: direction, evidence: note, holds: a.ttft.mean <= 5, miss: because}\n"
      "negative: [{id: most, what: x, holds: a.ttft.mean <= 14, miss: because}]\n");
  Results results(study);
  for (std::int64_t seed = 1; seed <= 20; ++seed) found(results, 0, 0, seed, static_cast<double>(seed));
  const StudyOutcome outcome = judge(study, results);
  CHECK(outcome.claims[0].verdict == Verdict::holds);
  CHECK(outcome.claims[1].verdict == Verdict::ties);
  CHECK(outcome.claims[2].verdict == Verdict::ties);
  CHECK(outcome.claims[3].verdict == Verdict::misses);
  CHECK(outcome.problems == std::vector<std::string>{"six ties, and 'miss' does not say why"});
  CHECK(outcome.count(ClaimKind::direction, false).held == 1);
  CHECK(outcome.count(ClaimKind::direction, false).counted == 4);
  CHECK_FALSE(outcome.negative[0].holds);
}

TEST_CASE("what is declared to miss fails no study, unless all must hold; calibrations do not count") {
  const std::string claims =
      "claims:\n"
      "  - {id: wide, what: x, kind: range, evidence: derived, value: a.ttft.mean, published: [3, 4], miss: because}\n"
      "  - {id: set, what: x, kind: close, evidence: derived, value: a.ttft.mean, published: 9, tolerance: 1%, "
      "calibration: true}\n";
  const Study study = study_of(kRuns + claims);
  const StudyOutcome outcome = judged(study);
  CHECK(outcome.claims[0].verdict == Verdict::misses);
  CHECK(outcome.claims[1].verdict == Verdict::calibration);
  CHECK(outcome.count(ClaimKind::close, false).counted == 0);
  CHECK(outcome.as_declared());
  CHECK_FALSE(outcome.all_hold());
  const Study loses =
      study_of(kRuns + claims + "negative: [{id: n, what: x, holds: a.ttft.mean > 4, miss: because}]\n");
  CHECK(judged(loses).as_declared());
  CHECK_FALSE(judged(loses).all_hold());
  CHECK(judged(loses).negative_count().held == 0);
}

TEST_CASE("a miss needs a reason, and a reason needs a miss") {
  const Study study =
      study_of(kRuns +
               "claims:\n"
               "  - {id: silent, what: x, kind: range, evidence: derived, value: a.ttft.mean, published: [3, 4]}\n"
               "  - {id: stale, what: x, kind: range, evidence: derived, value: a.ttft.mean, published: [1, 4], miss: "
               "because}\n");
  const StudyOutcome outcome = judged(study);
  REQUIRE(outcome.problems.size() == 2);
  CHECK(outcome.problems[0] == "silent misses, and 'miss' does not say why");
  CHECK(outcome.problems[1] == "stale holds, and 'miss' says why not");
  CHECK_FALSE(outcome.as_declared());
}

TEST_CASE("what is equal are the bytes of every run") {
  const std::string lines =
      "runs: {a: {scenario: s.yaml, seeds: 2}, b: {scenario: s.yaml, seeds: 2}}\n"
      "claims: []\nsame: [[a, b]]\n";
  const Study study = study_of(lines);
  Results results(study);
  for (const std::size_t run : {0u, 1u})
    for (const std::int64_t seed : {1, 2}) found(results, run, 0, seed, static_cast<double>(seed));
  CHECK(judge(study, results).same == std::vector<bool>{true});
  results.at(1, 0, 2).text += ' ';
  const StudyOutcome outcome = judge(study, results);
  CHECK(outcome.same == std::vector<bool>{false});
  CHECK_FALSE(outcome.as_declared());
}

TEST_CASE("an axis is a list of runs") {
  const Study study = study_of(
      "seeds: 1\n"
      "runs: {rate: {scenario: s.yaml, axis: workload.rate, values: [1 /s, 2 /s, 4 /s]}}\n"
      "claims:\n"
      "  - {id: last, what: x, kind: exact, evidence: derived, value: 'rate[2].ttft.mean', published: 8, tolerance: "
      "0}\n"
      "  - {id: sum, what: x, kind: exact, evidence: derived, value: 'sum(rate[].ttft.mean)', published: 11, "
      "tolerance: 0}\n"
      "  - {id: load, what: x, kind: exact, evidence: derived, value: 'crossing(rate[].value, rate[].ttft.mean, 5)', "
      "published: 3, "
      "tolerance: 0}\n"
      "figure: {title: t, y: s, labels: ['rate[].value'], series: [{name: n, values: ['rate[].ttft.mean * 2']}]}\n");
  Results results(study);
  found(results, 0, 0, 1, 1);
  found(results, 0, 1, 1, 2);
  found(results, 0, 2, 1, 8);  // 5 lies half way between 2 and 8: at 3 /s
  const StudyOutcome outcome = judge(study, results);
  for (const ClaimOutcome& claim : outcome.claims) CHECK(claim.verdict == Verdict::holds);
  REQUIRE(outcome.figure);
  CHECK(outcome.figure->places == std::vector<double>{1, 2, 4});
  CHECK(outcome.figure->series[0].values == std::vector<std::optional<double>>{2, 4, 16});
}

TEST_CASE("a claim without a value says which run or name is to blame") {
  const Study study = study_of(kRuns +
                               "claims:\n"
                               "  - {id: typo, what: x, kind: exact, evidence: derived, value: a.kv.hit_rat, "
                               "published: 1, tolerance: 0, miss: because}\n"
                               "  - {id: lost, what: x, kind: exact, evidence: derived, value: b.ttft.mean, published: "
                               "1, tolerance: 0, miss: because}\n");
  Results results = three_and_one(study);
  results.at(1, 0, 1) = {"", {}, "out of memory"};
  const StudyOutcome outcome = judge(study, results);
  CHECK_FALSE(outcome.claims[0].simulated);
  REQUIRE(outcome.problems.size() == 3);
  CHECK(outcome.problems[0] == "run 'b' failed with seed 1: out of memory");
  CHECK(outcome.problems[1] == "typo: run 'a' has no value 'kv.hit_rat'; did you mean 'kv.hit_rate'?");
  CHECK(outcome.problems[2] == "lost: run 'b' failed with seed 1: out of memory");
}

TEST_CASE("a place in a result is named whole: no item is taken for another") {
  const Study study = study_of(
      kRuns +
      "claims:\n"
      "  - {id: all, what: x, kind: exact, evidence: derived, value: 'b.groups[].x', published: 7, tolerance: 0, miss: "
      "because}\n"
      "  - {id: word, what: x, kind: exact, evidence: derived, value: 'b.groups[one].x', published: 7, tolerance: 0, "
      "miss: "
      "because}\n"
      "  - {id: first, what: x, kind: exact, evidence: derived, value: 'b.groups[0].x', published: 7, tolerance: 0}\n");
  Results results = three_and_one(study);
  results.at(1, 0, 1).json["groups"] = {{{"x", 7}}};
  const StudyOutcome outcome = judge(study, results);
  CHECK_FALSE(outcome.claims[0].simulated);
  CHECK_FALSE(outcome.claims[1].simulated);
  CHECK(outcome.claims[2].verdict == Verdict::holds);
}

TEST_CASE("a named expression is computed once for each seed, however many others use it") {
  std::string lets = "let: {l0: a.ttft.mean";
  for (int i = 1; i <= 60; ++i) lets += fmt::format(", l{}: l{} + l{}", i, i - 1, i - 1);
  const Study study =
      study_of(kRuns + lets +
               "}\nclaims: [{id: x, what: x, kind: exact, evidence: derived, value: l60 / l59, published: 2, "
               "tolerance: 0}, {id: y, what: x, kind: exact, evidence: derived, value: l60 / 0, published: 2, "
               "tolerance: 0, miss: because}]\n");
  const StudyOutcome outcome = judged(study);
  CHECK(outcome.claims[0].verdict == Verdict::holds);
  CHECK(outcome.problems == std::vector<std::string>{"y: 'l60 / 0' has no value"});
}

TEST_CASE("what is only shown must have a value too: beside a direction, and in a figure") {
  const Study study =
      study_of(kRuns +
               "claims: [{id: x, what: x, kind: direction, evidence: derived, holds: 1 < 2, value: a.nope}]\n"
               "figure: {title: t, y: s, labels: [p, q], series: [{name: n, values: [a.ttft.mean, "
               "b.nope]}, {name: m, values: [null, 1]}, {name: l, values: ['list(1, 2, 3)']}]}\n");
  const StudyOutcome outcome = judged(study);
  CHECK(outcome.problems == std::vector<std::string>{"x: run 'a' has no value 'nope'",
                                                     "figure: run 'b' has no value 'nope'",
                                                     "figure: series 'l' has 3 values for 2 labels"});
  CHECK_FALSE(outcome.as_declared());
  CHECK(outcome.figure->series[2].values.size() == 2);
}

TEST_CASE("a condition on a list is one for each item: a claim holds one of all of them") {
  const Study study = study_of(
      "seeds: 1\nruns: {rate: {scenario: s.yaml, axis: workload.rate, values: [1 /s, 2 /s]}}\n"
      "claims:\n"
      "  - {id: all, what: x, kind: direction, evidence: own, holds: 'all(rate[].ttft.mean > 1)'}\n"
      "  - {id: list, what: x, kind: direction, evidence: own, holds: 'rate[].ttft.mean > 1', miss: because}\n");
  Results results(study);
  found(results, 0, 0, 1, 2);
  found(results, 0, 1, 1, 3);
  const StudyOutcome outcome = judge(study, results);
  CHECK(outcome.claims[0].verdict == Verdict::holds);
  CHECK(outcome.problems ==
        std::vector<std::string>{"list: 'rate[].ttft.mean > 1' is a list of conditions: write all(...) around it"});
}

TEST_CASE("a run that fails on the catalogue's kernels is a problem") {
  const Study study =
      study_of(kRuns +
               "kernels: {set: [a.b=1], source: a paper}\n"
               "claims: [{id: x, what: x, kind: exact, evidence: derived, value: b.ttft.mean, published: 4, "
               "tolerance: 0}]\n");
  Results catalogue = three_and_one(study);
  catalogue.at(1, 0, 1) = {"", {}, "out of memory"};
  const StudyOutcome outcome = judge(study, three_and_one(study), &catalogue);
  CHECK(outcome.problems ==
        std::vector<std::string>{"run 'b' failed on the catalogue's kernels with seed 1: out of memory"});
  CHECK_FALSE(outcome.as_declared());
}

TEST_CASE("with kernels of its own, a study is judged by them, and what the catalogue's give stands beside") {
  const Study study = study_of(
      kRuns +
      "kernels: {set: [a.b=1], source: a paper}\n"
      "claims:\n"
      "  - {id: near, what: x, kind: close, evidence: derived, value: b.ttft.mean, published: 4, tolerance: 1%}\n"
      "  - {id: far, what: x, kind: close, evidence: derived, value: b.ttft.mean, published: 6, tolerance: 1%, miss: "
      "because}\n"
      "  - {id: set, what: x, kind: close, evidence: derived, value: b.ttft.mean, published: 6, tolerance: 1%, "
      "calibration: true}\n");
  REQUIRE(study.kernels);
  CHECK(study.kernels->set == std::vector<std::string>{"a.b=1"});
  CHECK_FALSE(without_kernels(study).kernels);
  Results catalogue = three_and_one(study);
  found(catalogue, 1, 0, 1, 6);
  const Results own = three_and_one(study);
  const StudyOutcome outcome = judge(study, own, &catalogue);
  CHECK(outcome.claims[0].simulated == 4);
  CHECK(outcome.claims[0].catalogue == 6);
  CHECK(outcome.claims[0].verdict == Verdict::holds);
  CHECK(outcome.claims[0].catalogue_verdict == Verdict::misses);
  CHECK(outcome.claims[1].verdict == Verdict::misses);
  CHECK(outcome.claims[1].catalogue_verdict == Verdict::holds);
  const Count count = outcome.count(ClaimKind::close, false);
  CHECK(count.held == 1);
  CHECK(count.held_with_catalogue == 1);  // the other one; a calibration never counts
  CHECK(count.counted == 2);
}

}  // namespace llmscape::studies::verdicts_test
