// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/support/run_program.hpp"

namespace llmscape::test::list_test {

TEST_CASE("nodes, links and tiers are listed with all keys that their entries may have") {
  for (const auto& [what, schema] : {std::pair("nodes", "node"), {"links", "link"}, {"tiers", "tier"}}) {
    const std::string table = run_program({"list", what, "--format", "markdown"}).out;
    const std::string head = table.substr(0, table.find('\n'));
    const auto keys = nlohmann::json::parse(run_program({"schema", schema}).out).at("properties");
    for (const auto& [key, of] : keys.items()) {
      std::string title = key;
      std::ranges::replace(title, '_', ' ');
      const bool shown = head.find("| " + title + " |") != std::string::npos;
      if (key != "schema" && key != "name") CHECK_MESSAGE(shown, what << ": " << key);
    }
  }
}

}  // namespace llmscape::test::list_test
