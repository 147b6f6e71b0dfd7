// SPDX-License-Identifier: Apache-2.0
// The accuracy page is what the command finds: a fit or a prediction that drifts shows here.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "sim/result/metric_table.hpp"
#include "tests/golden/golden_file.hpp"
#include "tests/support/alike.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/run_program.hpp"

using namespace llmscape;

namespace {

using Cells = std::vector<std::string>;

// The section of the page that a title begins.
std::string section(const std::string& page, const std::string& title) {
  const std::size_t from = page.find("# " + title + '\n');
  REQUIRE(from != std::string::npos);
  return page.substr(from, page.find("\n#", from) - from);
}

// The row of its tables that begins with these cells.
Cells row(const std::string& text, const std::string& beginning) {
  CAPTURE(beginning);
  const std::size_t from = text.find("\n| " + beginning + " | ");
  REQUIRE(from != std::string::npos);
  Cells cells;
  std::istringstream line(text.substr(from + 3, text.find('\n', from + 1) - from - 3));
  for (std::string cell; std::getline(line, cell, '|');) cells.push_back(cell);
  return cells;
}

// The first number behind `words`.
double after(const std::string& text, const std::string& words) {
  CAPTURE(words);
  const std::size_t at = text.find(words);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + words.size()));
}

// Public closed loops (ai-dynamo/aiconfigurator, silicon_sample.csv); no constant was fitted to them.
void check_closed_loops(const std::string& page) {
  const std::string loops = section(page, "Closed-loop deployments, H100 and H200");
  // metric, pairs, mean error, median, p90, bias, rank correlation
  const Cells tpot = row(loops, "tpot"), ttft = row(loops, "ttft"), rate = row(loops, "rate");
  CHECK(std::stoi(tpot[1]) >= 163);
  CHECK(std::stod(tpot[3]) <= 6);
  CHECK(std::stod(tpot[4]) <= 20);
  CHECK(std::stod(ttft[3]) <= 15);
  CHECK(std::stod(rate[6]) >= 0.97);
  CHECK(after(loops, "within one concurrency: at least ") >= 0.9);
}

// Full batches on H100s (ml-energy/leaderboard), to which nothing was fitted. Of power 8 % are asked. Watts at work,
// joules of a bit and of dense work are those of an H100 whose kernels were read one by one (traces/measured): at the
// measured rate power is met to 8.4 %. End to end the same figures come out too high, as steps are 11 to 14 % too
// short: small batches on several GPUs and experts.
void check_watts(const std::string& page) {
  const std::string all = section(page, "Watts and joules");
  // given, metric, rows, median, p90, bias, rank
  const auto of = [&all](const std::string& given, const std::string& metric) {
    return row(all, given + " | " + metric);
  };
  for (const char* given : {"end to end, prompts of 300 tokens (assumed)", "end to end, prompts of 600 tokens"}) {
    const Cells gap = of(given, "time between tokens"), power = of(given, "power"),
                joules = of(given, "joules of an output token");
    CHECK(std::stoi(power[2]) == 110);
    CHECK(std::stod(gap[3]) < 15);
    CHECK(std::stod(power[3]) < 10);
    CHECK(std::stod(power[4]) < 22);
    CHECK(std::abs(std::stod(power[5])) < 8);
    CHECK(std::stod(power[6]) > 0.965);
    CHECK(std::stod(joules[3]) < 12);  // 15 are asked
    CHECK(std::stod(joules[6]) > 0.98);
  }
  const std::string given = "measured rate put in, prompts of 300 tokens";
  const Cells power = of(given, "power");
  CHECK(std::stod(of(given, "time between tokens")[3]) < 0.1);
  CHECK(std::stod(of(given, "output tokens per second")[3]) < 2.5);
  CHECK(std::stod(power[3]) < 9);
  CHECK(std::stod(power[5]) < -2);  // the device rests while the host works
  CHECK(std::stod(of(given, "joules of an output token")[3]) < 10);
  // Prompts that are long and not recorded: watts do not depend on the guess.
  const std::string completion = "code completion, prompts of 1000 tokens (assumed)";
  CHECK(std::stod(of(completion, "power")[3]) < 7);
  CHECK(std::stod(of(completion, "joules of an output token")[6]) > 0.98);
}

// Nine of ten rows lie where other deployments, or other models, say that they lie; what 'run --intervals' multiplies
// by is what these rows give.
void check_server_spreads(const std::string& page) {
  const std::string minute = section(page, "In a minute");
  for (const char* what : {"\n| TPOT |", "\n| TTFT |", "\n| power of the GPUs |", "\n| joules of an output token |"})
    CHECK(after(minute.substr(minute.find(what)), "on servers ") >= 88);
  const std::pair<const char*, const char*> kept[] = {
      {"TPOT from ", "tpot_s.mean"},
      {"TTFT from ", "ttft_s.mean"},
      {"watts above those at rest from ", "mean_w"},
      {"output token above those at rest from ", "joules_per_output_token"}};
  std::size_t from = minute.find("*On servers*");
  for (const auto& [words, column] : kept) {
    CAPTURE(column);
    from = minute.find(words, from);
    REQUIRE(from != std::string::npos);
    const std::string fitted = minute.substr(from++);
    const metrics::ServerSpread& spread = *metrics::find_column(column)->metric->server;
    CHECK(spread.below == llmscape::testing::approx(after(fitted, words)).epsilon(0.03));
    CHECK(spread.above == llmscape::testing::approx(after(fitted, "times the low to ")).epsilon(0.05));
  }
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
  check_closed_loops(*text);
  check_watts(*text);
  check_server_spreads(*text);
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
