// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "traces/cells.hpp"
#include "traces/formats.hpp"
#include "traces/row_reader.hpp"

// Azure LLM inference traces (github.com Azure/AzurePublicDataset, AzureLLMInferenceTrace_*.csv; CC-BY-4.0). Every
// answer of the 2023 files has at least one token, so a row without output is refused like any other broken row.
namespace llmscape::traces {
namespace {

constexpr std::string_view kFormat = "azure-csv";
enum Column { kTimestamp, kContextTokens, kGeneratedTokens, kColumns };
const std::vector<std::string> kNames = {"TIMESTAMP", "ContextTokens", "GeneratedTokens"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Whether `text` follows `pattern`, where 0 stands for any digit.
bool follows(std::string_view text, std::string_view pattern) {
  return std::ranges::equal(text, pattern,
                            [](char c, char wanted) { return wanted == '0' ? is_digit(c) : c == wanted; });
}

int number(std::string_view digits) {
  int value = 0;
  for (const char digit : digits) value = value * 10 + (digit - '0');
  return value;
}

// Nanoseconds since 1970 of "2023-11-16 18:17:03.9799600" (UTC; the 2024 files write "+00:00" behind it).
std::optional<std::int64_t> parse_stamp(std::string_view text) {
  using std::chrono::year_month_day, std::chrono::year, std::chrono::month, std::chrono::day;
  constexpr std::string_view kPattern = "0000-00-00 00:00:00";
  if (text.ends_with("+00:00")) text.remove_suffix(6);
  if (!follows(text.substr(0, kPattern.size()), kPattern)) return std::nullopt;
  std::int64_t fraction = 0;
  if (const std::string_view point = text.substr(kPattern.size()); !point.empty()) {
    if (!follows(point, std::string_view(".000000000").substr(0, point.size())) || point.size() < 2)
      return std::nullopt;
    fraction = number(point.substr(1));
    for (std::size_t digits = point.size() - 1; digits < 9; ++digits) fraction *= 10;
  }
  const year_month_day date(year(number(text.substr(0, 4))), month(static_cast<unsigned>(number(text.substr(5, 2)))),
                            day(static_cast<unsigned>(number(text.substr(8, 2)))));
  const int hours = number(text.substr(11, 2)), minutes = number(text.substr(14, 2)),
            seconds = number(text.substr(17, 2));
  // Years beyond these would not fit into 64 bits of nanoseconds.
  if (!date.ok() || date.year() < year(1970) || date.year() > year(2200)) return std::nullopt;
  if (hours > 23 || minutes > 59 || seconds > 59) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1'000'000'000 + fraction;
}

class AzureReader final : public RowReader {
 public:
  explicit AzureReader(const std::string& path) : RowReader(kFormat, path) {}

 private:
  bool read_header(const Row& row) override {
    split_cells(row.text(), cells_);
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const std::string name(row.text(cells_[i]));
      const auto known = std::ranges::find(kNames, name);
      if (known == kNames.end()) {
        row.error(cells_[i], fmt::format("unknown column {}", in_quotes(name)), did_you_mean(name, kNames));
        continue;
      }
      auto& place = place_[static_cast<std::size_t>(known - kNames.begin())];
      if (place) row.error(cells_[i], fmt::format("column '{}' stands twice", name));
      place = i;
    }
    for (std::size_t column = 0; column < kColumns; ++column)
      if (!place_[column]) row.error({}, fmt::format("column '{}' is missing", kNames[column]));
    return true;
  }

  std::optional<TimedRecord> read(const Row& row) override {
    split_cells(row.text(), cells_);
    if (cells_.size() != kColumns) {
      row.error({}, fmt::format("{} columns where the header has {}", cells_.size(), +kColumns));
      return std::nullopt;
    }
    const Span stamp = cells_[*place_[kTimestamp]];
    const auto time = parse_stamp(row.text(stamp));
    if (!time)
      row.error(stamp, fmt::format("'TIMESTAMP' must look like 2023-11-16 18:17:03.9799600; got {}",
                                   in_quotes(row.text(stamp))));
    const auto prompt = row.tokens({kNames[kContextTokens], cells_[*place_[kContextTokens]]});
    const auto output = row.tokens({kNames[kGeneratedTokens], cells_[*place_[kGeneratedTokens]]});
    if (!time || !prompt || !output) return std::nullopt;
    TimedRecord timed;
    timed.nanoseconds = *time;
    timed.time = stamp;
    timed.record.prompt = {unique_content(*prompt)};
    timed.record.prompt_tokens = *prompt;
    timed.record.output_tokens = *output;
    return timed;
  }

  std::array<std::optional<std::size_t>, kColumns> place_;  // of each column in a row
  std::vector<Span> cells_;                                 // of the row being read
};

}  // namespace

TraceFormat azure_csv() {
  return {kFormat, "Azure LLM inference traces: arrival, prompt and output length, no content",
          [](std::string_view, std::string_view first_line) {
            return first_line.find("TIMESTAMP,") != first_line.npos ||
                   first_line.find("ContextTokens") != first_line.npos;
          },
          &open_as<AzureReader>};
}

}  // namespace llmscape::traces
