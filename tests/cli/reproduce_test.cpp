// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/scratch.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test::reproduce_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Two runs of 40 single calls with 32 tokens each, in a folder of their own.
std::string study(const Scratch& scratch, const std::string& claims) {
  scratch.file("tiny/s.yaml", small_scenario());
  scratch.file("tiny/study.yaml",
               "schema: study/1\ntitle: Tiny\nsummary: Two runs.\npaper: none\nabout: nothing\nseeds: 2\n"
               "runs: {a: {scenario: s.yaml}, b: {scenario: s.yaml, set: [serving.retries=3]}}\n" +
                   claims);
  return scratch.path("tiny");
}

const std::string kEmitted =
    "claims: [{id: e, what: x, kind: exact, evidence: derived, value: a.tokens.emitted, tolerance: 0, published: ";

}  // namespace

TEST_CASE("a study answers 0 when its verdicts are those it declares; --strict, when all holds") {
  const Scratch scratch;
  const std::string folder =
      study(scratch, kEmitted + "1280}]\nsame: [[a, b]]\nnegative: [{id: n, what: x, holds: a.ttft.mean > 0}]\n");
  const Ran right = run_program({"reproduce", folder, "-q"});
  CAPTURE(right.err);
  CHECK(right.code == 0);
  CHECK(holds(right.out, "our own: 1 of 1 exact\nTests: 1 of 1 negative tests, 1 of 1 equal runs\n"));
  CHECK(run_program({"reproduce", folder, "-q", "--strict"}).code == 0);
  study(scratch, kEmitted + "1281}]\n");
  const Ran undeclared = run_program({"reproduce", folder, "-q"});
  CHECK(undeclared.code == 1);
  CHECK(holds(undeclared.out, "e misses, and 'miss' does not say why"));
  study(scratch, kEmitted + "1281, miss: one too many}]\n");
  const Ran declared = run_program({"reproduce", folder, "-q"});
  CHECK(declared.code == 0);
  CHECK(holds(declared.out, "e misses: one too many"));
  CHECK(run_program({"reproduce", folder, "-q", "--strict"}).code == 1);
  study(scratch, kEmitted + "1280, miss: one too many}]\n");
  CHECK(run_program({"reproduce", folder, "-q"}).code == 1);
}

TEST_CASE("results do not depend on the jobs, and page and picture come from the same runs") {
  const Scratch scratch;
  const std::string folder = study(
      scratch, kEmitted + "1280}]\nfigure: {title: T, y: s, labels: [l], series: [{name: n, values: [a.e2e.mean]}]}\n");
  const Ran one = run_program({"reproduce", folder, "-q", "-j", "1", "--format", "json"});
  const Ran two = run_program({"reproduce", folder + "/study.yaml", "-q", "-j", "2", "--format", "json", "--markdown",
                               scratch.path("page.md"), "--figures", scratch.path("pictures")});
  CHECK(one.code == 0);
  CHECK(one.out == two.out);
  CHECK(nlohmann::json::parse(one.out).at("studies").at(0).at("claims").at(0).at("simulated") == 1280);
  CHECK(scratch.content("page.md") == run_program({"reproduce", folder, "-q", "--format", "md"}).out);
  CHECK(holds(scratch.content("page.md"), "![T](pictures/studies/tiny.svg)"));
  CHECK(scratch.content("pictures/tiny.svg").starts_with("<svg"));
}

TEST_CASE("what cannot be reproduced is refused before anything runs") {
  const Ran unknown = run_program({"reproduce", "efmi"});
  CHECK(unknown.code == 2);
  CHECK(holds(unknown.err, "there is no study 'efmi'"));
  CHECK(holds(unknown.err, "did you mean 'efim'?"));
  const Scratch scratch;
  const std::string folder = study(scratch, kEmitted + "1280}]\n");
  scratch.file("tiny/s.yaml", "schema: scenario/1\nmodel: no-such-model\n");
  const Ran refused = run_program({"reproduce", folder});
  CHECK(refused.code == 2);
  CHECK(holds(refused.err, "s.yaml:1:1: error: 'hardware' is required"));
  CHECK(holds(refused.err, "note: run 'a', " + folder + "/study.yaml:7"));
}

}  // namespace llmscape::test::reproduce_test
