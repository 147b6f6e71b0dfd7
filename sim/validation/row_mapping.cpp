// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/row_mapping.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "base/catalog.hpp"
#include "base/yaml_lines.hpp"
#include "traces/csv_table.hpp"

namespace llmscape::validation {
namespace {

const Fields<NumberConfig>& number_fields() {
  static const Fields<NumberConfig> fields = [] {
    Fields<NumberConfig> f("rows/number", "a whole number inside a cell");
    f.add("column", &NumberConfig::column, "column of the table").required();
    f.add("after", &NumberConfig::after, "the text that it follows").required();
    return f;
  }();
  return fields;
}

const Fields<RuleConfig>& rule_fields() {
  static const Fields<RuleConfig> fields = [] {
    Fields<RuleConfig> f("rows/rule", "what follows for some of the rows; later rules go before earlier ones");
    f.add("when", &RuleConfig::when, "condition over the row's columns; absent: all rows");
    f.add("columns", &RuleConfig::columns, "our column: expression; one without a value leaves the column as it is");
    f.add("set", &RuleConfig::set, "path in the row's scenario: value, in which ${...} are expressions");
    f.add("leave_out", &RuleConfig::leave_out, "these rows are not predicted, for this reason");
    return f;
  }();
  return fields;
}

const Fields<MetricConfig>& metric_fields() {
  static const Fields<MetricConfig> fields = [] {
    Fields<MetricConfig> f("rows/metric", "one quantity that is compared");
    f.add("name", &MetricConfig::name, "what it is called").required();
    f.add("measured", &MetricConfig::measured, "expression over the row's columns and the metrics above").required();
    f.add("predicted", &MetricConfig::predicted,
          "expression over the row's columns, metrics of a result (ttft.p99) and the metrics above; absent: the same "
          "as 'measured'");
    f.add("unit", &MetricConfig::unit, "of both; s is printed as time");
    return f;
  }();
  return fields;
}

// A scalar's text stands behind its quote.
SourceRange place_of_text(const YamlNode& node) {
  SourceRange where = node.where;
  if (node.quoted) ++where.column;
  return where;
}

std::optional<Expression> expression_of(const YamlNode& node, Diagnostics& diagnostics) {
  if (node.is_scalar()) return Expression::parse(node.text, place_of_text(node), diagnostics);
  diagnostics.error(node.where, "an expression is a text: \"silicon_ttft_ms / 1000\"");
  return std::nullopt;
}

class MappingReader {
 public:
  MappingReader(const YamlNode& root, std::filesystem::path folder, Diagnostics& diagnostics)
      : root_(root), folder_(std::move(folder)), diagnostics_(diagnostics) {}

  std::optional<RowMapping> read() {
    const int errors = diagnostics_.errors();
    RowMappingConfig config;
    if (!row_mapping_fields().read(config, root_, diagnostics_)) return std::nullopt;
    if (config.name) mapping_.name = TextTemplate::parse(*root_.find("name"), diagnostics_);
    mapping_.numbers = config.numbers;
    mapping_.median_of_repeats = config.median_of_repeats;
    read_names(config.names);
    read_rule({std::nullopt, config.columns, config.set, std::nullopt}, root_);
    for (std::size_t i = 0; i < config.rules.size(); ++i) read_rule(config.rules[i], root_.find("rules")->items[i]);
    for (std::size_t i = 0; i < config.metrics.size(); ++i)
      read_metric(config.metrics[i], root_.find("metrics")->items[i]);
    if (config.left_out) read_left_out((folder_ / *config.left_out).string());
    if (diagnostics_.errors() > errors) return std::nullopt;
    return std::move(mapping_);
  }

 private:
  bool is_mapping(const YamlNode& node, const char* form) {
    if (node.kind == YamlNode::Kind::null) return false;
    if (node.is_mapping()) return true;
    diagnostics_.error(node.where, fmt::format("this is a mapping: {}", form));
    return false;
  }

  void read_names(const YamlNode& names) {
    if (!is_mapping(names, "{model: {their-name: our-name}}")) return;
    for (const YamlNode::Entry& column : names.entries) {
      if (!is_mapping(column.value, "{their-name: our-name}")) continue;
      for (const YamlNode::Entry& name : column.value.entries) mapping_.names[column.key][name.key] = name.value.text;
    }
  }

  void read_rule(const RuleConfig& config, const YamlNode& node) {
    Rule rule;
    rule.leave_out = config.leave_out;
    if (config.when) rule.when = expression_of(*node.find("when"), diagnostics_);
    if (is_mapping(config.columns, "{prompt_tokens: isl}"))
      for (const YamlNode::Entry& entry : config.columns.entries)
        if (auto expression = expression_of(entry.value, diagnostics_))
          rule.columns.emplace_back(entry.key, std::move(*expression));
    if (is_mapping(config.set, "{workload.tokens: random}"))
      for (const YamlNode::Entry& entry : config.set.entries)
        if (auto value = ValueTemplate::parse(entry.value, diagnostics_))
          rule.set.emplace_back(entry.key, std::move(*value));
    mapping_.rules.push_back(std::move(rule));
  }

  void read_metric(const MetricConfig& config, const YamlNode& node) {
    auto measured = expression_of(*node.find("measured"), diagnostics_);
    const YamlNode* other = node.find("predicted");
    auto predicted = other ? expression_of(*other, diagnostics_) : measured;
    if (measured && predicted)
      mapping_.metrics.push_back({config.name, config.unit, std::move(*measured), std::move(*predicted)});
  }

  void read_left_out(const std::string& path) {
    traces::CsvTable table(path, {{"id"}, {"reason"}}, diagnostics_);
    while (table.next()) mapping_.left_out.emplace(table.text(0), table.text(1));
  }

  const YamlNode& root_;
  std::filesystem::path folder_;
  Diagnostics& diagnostics_;
  RowMapping mapping_;
};

}  // namespace

const Fields<RowMappingConfig>& row_mapping_fields() {
  static const Fields<RowMappingConfig> fields = [] {
    Fields<RowMappingConfig> f("rows", "how a foreign table of measurements is read");
    f.add("name", &RowMappingConfig::name,
          "what a row is called, in which ${...} are expressions; absent: its column "
          "'name', else its number");
    f.add_group("numbers", &RowMappingConfig::numbers, number_fields(),
                "further columns: whole numbers inside cells, {users: {column: source, after: \"clients=\"}}");
    f.add("names", &RowMappingConfig::names,
          "by our column, what values of the table are called here: {model: {org/model: name}}; others stay");
    f.add("columns", &RowMappingConfig::columns,
          "our column: expression over the table's columns, whose other characters than letters and digits are "
          "written '_', and over those above: {ttft_s: ttft_ms / 1000}");
    f.add("set", &RowMappingConfig::set, "path in the row's scenario: value, in which ${...} are expressions");
    f.add_group("rules", &RowMappingConfig::rules, rule_fields(), "the same for some of the rows");
    f.add_group("metrics", &RowMappingConfig::metrics, metric_fields(),
                "what is compared that no column of 'llmscape list metrics' is, in this order, before those");
    f.add("left_out", &RowMappingConfig::left_out,
          "table of the rows that are not predicted, with the columns id and reason, from this file's folder");
    f.add("median_of_repeats", &RowMappingConfig::median_of_repeats,
          "rows of one name are one row, which was measured several times: the medians count");
    return f;
  }();
  return fields;
}

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  const auto number_text = [](double number) {
    return number == std::floor(number) && std::abs(number) < 1e15 ? fmt::format("{:.0f}", number)
                                                                   : fmt::format("{}", number);
  };
  if (const auto* number = std::get_if<double>(&value)) return number_text(*number);
  std::string list;
  for (const double number : std::get<std::vector<double>>(value))
    list += (list.empty() ? "" : ", ") + number_text(number);
  return '[' + list + ']';
}

std::optional<TextTemplate> TextTemplate::parse(const YamlNode& scalar, Diagnostics& diagnostics) {
  const std::string& text = scalar.text;
  TextTemplate made;
  std::size_t at = 0;
  for (std::size_t open; (open = text.find("${", at)) != text.npos;) {
    const std::size_t close = text.find('}', open);
    if (close == text.npos) {
      diagnostics.error(scalar.where, "'${' has no '}'");
      return std::nullopt;
    }
    SourceRange where = place_of_text(scalar);
    where.column += static_cast<int>(open + 2);
    auto expression = Expression::parse(text.substr(open + 2, close - open - 2), where, diagnostics);
    if (!expression) return std::nullopt;
    made.texts_.push_back(text.substr(at, open - at));
    made.expressions_.push_back(std::move(*expression));
    at = close + 1;
  }
  made.texts_.push_back(text.substr(at));
  return made;
}

std::optional<std::string> TextTemplate::filled(const Expression::Lookup& lookup) const {
  std::string text = texts_.front();
  for (std::size_t i = 0; i < expressions_.size(); ++i) {
    const auto value = expressions_[i].evaluate(lookup);
    if (!value) return std::nullopt;
    text += text_of(*value) + texts_[i + 1];
  }
  return text;
}

bool ValueTemplate::collect(const YamlNode& node, Diagnostics& diagnostics) {
  bool good = true;
  if (node.is_scalar()) {
    auto text = TextTemplate::parse(node, diagnostics);
    if (!text) return false;
    texts_.push_back(std::move(*text));
  }
  for (const YamlNode& item : node.items) good = collect(item, diagnostics) && good;
  for (const YamlNode::Entry& entry : node.entries) good = collect(entry.value, diagnostics) && good;
  return good;
}

std::optional<ValueTemplate> ValueTemplate::parse(const YamlNode& node, Diagnostics& diagnostics) {
  ValueTemplate made;
  made.node_ = node;
  if (!made.collect(node, diagnostics)) return std::nullopt;
  return made;
}

std::optional<std::string> ValueTemplate::filled(const Expression::Lookup& lookup) const {
  YamlNode node = node_;
  auto text = texts_.begin();
  // What an expression gives is plain: "${2 * users}" is a number.
  const std::function<bool(YamlNode&)> fill = [&](YamlNode& part) {
    if (part.is_scalar()) {
      const bool has_expressions = !text->expressions().empty();
      auto value = (text++)->filled(lookup);
      if (!value) return false;
      if (has_expressions) part = YamlNode::scalar(std::move(*value));
      return true;
    }
    for (YamlNode& item : part.items)
      if (!fill(item)) return false;
    for (YamlNode::Entry& entry : part.entries)
      if (!fill(entry.value)) return false;
    return true;
  };
  return fill(node) ? std::optional(yaml_flow(node)) : std::nullopt;
}

std::optional<RowMapping> read_row_mapping(const std::filesystem::path& file, Diagnostics& diagnostics) {
  const auto tree = description_file(file, "rows", diagnostics);
  if (!tree) return std::nullopt;
  return MappingReader(*tree, file.parent_path(), diagnostics).read();
}

}  // namespace llmscape::validation
