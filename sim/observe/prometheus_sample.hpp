// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "traces/row.hpp"

namespace llmscape::observe {

// A line of Prometheus' text format: name{label="value",...} NUMBER TIMESTAMP, with blanks or tabs between.
struct PrometheusSample {
  std::string_view name, number, stamp;  // of the line; the stamp may be empty
  std::map<std::string, std::string> labels;
  traces::Span values;  // from the number on

  // Empty where there is no such label.
  [[nodiscard]] std::string label(const std::string& key) const;
  // The labels but that one, in one order, however the line has them.
  [[nodiscard]] std::string labels_without(std::string_view key) const;
};

// Nothing after reporting labels that do not end.
std::optional<PrometheusSample> prometheus_sample(const traces::Row& row);

}  // namespace llmscape::observe
