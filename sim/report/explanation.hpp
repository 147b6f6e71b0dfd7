// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

namespace llmscape::report {

// Why a run took the time and the joules that it took: first in sentences, then in tables.
struct Explanation {
  using Cell = std::variant<std::monostate, std::string, double>;
  struct Column {
    std::string key, header;
    std::string unit;  // of its numbers: "s", "J", "share"
  };
  struct Section {
    std::string key, title;
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
  };
  std::string about;  // model, hardware, seed, verdict
  std::vector<std::string> answer;
  std::vector<Section> sections;
  std::vector<std::string> warnings;
};

// Of a result (run/1). What it lacks, an older one its breakdown, is left out.
Explanation explain(const nlohmann::ordered_json& result);

}  // namespace llmscape::report
