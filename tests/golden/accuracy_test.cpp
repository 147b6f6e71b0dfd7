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

TEST_CASE("docs/accuracy.md and README.md hold what `llmscape accuracy` computes") {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  if (!data || !*data) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA is not set");
    return;
  }
  const auto page = std::filesystem::temp_directory_path() / ("llmscape-accuracy-" + std::to_string(getpid()) + ".md");
  const auto ran =
      llmscape::test::run_program({"accuracy", "--data", data, "-q", "--summary", "-o", page.string()}, 900);
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  std::string error;
  const auto text = llmscape::read_file(page, error);
  std::filesystem::remove(page);
  REQUIRE(text);
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
