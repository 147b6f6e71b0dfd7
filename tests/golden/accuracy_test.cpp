// SPDX-License-Identifier: Apache-2.0
// The accuracy page is what the command finds: a fit or a prediction that drifts shows here.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/files.hpp"
#include "tests/golden/golden_file.hpp"
#include "tests/support/alike.hpp"
#include "tests/support/run_program.hpp"

namespace {

// The median error in percent of a metric in the section of the page that `title` begins.
double median_error(const std::string& page, const std::string& title, const std::string& metric) {
  const std::size_t section = page.find("### " + title);
  REQUIRE(section != std::string::npos);
  std::size_t at = page.find("\n| " + metric + " | ", section);
  REQUIRE(at < page.find("\n### ", section + 1));
  for (int column = 0; column < 4; ++column) at = page.find('|', at + 1);
  return std::stod(page.substr(at + 1));
}

}  // namespace

TEST_CASE("docs/accuracy.md and README.md hold what `llmscape accuracy` computes") {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA is not set");
    return;
  }
  const auto page = std::filesystem::temp_directory_path() / ("llmscape-accuracy-" + std::to_string(getpid()) + ".md");
  const auto ran =
      llmscape::test::run_program({"accuracy", "--data", data, "-q", "--summary", "-o", page.string()}, 1800);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  std::string error;
  const auto text = llmscape::read_file(page, error);
  std::filesystem::remove(page);
  REQUIRE(text);
  CHECK(median_error(*text, "Closed-loop deployments", "tpot") <= 7);
  CHECK(median_error(*text, "Closed-loop deployments", "ttft") <= 17.5);
  if (std::getenv("LLMSCAPE_UPDATE_GOLDEN")) {
    llmscape::test::check_golden("docs/accuracy.md", *text);
    llmscape::test::check_golden_part("README.md", "accuracy", ran.out);
    return;
  }
  CHECK(llmscape::test::difference_beyond_rounding(*llmscape::read_file("docs/accuracy.md", error), *text, 0.1) == "");
  const std::string readme = *llmscape::read_file("README.md", error), begin = "<!-- begin accuracy -->\n";
  const std::size_t from = readme.find(begin) + begin.size(), to = readme.find("<!-- end accuracy -->");
  CHECK(llmscape::test::difference_beyond_rounding(readme.substr(from, to - from), ran.out, 0.1) == "");
}
