// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/measured_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include "base/functions.hpp"
#include "sim/result/metric_table.hpp"
#include "traces/cells.hpp"
#include "traces/row.hpp"

namespace llmscape::validation {
namespace {

// As expressions can name it: "Batch Size" is Batch_Size.
std::string as_name(std::string_view column) {
  std::string name(column);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.') c = '_';
  return name;
}

// Columns that are never numbers: version 0.10 is not 0.1.
bool is_text(std::string_view column) {
  constexpr std::array kTexts = {"name", "model",    "weights", "embeddings",    "activations",
                                 "kv",   "hardware", "engine",  "engine_version"};
  return std::ranges::find(kTexts, column) != kTexts.end();
}

// The column of results that a table's column measures: "ttft_s", "tpot.p99", "mean_w".
const metrics::Column* measured_column(std::string_view name) {
  for (const metrics::Column& column : metrics::columns())
    if (name == column.name || name == column.metric->key) return &column;  // the first of a distribution: its mean
  return nullptr;
}

std::string metric_name(const metrics::Column& column) {
  const std::string name = metrics::short_name(column);
  return name.ends_with(".mean") ? name.substr(0, name.size() - 5) : name;
}

class TableReader {
 public:
  TableReader(const std::filesystem::path& table, RowKind kind, const RowMapping& mapping, Diagnostics& diagnostics)
      : file_(table.string()), kind_(kind), mapping_(mapping), diagnostics_(diagnostics) {
    table_.folder = table.parent_path();
  }

  std::optional<MeasuredTable> read() {
    const int errors = diagnostics_.errors();
    auto row = file_.next(diagnostics_);
    if (!row) {
      if (diagnostics_.errors() == errors) whole_file("the table is empty");
      return std::nullopt;
    }
    read_header(*row);
    while (diagnostics_.errors() == errors && (row = file_.next(diagnostics_))) read_row(*row);
    if (diagnostics_.errors() == errors && table_.rows.empty()) whole_file("the table has no rows");
    if (mapping_.median_of_repeats) join_repeats();
    if (diagnostics_.errors() > errors) return std::nullopt;
    return std::move(table_);
  }

 private:
  void whole_file(std::string message) {
    diagnostics_.error({std::make_shared<SourceText>(SourceText{file_.path(), {}})}, std::move(message));
  }

  void read_header(const traces::Row& row) {
    traces::split_cells(row.text(), cells_);
    for (const traces::Span& cell : cells_) {
      header_.push_back(as_name(row.text(cell)));
      if (!known_.insert(header_.back()).second)
        row.error(cell, fmt::format("column {} stands twice", in_quotes(row.text(cell))));
    }
    for (const auto& [name, number] : mapping_.numbers) {
      known_.insert(name);
      if (std::ranges::find(header_, as_name(number.column)) == header_.end())
        row.error({}, fmt::format("the mapping needs a column {}", in_quotes(number.column)),
                  did_you_mean(as_name(number.column), header_));
    }
    for (const Rule& rule : mapping_.rules)
      for (const auto& [column, expression] : rule.columns) known_.insert(column);
    for (const RowColumn& column : row_columns()) known_.insert(std::string(column.name));
    find_metrics(row);
    check_names();
  }

  void add_metric(const std::string& column) {
    const metrics::Column* measured = measured_column(column);
    if (!measured) return;
    Diagnostics none;
    auto ours = Expression::parse(column, {}, none), theirs = Expression::parse(measured->name, {}, none);
    if (!ours || !theirs) return;
    measured_.push_back(std::move(*ours));
    table_.metrics.push_back({metric_name(*measured), std::string(measured->metric->unit), std::move(*theirs)});
  }

  void find_metrics(const traces::Row& header) {
    for (const RowMetric& metric : mapping_.metrics) {
      measured_.push_back(metric.measured);
      table_.metrics.push_back({metric.name, metric.unit, metric.predicted});
    }
    std::vector<std::string> all = header_;
    for (const Rule& rule : mapping_.rules)
      for (const auto& [column, expression] : rule.columns)
        if (std::ranges::find(all, column) == all.end()) all.push_back(column);
    for (const std::string& column : all) add_metric(column);
    table_.columns = std::move(all);
    for (const auto& [name, number] : mapping_.numbers) table_.columns.push_back(name);
    if (table_.metrics.empty() && kind_ != RowKind::observation)
      header.error({}, "no column is a metric: nothing was measured that could be compared",
                   "see 'llmscape list metrics'; a mapping (--columns) says what other columns are");
  }

  void check(const Expression& expression, bool of_results = false) {
    for (const Expression::Name& name : expression.names()) {
      if (name.may_be_text || known_.contains(name.name)) continue;
      if (of_results && !metrics::find_columns(name.name).empty()) continue;
      const std::vector<std::string> all(known_.begin(), known_.end());
      diagnostics_.error(name.where, fmt::format("the table has no column {}", in_quotes(name.name)),
                         did_you_mean(name.name, all));
    }
  }
  void check(const TextTemplate& text) {
    for (const Expression& expression : text.expressions()) check(expression);
  }
  void check_names() {
    if (mapping_.name) check(*mapping_.name);
    for (const Rule& rule : mapping_.rules) {
      if (rule.when) check(*rule.when);
      for (const auto& [column, expression] : rule.columns) check(expression);
      for (const auto& [path, value] : rule.set)
        for (const TextTemplate& text : value.texts()) check(text);
    }
    for (const RowMetric& metric : mapping_.metrics) {
      check(metric.measured);
      check(metric.predicted, true);
      known_.insert(metric.name);
    }
  }

  static std::optional<Value> number_after(std::string_view text, std::string_view key) {
    const std::size_t place = text.find(key);
    if (place == text.npos) return std::nullopt;
    std::size_t end = place + key.size();
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const auto number = traces::parse_number<std::int64_t>(text.substr(place + key.size(), end - place - key.size()));
    return number ? std::optional<Value>(static_cast<double>(*number)) : std::nullopt;
  }

  // A cell's text where the expression is its name and a text is wanted.
  std::optional<Value> evaluated(const std::string& column, const Expression& expression,
                                 const Expression::Lookup& lookup) const {
    const auto cell = is_text(column) ? raw_.find(expression.text()) : raw_.end();
    if (cell != raw_.end()) return cell->second.empty() ? std::nullopt : std::optional<Value>(cell->second);
    return expression.evaluate(lookup);
  }

  void rename(MeasuredRow& out) {
    for (const auto& [column, names] : mapping_.names) {
      const auto value = out.columns.find(column);
      if (value == out.columns.end()) continue;
      if (const auto ours = names.find(text_of(value->second)); ours != names.end()) value->second = ours->second;
    }
  }

  void apply(const Rule& rule, MeasuredRow& out) {
    const auto lookup = [&out](std::string_view name) { return out.value(name); };
    if (rule.when && !rule.when->holds(lookup)) return;
    for (const auto& [column, expression] : rule.columns) {
      if (auto value = evaluated(column, expression, lookup)) out.columns.insert_or_assign(column, std::move(*value));
      rename(out);
    }
    for (const auto& [path, text] : rule.set)
      if (const auto value = text.filled(lookup)) out.overrides.push_back(path + '=' + *value);
      else if (!out.left_out) out.left_out = fmt::format("'{}' has no value for this row", path);
    if (rule.leave_out && !out.left_out) out.left_out = rule.leave_out;
  }

  void read_row(const traces::Row& row) {
    traces::split_cells(row.text(), cells_);
    if (!traces::cells_fit(row, cells_, header_.size())) return;
    MeasuredRow out;
    out.line = row.line();
    ++number_;
    raw_.clear();
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const std::string text(row.text(cells_[i]));
      raw_[header_[i]] = text;
      if (!text.empty()) out.columns[header_[i]] = is_text(header_[i]) ? Value(text) : value_of(text);
    }
    for (const auto& [name, number] : mapping_.numbers)
      if (auto value = number_after(raw_[as_name(number.column)], number.after)) out.columns[name] = std::move(*value);
    rename(out);
    for (const Rule& rule : mapping_.rules) apply(rule, out);
    const auto lookup = [&out](std::string_view name) { return out.value(name); };
    std::optional<std::string> name;
    if (mapping_.name) name = mapping_.name->filled(lookup);
    if (const auto own = out.value("name"); !name && own) name = text_of(*own);
    out.name = name.value_or(fmt::format("row {}", number_));
    if (const auto reason = mapping_.left_out.find(out.name); reason != mapping_.left_out.end())
      out.left_out = reason->second;
    read_measured(row, out);
    std::string problem;
    if (kind_ == RowKind::observation) check_times_and_tokens(row, out);
    else if (auto scenario = row_scenario(out, kind_, problem)) out.scenario = std::move(*scenario);
    else if (!out.left_out) out.left_out = problem;
    table_.rows.push_back(std::move(out));
  }

  void read_measured(const traces::Row& row, MeasuredRow& out) {
    std::map<std::string, Value, std::less<>> above;  // metrics
    const auto lookup = [&](std::string_view name) -> std::optional<Value> {
      if (const auto found = above.find(name); found != above.end()) return found->second;
      return out.value(name);
    };
    for (std::size_t i = 0; i < measured_.size(); ++i) {
      const auto value = measured_[i].evaluate(lookup);
      const double* number = value ? std::get_if<double>(&*value) : nullptr;
      if (value && !(number && std::isfinite(*number) && *number >= 0)) report_number(row, measured_[i].text(), *value);
      if (number) above[table_.metrics[i].name] = *number;
      out.measured.push_back(number ? std::optional(*number) : std::nullopt);
    }
  }

  // Where the column stands in the row; its beginning for one of the mapping.
  traces::Span cell_of(const std::string& column) const {
    const auto place = std::ranges::find(header_, column);
    return place == header_.end() ? traces::Span{} : cells_[static_cast<std::size_t>(place - header_.begin())];
  }

  void report_number(const traces::Row& row, const std::string& column, const Value& value) {
    row.error(cell_of(column),
              fmt::format("'{}' must be a number of at least 0; got {}", column, in_quotes(text_of(value))));
  }

  void check_times_and_tokens(const traces::Row& row, MeasuredRow& out) const {
    const auto check_cell = [&](const char* column, bool whole) {
      const auto value = out.value(column);
      if (!value) return;
      constexpr double kMostTokens = std::numeric_limits<std::int32_t>::max();
      const double* number = std::get_if<double>(&*value);
      const bool fits = number && std::isfinite(*number) &&
                        (!whole || (*number >= 0 && *number <= kMostTokens && *number == std::floor(*number)));
      if (fits) return;
      const char* wanted = whole ? "a whole number of tokens from 0 to 2147483647" : "a number of seconds";
      out.mistakes.push_back({Severity::error,
                              row.place(cell_of(column)),
                              fmt::format("'{}' must be {}; got {}", column, wanted, in_quotes(text_of(*value))),
                              "",
                              {}});
    };
    for (const char* time : {"arrival_s", "t_s"}) check_cell(time, false);
    if (!out.value("arrival_s")) return;
    for (const char* tokens : {"prompt_tokens", "output_tokens"}) check_cell(tokens, true);
  }

  // Medians: of an even number the mean of the middle two.
  void join_repeats() {
    std::vector<MeasuredRow> joined;
    std::map<std::string, std::vector<std::vector<double>>> values;
    for (MeasuredRow& row : table_.rows) {
      const auto [entry, fresh] = values.try_emplace(row.name, row.measured.size());
      for (std::size_t i = 0; i < row.measured.size(); ++i)
        if (row.measured[i]) entry->second[i].push_back(*row.measured[i]);
      if (fresh) joined.push_back(std::move(row));
    }
    for (MeasuredRow& row : joined)
      for (std::size_t i = 0; i < row.measured.size(); ++i) {
        auto& all = values[row.name][i];
        if (all.empty()) continue;
        std::ranges::sort(all);
        row.measured[i] = (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
      }
    table_.rows = std::move(joined);
  }

  traces::RowFile file_;
  RowKind kind_;
  const RowMapping& mapping_;
  Diagnostics& diagnostics_;
  MeasuredTable table_;
  std::vector<traces::Span> cells_;
  std::vector<std::string> header_;
  std::set<std::string> known_;             // what expressions may name
  std::vector<Expression> measured_;        // of each metric
  std::map<std::string, std::string> raw_;  // cells of the row, by column
  int number_ = 0;                          // of the row, from 1
};

}  // namespace

std::optional<Value> MeasuredRow::value(std::string_view column) const {
  const auto found = columns.find(std::string(column));
  return found == columns.end() ? std::nullopt : std::optional(found->second);
}

std::optional<MeasuredTable> read_measured_table(const std::filesystem::path& table, RowKind kind,
                                                 const std::optional<std::filesystem::path>& mapping,
                                                 Diagnostics& diagnostics) {
  RowMapping read;
  if (mapping) {
    auto from_file = read_row_mapping(*mapping, diagnostics);
    if (!from_file) return std::nullopt;
    read = std::move(*from_file);
  }
  return TableReader(table, kind, read, diagnostics).read();
}

}  // namespace llmscape::validation
