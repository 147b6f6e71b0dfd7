// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/readers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/validation/measured_rows.hpp"

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
  observed.add(std::move(own), std::string(reader->name));
}

void read_observed_table(const std::string& path, const std::optional<std::filesystem::path>& mapping,
                         const std::optional<Expression>& where, Observed& observed, Diagnostics& diagnostics) {
  const auto table = validation::read_measured_table(path, validation::RowKind::observation, mapping, diagnostics);
  if (!table) return;
  const auto measured = [&](const validation::MeasuredRow& row, std::string_view metric) -> std::optional<double> {
    for (std::size_t i = 0; i < table->metrics.size(); ++i)
      if (table->metrics[i].name == metric) return row.measured[i];
    return std::nullopt;
  };
  Observed own;
  std::size_t taken = 0, calls = 0;
  for (const validation::MeasuredRow& row : table->rows) {
    if (row.left_out) continue;
    if (where && !where->holds([&row](std::string_view name) { return row.value(name); })) continue;
    ++taken;
    const auto number = [&](std::string_view column) -> std::optional<double> {
      const auto value = row.value(column);
      const double* n = value ? std::get_if<double>(&*value) : nullptr;
      return n ? std::optional(*n) : std::nullopt;
    };
    if (const auto arrival = number("arrival_s")) {
      Request r{*arrival, static_cast<std::int64_t>(number("prompt_tokens").value_or(0)),
                static_cast<std::int64_t>(number("output_tokens").value_or(0)), measured(row, "ttft"),
                measured(row, "e2e")};
      const auto tpot = measured(row, "tpot");
      if (!r.e2e && r.ttft && (tpot || r.output_tokens == 1))
        r.e2e = *r.ttft + tpot.value_or(0) * static_cast<double>(r.output_tokens - 1);
      ++calls;
      if (r.prompt_tokens > 0 && r.output_tokens > 0) own.requests.push_back(r);
    }
    const auto device = row.value("device");
    const auto at = number("t_s");
    if (!at && !number("arrival_s"))
      for (std::size_t i = 0; i < table->metrics.size(); ++i)
        if (row.measured[i]) own.numbers[full_name(table->metrics[i].name)] = *row.measured[i];
    if (at)
      for (const char* quantity : {quantity::kRunning, quantity::kWaiting, quantity::kKvUse, quantity::kPromptRate,
                                   quantity::kOutputRate, quantity::kPower, quantity::kClock})
        if (const auto value = number(quantity))
          own.courses[quantity][device ? validation::text_of(*device) : "0"].add(*at, *value);
  }
  if (taken == 0) diagnostics.error(whole(path), "no row of the table is meant");
  own.note_unanswered(calls - own.requests.size(), calls);
  own.sources.push_back(path);
  observed.add(std::move(own), "rows");
}

}  // namespace llmscape::observe
