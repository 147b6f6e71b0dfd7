// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/results.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <tuple>

#include "base/files.hpp"
#include "sim/explore/run_row.hpp"
#include "sim/metrics/verdict.hpp"
#include "sim/result/metric_table.hpp"
#include "traces/cells.hpp"
#include "traces/row.hpp"

namespace llmscape::explore {
namespace {

namespace fs = std::filesystem;
using traces::Row;
using traces::Span;

SourceRange start_of(const fs::path& file) {
  return {std::make_shared<const SourceText>(SourceText{file.string(), ""})};
}

std::string text_of(const Row& row, Span cell) {
  std::string text(row.text(cell));
  for (std::size_t at = text.find("\"\""); at != std::string::npos; at = text.find("\"\"", at + 1)) text.erase(at, 1);
  if (text.starts_with('\'')) text.erase(0, 1);  // in front of what looks like a formula
  return text;
}

// A cell behind the axes: which number of which metric it is.
struct MetricCell {
  std::size_t column;  // of metrics::columns()
  double Estimate::* part;
};

// What stands behind the metrics.
struct TextColumn {
  std::string_view name;
  std::string ResultRow::* of;
};
constexpr std::array<TextColumn, 2> kTexts = {
    {{"energy_boundary", &ResultRow::energy_boundary}, {"currency", &ResultRow::currency}}};

// Reads the rows of one results.csv.
class Reader {
 public:
  Reader(const fs::path& file, Diagnostics& diagnostics)
      : rows_(file.string()), diagnostics_(diagnostics), errors_before_(diagnostics.errors()) {
    table_.folder = file.parent_path();
  }

  std::optional<ResultsTable> read() {
    const auto header = rows_.next(diagnostics_);
    if (!header && clean()) diagnostics_.error(start_of(rows_.path()), "the table is empty");
    if (header) read_header(*header);
    if (!clean()) return std::nullopt;
    while (const auto row = rows_.next(diagnostics_)) read_row(*row);
    return clean() ? std::optional(std::move(table_)) : std::nullopt;
  }

 private:
  [[nodiscard]] bool clean() const { return diagnostics_.errors() == errors_before_; }

  void read_header(const Row& row) {
    split_cells(row.text(), cells_);
    std::vector<std::string> names;
    for (const Span& cell : cells_) names.push_back(text_of(row, cell));
    static constexpr std::array<std::string_view, 2> kFirst = {"point", "id"};
    static constexpr std::array<std::string_view, 3> kAfterAxes = {"repeat", "seed", "verdict"};
    const auto after = std::ranges::search(names, kAfterAxes);
    if (names.size() < kFirst.size() || !std::equal(kFirst.begin(), kFirst.end(), names.begin()) || after.empty()) {
      row.error({0, row.text().size()},
                "this is not the header of a results.csv: point, id, axes, repeat, seed, verdict, metrics");
      return;
    }
    table_.axes.assign(names.begin() + kFirst.size(), after.begin());
    for (auto text = kTexts.rbegin(); text != kTexts.rend(); ++text)
      if (names.back() == text->name) {
        names.pop_back();
        texts_.insert(texts_.begin(), text->of);
      }
    for (auto name = after.end(); name != names.end(); ++name)
      read_metric_name(row, cells_[static_cast<std::size_t>(name - names.begin())], *name);
    width_ = cells_.size();
  }

  void read_metric_name(const Row& row, Span cell, const std::string& name) {
    double Estimate::* part = &Estimate::value;
    std::string metric = name;
    if (name.ends_with(".low")) part = &Estimate::low;
    if (name.ends_with(".high")) part = &Estimate::high;
    if (part != &Estimate::value) metric.erase(name.rfind('.'));
    const auto& columns = metrics::columns();
    const auto column = std::ranges::find(columns, metric, &metrics::Column::name);
    const MetricCell known{static_cast<std::size_t>(column - columns.begin()), part};
    const auto stands = [this](const MetricCell& sought) {
      return std::ranges::any_of(
          metrics_, [&](const MetricCell& c) { return c.column == sought.column && c.part == sought.part; });
    };
    if (column == columns.end()) {
      std::vector<std::string> names;
      for (const metrics::Column& candidate : columns) names.push_back(candidate.name);
      row.error(cell, fmt::format("unknown metric {}", in_quotes(name)), did_you_mean(metric, names));
    } else if (stands(known)) {
      row.error(cell, fmt::format("column '{}' stands twice", name));
    } else if (part != &Estimate::value && !stands({known.column, &Estimate::value})) {
      row.error(cell, fmt::format("column '{}' stands before its metric", name));
    } else {
      metrics_.push_back(known);
    }
  }

  void read_row(const Row& row) {
    split_cells(row.text(), cells_);
    if (cells_.size() != width_) {
      row.error({0, row.text().size()}, fmt::format("{} cells where the header has {}", cells_.size(), width_));
      return;
    }
    ResultRow& result = table_.rows.emplace_back();
    std::size_t at = 0;
    number(row, cells_[at++], "'point'", result.point);
    result.id = text_of(row, cells_[at++]);
    while (result.values.size() < table_.axes.size()) result.values.push_back(text_of(row, cells_[at++]));
    number(row, cells_[at++], "'repeat'", result.repeat);
    number(row, cells_[at++], "'seed'", result.seed);
    read_verdict(row, cells_[at++], result.verdict);
    result.metrics.resize(metrics::columns().size());
    for (const MetricCell& metric : metrics_) read_metric(row, cells_[at++], metric, result);
    for (std::string ResultRow::* text : texts_) result.*text = text_of(row, cells_[at++]);
    check_order(row);
  }

  template <class Number>
  static bool number(const Row& row, Span cell, std::string_view subject, Number& value) {
    const auto read = traces::parse_number<Number>(row.text(cell));
    if (read) value = *read;
    else row.error(cell, fmt::format("{} must be a whole number; got {}", subject, in_quotes(row.text(cell))));
    return read.has_value();
  }

  static void read_verdict(const Row& row, Span cell, std::string& verdict) {
    std::vector<std::string> known;
    using State = metrics::Verdict::State;
    for (const auto state : {State::valid, State::noisy, State::unsteady, State::saturated, State::truncated})
      known.emplace_back(metrics::name_of(state));
    verdict = row.text(cell);
    if (std::ranges::find(known, verdict) == known.end())
      row.error(cell, fmt::format("{} is no verdict: {}", in_quotes(verdict), fmt::join(known, ", ")),
                did_you_mean(verdict, known));
  }

  // An empty cell is a metric that the run lacks, or an interval that is not known.
  static void read_metric(const Row& row, Span cell, const MetricCell& metric, ResultRow& result) {
    const std::string_view text = row.text(cell);
    if (text.empty()) return;
    const std::string& name = metrics::columns()[metric.column].name;
    const auto value = traces::parse_number<double>(text);
    auto& estimate = result.metrics[metric.column];
    if (!value || !std::isfinite(*value)) {
      row.error(cell, fmt::format("'{}' must be a finite number; got {}", name, in_quotes(text)));
    } else if (metric.part == &Estimate::value) {
      estimate = Estimate{*value, *value, *value};
    } else if (!estimate) {
      row.error(cell, fmt::format("an interval of '{}', which has no value", name));
    } else {
      (*estimate).*metric.part = *value;
      if (estimate->low > estimate->high && metric.part == &Estimate::high)
        row.error(cell, fmt::format("the interval of '{}' ends before it begins", name));
    }
  }

  void check_order(const Row& row) const {
    if (table_.rows.size() < 2) return;
    const auto place = [](const ResultRow& result) { return std::tuple(result.point, result.repeat); };
    if (place(table_.rows.end()[-2]) >= place(table_.rows.back()))
      row.error(cells_.front(), "rows must be in the order of the plan, each point once");
  }

  traces::RowFile rows_;
  Diagnostics& diagnostics_;
  int errors_before_;
  ResultsTable table_;
  std::vector<Span> cells_;
  std::vector<MetricCell> metrics_;  // in the order of the file
  std::size_t width_ = 0;
  std::vector<std::string ResultRow::*> texts_;  // columns behind the metrics
};

std::optional<ResultsTable> read_run(const fs::path& file, Diagnostics& diagnostics) {
  std::string error;
  const auto text = read_file(file, error);
  if (!text) {
    diagnostics.error(start_of(file), error);
    return std::nullopt;
  }
  const auto run = nlohmann::json::parse(*text, nullptr, false);
  if (!run.is_object() || run.value("schema", nlohmann::json()) != "run/1") {
    diagnostics.error(start_of(file), "this is not a result of 'llmscape run': no JSON with \"schema\": \"run/1\"",
                      "'llmscape run SCENARIO -o FOLDER' makes one");
    return std::nullopt;
  }
  ResultsTable table;
  table.folder = file.parent_path();
  table.rows.push_back(row_of(run));
  const fs::path name = fs::weakly_canonical(table.folder.empty() ? "." : table.folder).filename();
  table.rows.front().id = file.filename() == "run.json" ? name.string() : file.stem().string();
  return table;
}

std::size_t failed_points(const fs::path& logs) {
  if (!fs::is_directory(logs)) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(
      fs::directory_iterator(logs), [](const fs::directory_entry& log) { return log.path().extension() == ".log"; }));
}

}  // namespace

std::set<std::string> currencies_of(const ResultsTable& table) {
  std::set<std::string> all;
  for (const ResultRow& row : table.rows)
    if (!row.currency.empty()) all.insert(row.currency);
  return all;
}

std::string currency_of(const ResultsTable& table) {
  const std::set<std::string> all = currencies_of(table);
  return all.empty() ? "currency" : fmt::format("{}", fmt::join(all, " or "));
}

std::optional<ResultsTable> read_results(const fs::path& path, Diagnostics& diagnostics) {
  fs::path file = path;
  if (fs::is_directory(path)) {
    file = path / "results.csv";
    if (!fs::exists(file)) file = path / "run.json";
    if (!fs::exists(file)) {
      if (fs::is_directory(path / "points"))
        diagnostics.error(
            start_of(path), "this sweep has points and no results.csv yet: it has not ended",
            fmt::format("'llmscape sweep --merge {}' puts shards together, --resume goes on with it", path.string()));
      else
        diagnostics.error(start_of(path),
                          "no results stand here: neither results.csv ('llmscape sweep') nor run.json "
                          "('llmscape run -o')");
      return std::nullopt;
    }
  }
  if (file.extension() == ".json") return read_run(file, diagnostics);
  auto table = Reader(file, diagnostics).read();
  if (table) table->failed = failed_points(file.parent_path() / "failed");
  return table;
}

}  // namespace llmscape::explore
