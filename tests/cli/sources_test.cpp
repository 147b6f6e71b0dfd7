// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/catalog.hpp"
#include "base/sourced.hpp"
#include "tests/support/run_program.hpp"

namespace llmscape::test {
namespace {

// How many of a thing there are, and shapes that were compiled: choices of whoever describes it, no figures.
constexpr std::array<std::string_view, 6> kChoices = {"count",       "devices",     "threads",
                                                      "prompt_tile", "batch_slots", "context_buckets"};

bool is_number(std::string_view value) {
  value.remove_prefix(std::min(value.find_first_not_of("[- "), value.size()));
  return !value.empty() && std::isdigit(static_cast<unsigned char>(value.front()));
}

// The lines of a shown device with a number behind which no tag stands, and none in a mapping that holds it.
std::vector<std::string> bare_numbers(const std::string& shown) {
  struct Number {
    std::string line;
    std::vector<int> mappings;  // that hold it
  };
  std::vector<Number> numbers;
  std::set<int> tagged;
  std::vector<std::pair<std::size_t, int>> open;  // mappings by their indentation
  int mappings = 0;
  std::string list;  // the key whose items follow
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(' '), indent = line.find_first_not_of(" -");
    const bool item = line.compare(first, 2, "- ") == 0 && !is_number(line.substr(first + 2));
    while (!open.empty() && open.back().first > (item ? first : indent)) open.pop_back();
    if (open.empty() || open.back().first < indent) open.emplace_back(indent, ++mappings);
    const std::size_t comment = std::min(line.find("  # "), line.size());
    const std::size_t colon = std::min(line.find(": "), comment);
    if (line.ends_with(':')) list = line.substr(indent, line.size() - 1 - indent);
    const std::string key = colon < comment ? line.substr(indent, colon - indent) : list;
    if (key == "tag") tagged.insert(open.back().second);
    if (std::ranges::find(kChoices, key) != kChoices.end()) continue;
    const std::string value = colon < comment ? line.substr(colon + 2) : line.substr(first);
    const bool sourced = std::ranges::any_of(
        kTagNames, [&](std::string_view tag) { return line.find("; " + std::string(tag), comment) != line.npos; });
    if (!is_number(value) || sourced) continue;
    numbers.push_back({line, {}});
    for (const auto& [at, mapping] : open) numbers.back().mappings.push_back(mapping);
  }
  std::vector<std::string> bare;
  for (const Number& number : numbers)
    if (std::ranges::none_of(number.mappings, [&](int mapping) { return tagged.contains(mapping); }))
      bare.push_back(number.line);
  return bare;
}

}  // namespace

TEST_CASE(
    "show prints a source or the word assumed with every number of a CIM device, and with all that others state") {
  const auto names = catalog_names("hardware/catalog");
  CHECK(std::ranges::find(names, "edgecim") != names.end());
  for (const std::string& name : names) {
    CAPTURE(name);
    const Ran ran = run_program({"show", "hardware/" + name});
    CHECK(ran.code == 0);
    const bool strict = ran.out.starts_with("kind: cim ");
    for (const std::string& line : bare_numbers(ran.out))
      if (strict || !line.ends_with("# default")) FAIL_CHECK(line);
  }
}

TEST_CASE("numbers without a source are found, those beside a tag are not missed") {
  CHECK(bare_numbers("clock: 200 MHz  # x.yaml:3; assumed: an example\n").empty());
  CHECK(bare_numbers("clock: 200 MHz  # x.yaml:3\n").size() == 1);
  CHECK(bare_numbers("gemm:\n  launch: 2 us  # x.yaml:3\n  tag: fitted  # x.yaml:4\n").empty());
  CHECK(bare_numbers("gemm:\n  tag: fitted  # x.yaml:4\nhost:\n  per_step: 2 us  # x.yaml:3\n").size() == 1);
  CHECK(bare_numbers("links:\n  - ranks: 2  # x\n    tag: fitted  # x\n  - ranks: 4  # x\n").size() == 1);
  CHECK(bare_numbers("fit:\n  points:\n    - -2.5  # x\n  tag: fitted  # x\n").empty());
  CHECK(bare_numbers("fit:\n  points:\n    - -2.5  # x\n").size() == 1);
}

}  // namespace llmscape::test
