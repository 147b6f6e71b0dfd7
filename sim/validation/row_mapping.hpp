// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/expression.hpp"
#include "base/fields.hpp"

// How a foreign table of measurements is read (schema rows/1, docs/rows.md): which of its columns are ours, and what
// its rows say of a scenario beyond them.
namespace llmscape::validation {

// A whole number inside a cell: "clients=64; image 3" has 64 after "clients=".
struct NumberConfig {
  std::string column, after;
};

// What follows for the rows for which `when` holds.
struct RuleConfig {
  std::optional<std::string> when;
  YamlNode columns;                      // our column: expression
  YamlNode set;                          // path in the scenario: value, with ${expression}
  std::optional<std::string> leave_out;  // the reason
};

struct MetricConfig {
  std::string name;
  std::string measured;                  // expression over columns
  std::optional<std::string> predicted;  // over columns and metrics of results; absent: as `measured`
  std::string unit;
};

struct RowMappingConfig {
  std::optional<std::string> name;
  std::map<std::string, NumberConfig> numbers;
  YamlNode names;
  YamlNode columns, set;
  std::vector<RuleConfig> rules;
  std::vector<MetricConfig> metrics;
  std::optional<std::string> left_out;
  bool median_of_repeats = false;
};
const Fields<RowMappingConfig>& row_mapping_fields();

// A text with expressions in it: "tp${tensor_parallel}, ${2 * users} calls".
class TextTemplate {
 public:
  // Nothing after reporting.
  static std::optional<TextTemplate> parse(const YamlNode& scalar, Diagnostics& diagnostics);
  // Nothing where an expression has no value.
  [[nodiscard]] std::optional<std::string> filled(const Expression::Lookup& lookup) const;
  [[nodiscard]] const std::vector<Expression>& expressions() const { return expressions_; }

 private:
  std::vector<std::string> texts_;  // before, between and behind the expressions
  std::vector<Expression> expressions_;
};

// A value of a scenario with such texts in it.
class ValueTemplate {
 public:
  static std::optional<ValueTemplate> parse(const YamlNode& node, Diagnostics& diagnostics);
  // As YAML in one line. Nothing where an expression has no value.
  [[nodiscard]] std::optional<std::string> filled(const Expression::Lookup& lookup) const;
  [[nodiscard]] const std::vector<TextTemplate>& texts() const { return texts_; }

 private:
  bool collect(const YamlNode& node, Diagnostics& diagnostics);

  YamlNode node_;
  std::vector<TextTemplate> texts_;  // of its scalars, in their order
};

// A rule with its expressions parsed.
struct Rule {
  std::optional<Expression> when;
  std::vector<std::pair<std::string, Expression>> columns;
  std::vector<std::pair<std::string, ValueTemplate>> set;
  std::optional<std::string> leave_out;
};

struct RowMetric {
  std::string name, unit;
  Expression measured, predicted;
};

struct RowMapping {
  std::optional<TextTemplate> name;
  std::map<std::string, NumberConfig> numbers;
  std::map<std::string, std::map<std::string, std::string>> names;  // by column: theirs to ours
  std::vector<Rule> rules;                                          // the top of the file is the first
  std::vector<RowMetric> metrics;
  std::map<std::string, std::string> left_out;  // by name of the row: the reason
  bool median_of_repeats = false;
};

// Nothing after reporting. The table of rows that are left out (columns id, reason) is found from the file's folder.
std::optional<RowMapping> read_row_mapping(const std::filesystem::path& file, Diagnostics& diagnostics);

// A value as a scenario writes it: whole numbers without a point.
std::string text_of(const Value& value);

}  // namespace llmscape::validation
