// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/readers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/files.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/validation/measured_rows.hpp"
#include "traces/row.hpp"

namespace llmscape::observe {
namespace {

// What a file begins with: some lines, or a piece of one.
std::string beginning_of(const std::string& path) {
  constexpr std::size_t kEnough = 64 << 10;
  std::string text;
  LineReader lines(path);
  while (text.size() < kEnough) {
    const auto line = lines.next();
    if (!line) break;
    text += line->substr(0, kEnough);
    text += '\n';
  }
  return text;
}

// "ttft" is the mean: "ttft_s.mean".
std::string full_name(const std::string& metric) {
  const auto columns = metrics::find_columns(metric);
  return columns.empty() ? metric : columns.front()->name;
}

SourceRange whole(const std::string& path) { return {std::make_shared<const SourceText>(SourceText{path, ""})}; }

const Reader* reader_of(const std::string& path, std::string_view format, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const Reader& reader : readers()) {
    if (reader.name == format) return &reader;
    names.emplace_back(reader.name);
  }
  if (!format.empty()) {
    diagnostics.error(whole(path), fmt::format("there is no format {}", in_quotes(format)),
                      did_you_mean(format, names));
    return nullptr;
  }
  if (!std::filesystem::exists(path)) {
    diagnostics.error(whole(path), "there is no such file");
    return nullptr;
  }
  const std::string beginning = beginning_of(path);
  for (const Reader& reader : readers())
    if (reader.recognises(beginning)) return &reader;
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  diagnostics.error(
      whole(path), beginning.empty() ? "the file is empty or cannot be read" : "nothing says what kind of file this is",
      "name it: FORMAT:FILE, with one of " + known + "; a table needs --columns");
  return nullptr;
}

// What a reader knows without looking is no finding.
bool says_nothing(const Observed& observed) {
  const bool engine_alone =
      observed.settings.empty() || (observed.settings.size() == 1 && observed.settings.contains("engine"));
  return engine_alone && observed.arguments.empty() && observed.courses.empty() && observed.requests.empty() &&
         observed.numbers.empty() && observed.notes.empty();
}

// Whether the calls of a file may be of the same clock as those of the files before it: they came while those did, or
// not longer after or before than either took. Reports else: a clock may count from the start of its machine.
bool may_share_clock(const Observed& own, const Observed& observed, Diagnostics& diagnostics) {
  if (own.requests.empty() || observed.calls.empty()) return true;
  double first = own.requests.front().arrival, last = first;
  for (const Request& r : own.requests) {
    first = std::min(first, r.arrival);
    last = std::max(last, r.end());
  }
  const auto apart = [&](const Observed::Calls& other) { return std::max(first - other.last, other.first - last); };
  const auto nearest = std::ranges::min_element(observed.calls, {}, apart);
  if (apart(*nearest) <= std::max(last - first, nearest->last - nearest->first)) return true;
  diagnostics.error(whole(own.sources.back()),
                    fmt::format("its calls are {:.6g} s away from those of {}, longer than either took: their clocks "
                                "have nothing in common",
                                apart(*nearest), nearest->file),
                    "observe them one by one");
  return false;
}

// Rows of a table, taken one by one.
class RowsReader {
 public:
  RowsReader(const validation::MeasuredTable& table, std::string path, Diagnostics& diagnostics)
      : table_(table), path_(std::move(path)), diagnostics_(diagnostics),
        of_requests_(std::ranges::find(table.columns, "arrival_s") != table.columns.end()) {}

  void take(const validation::MeasuredRow& row) {
    ++taken_;
    for (const Diagnostic& mistake : row.mistakes) diagnostics_.error(mistake.where, mistake.message);
    if (!row.mistakes.empty()) return;
    const auto arrival = number(row, "arrival_s"), at = number(row, "t_s");
    if (arrival) take_request(row, *arrival);
    if (at) take_sample(row, *at);
    if (arrival || at) return;
    if (of_requests_) ++untimed_;
    else take_figures(row);
  }

  Observed finish() {
    if (taken_ == 0) diagnostics_.error(whole(path_), "no row of the table is meant");
    own_.note_unanswered(calls_);
    if (untimed_ > 0)
      own_.notes.push_back(
          fmt::format("{} of {} rows of a table of requests have no 'arrival_s' and are left out", untimed_, taken_));
    if (taken_ > 0 && says_nothing(own_))
      diagnostics_.error(whole(path_),
                         "nothing in the table is known: no column says when a request came ('arrival_s') or a sample "
                         "was taken ('t_s'), or is a metric ('ttft_s')",
                         meant_columns());
    own_.sources.push_back(path_);
    return std::move(own_);
  }

 private:
  static std::optional<double> number(const validation::MeasuredRow& row, std::string_view column) {
    const auto value = row.value(column);
    const double* n = value ? std::get_if<double>(&*value) : nullptr;
    return n ? std::optional(*n) : std::nullopt;
  }

  [[nodiscard]] std::optional<double> measured(const validation::MeasuredRow& row, std::string_view metric) const {
    for (std::size_t i = 0; i < table_.metrics.size(); ++i)
      if (table_.metrics[i].name == metric) return row.measured[i];
    return std::nullopt;
  }

  void take_request(const validation::MeasuredRow& row, double arrival) {
    Request r{arrival, static_cast<std::int64_t>(number(row, "prompt_tokens").value_or(0)),
              static_cast<std::int64_t>(number(row, "output_tokens").value_or(0)), measured(row, "ttft"),
              measured(row, "e2e")};
    const auto tpot = measured(row, "tpot");
    if (!r.e2e && r.ttft && (tpot || r.output_tokens == 1))
      r.e2e = *r.ttft + tpot.value_or(0) * static_cast<double>(r.output_tokens - 1);
    ++calls_;
    if (r.prompt_tokens > 0 && r.output_tokens > 0) own_.requests.push_back(r);
  }

  void take_sample(const validation::MeasuredRow& row, double at) {
    const auto device = row.value("device");
    for (const char* quantity : kQuantities)
      if (const auto value = number(row, quantity))
        own_.courses[quantity][device ? validation::text_of(*device) : "0"].add(at, *value);
  }

  void take_figures(const validation::MeasuredRow& row) {
    for (std::size_t i = 0; i < table_.metrics.size(); ++i) {
      if (!row.measured[i]) continue;
      const std::string name = full_name(table_.metrics[i].name);
      own_.numbers[name] = *row.measured[i];
      const auto [told, fresh] = told_in_.emplace(name, row.line);
      if (!fresh)
        diagnostics_.error(
            {whole(path_).source, row.line, 1},
            fmt::format("{} is told here and in line {}: a figure has one row", in_quotes(name), told->second),
            "choose it with --where");
    }
  }

  // What columns nearly are.
  [[nodiscard]] std::string meant_columns() const {
    std::vector<std::string> known = {"arrival_s", "t_s"}, meant;
    known.insert(known.end(), kQuantities.begin(), kQuantities.end());
    for (const metrics::Column& column : metrics::columns()) known.emplace_back(column.metric->key);
    for (const std::string& column : table_.columns) {
      const bool of_rows = std::ranges::find(validation::row_columns(), column, &validation::RowColumn::name) !=
                           validation::row_columns().end();
      const std::string near = of_rows ? "" : nearest(column, known);
      if (!near.empty()) meant.push_back(fmt::format("{} for {}", in_quotes(near), in_quotes(column)));
    }
    return meant.empty() ? "" : fmt::format("did you mean {}?", fmt::join(meant, ", "));
  }

  static constexpr std::array kQuantities = {quantity::kRunning,    quantity::kWaiting,    quantity::kKvUse,
                                             quantity::kPromptRate, quantity::kOutputRate, quantity::kPower,
                                             quantity::kClock};
  const validation::MeasuredTable& table_;
  std::string path_;
  Diagnostics& diagnostics_;
  bool of_requests_;
  Observed own_;
  std::size_t taken_ = 0, calls_ = 0, untimed_ = 0;
  std::map<std::string, int> told_in_;  // of each figure, its line
};

}  // namespace

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {prometheus(), power_csv(), aiperf(),    guidellm(),
                                          vllm_bench(), vllm_log(),  sglang_log()};
  return all;
}

void read_observed(const std::string& path, std::string_view format, Observed& observed, Diagnostics& diagnostics) {
  const int errors = diagnostics.errors();
  const Reader* reader = reader_of(path, format, diagnostics);
  if (!reader) return;
  Observed own;
  reader->read(path, own, diagnostics);
  if (diagnostics.errors() > errors) return;
  if (says_nothing(own))
    return static_cast<void>(
        diagnostics.error(whole(path), fmt::format("nothing in the file is known of a {}", reader->text)));
  own.sources.push_back(path);
  if (may_share_clock(own, observed, diagnostics)) observed.add(std::move(own), std::string(reader->name));
}

void read_observed_table(const std::string& path, const std::optional<std::filesystem::path>& mapping,
                         const std::optional<Expression>& where, Observed& observed, Diagnostics& diagnostics) {
  const int errors = diagnostics.errors();
  const auto table = validation::read_measured_table(path, validation::RowKind::observation, mapping, diagnostics);
  if (!table) return;
  RowsReader reader(*table, path, diagnostics);
  for (const validation::MeasuredRow& row : table->rows) {
    if (row.left_out) continue;
    if (where && !where->holds([&row](std::string_view name) { return row.value(name); })) continue;
    reader.take(row);
    if (diagnostics.errors() - errors >= traces::RowFile::kMostErrors) break;
  }
  if (diagnostics.errors() > errors) return;
  Observed own = reader.finish();
  if (diagnostics.errors() == errors && may_share_clock(own, observed, diagnostics))
    observed.add(std::move(own), "rows");
}

}  // namespace llmscape::observe
