// SPDX-License-Identifier: Apache-2.0
// The page of the studies is what the program finds: a claim that drifts shows here.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/golden/golden_file.hpp"
#include "tests/support/run_program.hpp"

namespace {

using Json = nlohmann::json;

// Every verdict is the one that study.yaml declares; a miss has its reason, and each study has negative tests.
void check_study(const Json& study) {
  CAPTURE(study.at("name").get<std::string>());
  CHECK(study.at("problems") == Json::array());
  CHECK(study.at("as_declared") == true);
  for (const Json& claim : study.at("claims")) {
    CAPTURE(claim.at("id").get<std::string>());
    const bool fails = claim.at("verdict") == "misses" || claim.at("verdict") == "ties";
    CHECK(fails == claim.contains("miss"));
    if (claim.at("kind") == "exact") CHECK_FALSE(fails);
  }
  CHECK_FALSE(study.at("negative").empty());
  for (const Json& pair : study.at("same")) CHECK(pair.at("verdict") == "holds");
}

bool is_published(const Json& claim) {
  return std::set<std::string>{"abstract", "repository", "vendor", "full_text"}.contains(
      claim.at("evidence").get<std::string>());
}

// The counts of the summary, counted again from the claims.
void check_summary(const Json& json) {
  for (const char* group : {"published", "other"})
    for (const auto& [kind, count] : json.at("summary").at(group).items()) {
      CAPTURE(kind);
      int counted = 0, held = 0;
      for (const Json& study : json.at("studies"))
        for (const Json& claim : study.at("claims")) {
          const bool in_group = is_published(claim) == (std::string(group) == "published");
          if (claim.at("kind") != kind || !in_group || claim.at("verdict") == "calibration") continue;
          ++counted;
          held += claim.at("verdict") == "holds" ? 1 : 0;
        }
      CHECK(count.at("counted") == counted);
      CHECK(count.at("held") == held);
    }
}

// Of the close claims that counted before the first ten studies were put right (their ids are fixed in a file) no fewer
// hold than do now: 64 of 78, 82 %; what became a calibration since counts as it did then. They were 67 until
// efim.latency and fim.throughput, two numbers that were counted a second time, and minf.sglang.1m, of a column that
// its kernel had been fitted to, no longer held.
void check_first_ten(const Json& json) {
  std::map<std::string, std::string> verdicts;
  for (const Json& study : json.at("studies"))
    for (const Json& claim : study.at("claims"))
      verdicts[claim.at("id").get<std::string>()] = claim.at("verdict").get<std::string>();
  std::ifstream lines("tests/golden/data/close_claims_of_the_first_ten.txt");
  double counted = 0, held = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const std::string id = line.substr(0, line.find(' ')), before = line.substr(line.find(' ') + 1);
    CAPTURE(id);
    REQUIRE(verdicts.contains(id));
    const std::string& now = verdicts.at(id);
    ++counted;
    held += (now == "calibration" ? before : now) == "holds" ? 1 : 0;
  }
  CHECK(counted == 78);
  CHECK(held >= 64);
}

}  // namespace

TEST_CASE("docs/studies.md and its pictures are what `llmscape reproduce` finds, and the studies hold") {
  const llmscape::test::Scratch scratch;
  const auto ran = llmscape::test::run_program({"reproduce", "-q", "--format", "json", "--markdown",
                                                scratch.path("page.md"), "--figures", scratch.path("pictures")},
                                               900);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);  // misses are declared
  llmscape::test::check_golden("docs/studies.md", scratch.content("page.md"));
  const Json json = Json::parse(ran.out);
  CHECK_FALSE(json.at("studies").empty());
  std::vector<std::string> pictures{"published.svg"};
  for (const Json& study : json.at("studies")) {
    check_study(study);
    if (study.contains("figure")) pictures.push_back(study.at("name").get<std::string>() + ".svg");
  }
  for (const std::string& picture : pictures)
    llmscape::test::check_golden("docs/pictures/studies/" + picture, scratch.content("pictures/" + picture));
  check_summary(json);
  check_first_ten(json);
}
