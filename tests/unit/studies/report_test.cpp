// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sim/report/studies_json.hpp"
#include "sim/report/studies_page.hpp"
#include "sim/report/studies_picture.hpp"
#include "sim/report/studies_table.hpp"
#include "sim/report/study_figure.hpp"
#include "sim/report/svg.hpp"
#include "tests/unit/studies/support.hpp"

namespace llmscape::report {
namespace {

namespace test = studies::test;

// One run of 2 s. The first claim is 20 % off and held to 10 %, the second is half a second below its range.
struct Example {
  studies::Study study = test::study_of(
      "seeds: 1\n"
      "assumed: [{parameter: a.b, value: 3, reason: 'x | y'}]\n"
      "runs: {a: {scenario: s.yaml}, b: {scenario: s.yaml}}\n"
      "claims:\n"
      "  - {id: off, what: x, kind: close, evidence: abstract, source: table 1, value: a.ttft.mean, published: 2.5, "
      "tolerance: 10%, miss: no wind}\n"
      "  - {id: low, what: x, kind: range, evidence: derived, value: a.ttft.mean, published: [2.5, 3], miss: no sun}\n"
      "negative: [{id: n, what: nothing happens, holds: a.ttft.mean == 2}]\n"
      "same: [[a, b]]\n"
      "figure: {title: T, y: s, labels: [one, two], series: [{name: p & q, values: [a.ttft.mean, null]}]}\n");
  studies::StudyOutcome outcome;
  Example() {
    studies::Results results(study);
    test::found(results, 0, 0, 1, 2);
    test::found(results, 1, 0, 1, 2);
    outcome = studies::judge(study, results);
  }
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("errors are shares where the tolerance is one, and distances from a range") {
  const Example example;
  CHECK(cells_of(example.study.claims[0], example.outcome.claims[0]).error == "-20 %");
  CHECK(cells_of(example.study.claims[1], example.outcome.claims[1]).error == "-0.5");
  CHECK(studies_headline({example.outcome}) ==
        std::vector<std::string>{"Published claims: 0 of 1 close",
                                 "Derived, second-hand, from memory or our own: 0 of 1 range",
                                 "Tests: 1 of 1 negative tests, 1 of 1 equal runs"});
}

TEST_CASE("a calibration outside its tolerance says so, and counts neither way") {
  const studies::Study study = test::study_of(
      "seeds: 1\n"
      "runs: {a: {scenario: s.yaml}}\n"
      "claims:\n"
      "  - {id: set, what: x, kind: close, evidence: note, value: a.ttft.mean, published: 2.01, tolerance: 1%, "
      "calibration: true}\n"
      "  - {id: drifted, what: x, kind: close, evidence: note, value: a.ttft.mean, published: 2.03, tolerance: 1%, "
      "calibration: true}\n");
  studies::Results results(study);
  test::found(results, 0, 0, 1, 2);  // 0.5 % off the one and 1.5 % off the other
  const studies::StudyOutcome outcome = studies::judge(study, results);
  CHECK(cells_of(study.claims[0], outcome.claims[0]).verdict == "calibration");
  CHECK(cells_of(study.claims[1], outcome.claims[1]).verdict == "calibration (misses)");
  CHECK(outcome.as_declared());
  CHECK(claims_count(outcome, false).counted == 0);
}

TEST_CASE("the JSON has what was published, simulated and judged") {
  const Example example;
  const auto json = nlohmann::json::parse(studies_json({example.outcome}));
  CHECK(json.at("schema") == "studies/1");
  const auto& study = json.at("studies").at(0);
  CHECK(study.at("name") == "thing");
  CHECK(study.at("as_declared") == true);
  CHECK(study.at("all_hold") == false);
  const auto& claim = study.at("claims").at(0);
  CHECK(claim.at("published") == 2.5);
  CHECK(claim.at("simulated") == 2);
  CHECK(claim.at("low") == 2);
  CHECK(claim.at("high") == 2);
  CHECK(claim.at("verdict") == "misses");
  CHECK(claim.at("miss") == "no wind");
  CHECK(study.at("claims").at(1).at("published") == nlohmann::json({2.5, 3}));
  CHECK(study.at("claims").at(1).at("error") == -0.5);
  CHECK(study.at("negative").at(0).at("verdict") == "holds");
  CHECK(study.at("same").at(0).at("runs") == nlohmann::json({"a", "b"}));
  CHECK(claim.at("evidence") == "abstract");
  const nlohmann::json one({{"held", 0}, {"held_with_catalogue", 0}, {"counted", 1}});
  CHECK(json.at("summary").at("published").at("close") == one);
  CHECK(json.at("summary").at("other").at("range") == one);
}

TEST_CASE("the page shows a miss with its reason, and the assumptions") {
  const Example example;
  const std::string page = studies_page({example.outcome});
  CHECK(holds(page, "| [thing](#thing) | 0 of 1 | 0 of 1 | 1 of 1 | 1 of 1 |"));
  CHECK(holds(page, "| off | x | close | 2.5 | 2 | -20 % | ± 10% | **misses** | abstract: table 1 |"));
  CHECK(holds(page, "- off misses: no wind\n- low misses: no sun\n"));
  CHECK(holds(page,
              "\n## thing\n\nA thing that does things. **Reproduced: 0 of 1 published claims (not off); 0 of 1 others "
              "(not low).**\n"));
  CHECK(holds(page,
              "- Published claims: 0 of 1 close.\n- Derived, second-hand, from memory or our own: 0 of 1 range.\n"));
  CHECK(holds(page, "<details><summary>What is assumed, and why</summary>"));
  CHECK(holds(page, "| a.b | 3 | x \\| y |"));
  CHECK(holds(page, "- n: nothing happens\n"));
  CHECK(holds(page, "`a` = `b`."));
  CHECK(holds(page, "![T](pictures/studies/thing.svg)"));
  CHECK(holds(studies_table({example.outcome}, 120), "off misses: no wind"));
  CHECK_FALSE(holds(page, "## Not reproduced"));
  CHECK(holds(studies_page({example.outcome}, "## Not reproduced\n\nTea.\n"),
              ".svg)\n\n## Not reproduced\n\nTea.\n\n## How"));
}

TEST_CASE("the picture of all has a dot where simulated stands to published, on a log axis from 1/2 to 2") {
  Example example;
  CHECK(ratio_to_published(example.study.claims[0], example.outcome.claims[0]) == 0.8);  // 2 of 2.5
  CHECK(ratio_to_published(example.study.claims[1], example.outcome.claims[1]) == 0.8);  // 2 of [2.5, 3]
  const auto dots = [&] {
    const std::string svg = studies_picture({example.outcome});
    CHECK(holds(svg, "0 of 1</text>"));
    // Between 130 and 540: 335 + 205 log2(0.8) = 269.0, in the colour of a miss. The second claim is not published.
    CHECK(holds(svg, R"(<circle class="mark s1" cx="269.0" cy="86.0")"));
    std::size_t count = 0;
    for (std::size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) ++count;
    return count;
  };
  CHECK(dots() == 3);  // two of them in the legend
}

TEST_CASE("bars begin at zero, and what has no value is not drawn") {
  const Example example;
  const std::string svg = study_figure(*example.outcome.figure);
  CHECK(holds(svg, "p &amp; q"));
  // One bar from 0 (y = 280) to 2 (y = 84) beside the swatch of the legend and the ground.
  CHECK(holds(svg, R"(<rect class="mark s0" x=")"));
  CHECK(holds(svg, R"(y="84.0" width="44.0" height="196.0")"));
  std::size_t rectangles = 0;
  for (std::size_t at = svg.find("<rect"); at != std::string::npos; at = svg.find("<rect", at + 1)) ++rectangles;
  CHECK(rectangles == 3);
}

TEST_CASE("numbers on the axis make lines, wide ones in the log") {
  studies::DrawnFigure figure{"T", "x", "y", {"1", "10", "100"}, {1, 10, 100}, {{"n", {1, std::nullopt, 3}}}};
  const std::string svg = study_figure(figure);
  CHECK(holds(svg, "<circle"));
  // 10 lies half way between 1 and 100: in the middle of the plot, from 62 to 626 without the room of a name, 6.6 + 10.
  CHECK(holds(svg, R"(x="335.7" y="298.0" text-anchor="middle">10</text>)"));
  CHECK(holds(svg, R"(<text class="name" )"));
}

TEST_CASE("axes are read in engineering units, and lines go from left to right") {
  for (const auto& [value, unit, text] : {std::tuple(1e10, "bit/s", "10 Gbit/s"),
                                          {8.1e9, "bytes", "8.1 GB"},
                                          {131072., "prompt tokens", "128K"},
                                          {1e6, "tokens", "1M"},
                                          {50000., "tokens", "50K"},
                                          {0.04, "s", "40 ms"},
                                          {80., "s", "80 s"},
                                          {0.8, "share", "80 %"},
                                          {15000., "tokens/s", "15k"},
                                          {2500., "tokens/s", "2.5k"},
                                          {999., "times", "999"},
                                          {1024., "tokens", "1K"},
                                          {0., "bytes", "0"},
                                          {-0.5, "times", "-0.5"}})
    CHECK(engineering(value, unit) == text);
  const studies::DrawnFigure figure{"T", "tokens", "s", {"3", "1", "2"}, {3, 1, 2}, {{"n", {3, 1, 2}}}};
  const std::string svg = study_figure(figure);
  const std::size_t path = svg.find("<path class=\"line s0\" d=\"M");
  REQUIRE(path != std::string::npos);
  double before = 0;
  for (std::size_t at = path; svg[at] != '/'; ++at)
    if (svg[at] == 'M' || svg[at] == 'L') {
      const double x = std::stod(svg.substr(at + 1));
      CHECK(x > before);
      before = x;
    }
}

TEST_CASE("a picture that stands alone has colours for dark systems") {
  const Example example;
  for (const std::string& svg : {study_figure(*example.outcome.figure), studies_picture({example.outcome})}) {
    CHECK(holds(svg, "@media(prefers-color-scheme:dark)"));
    CHECK_FALSE(holds(svg, "fill=\"#"));  // a colour that does not follow
  }
}

}  // namespace llmscape::report
