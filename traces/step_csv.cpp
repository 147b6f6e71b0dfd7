// SPDX-License-Identifier: Apache-2.0
#include "traces/step_csv.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "traces/csv_table.hpp"

namespace llmscape::traces {
namespace {

enum StepColumn : std::size_t { kPromptTokens, kDecodes, kContext, kPrompts, kCached, kLongest, kFirstTime };

struct TimeColumn {
  std::string_view name;
  double unit;  // s
  bool whole;
};
constexpr std::array kTimes = {TimeColumn{"device_us", 1e-6, false}, TimeColumn{"device_ms", 1e-3, false},
                               TimeColumn{"device_s", 1, false},     TimeColumn{"step_us", 1e-6, true},
                               TimeColumn{"step_ms", 1e-3, true},    TimeColumn{"step_s", 1, true}};

std::vector<CsvColumn> columns() {
  std::vector<CsvColumn> all = {
      {"prompt_tokens"},         {"decodes"}, {"context"}, {"prompts", false}, {"cached_tokens", false},
      {"longest_context", false}};
  for (const TimeColumn& time : kTimes) all.push_back({std::string(time.name), false});
  return all;
}

void report(const std::string& path, std::string message, Diagnostics& diagnostics) {
  SourceRange where{std::make_shared<const SourceText>(SourceText{path, ""})};
  diagnostics.error(where, std::move(message));
}

// Reports what contradicts itself in the row.
void check(const CsvTable& table, const StepRow& row) {
  if (row.prompt_tokens + row.decodes == 0) table.error(kDecodes, "a step that computes no token");
  if (row.prompt_tokens < row.prompts)
    table.error(kPromptTokens,
                fmt::format("{} tokens of {} prompts: each computes one at least", row.prompt_tokens, row.prompts));
  if (row.prompt_tokens > 0 && row.prompts == 0) table.error(kPrompts, "tokens of prompts, but no prompt");
  if (row.cached_tokens > 0 && row.prompts == 0) table.error(kCached, "cached tokens of no prompt");
  if (row.context < row.decodes)
    table.error(kContext, fmt::format("{} decodes attend to {} entries: each attends at least to the token that it "
                                      "computes",
                                      row.decodes, row.context));
  if (row.decodes == 0 && row.context > 0) table.error(kContext, "a context of no decode");
  if (row.longest_context > row.context) table.error(kLongest, "longer than all contexts together");
}

}  // namespace

std::optional<StepRows> read_step_rows(const std::string& path, Diagnostics& diagnostics) {
  const int errors = diagnostics.errors();
  CsvTable table(path, columns(), diagnostics);
  StepRows rows;
  std::optional<std::size_t> time;
  while (table.next()) {
    if (!time) {
      for (std::size_t i = 0; i < kTimes.size(); ++i) {
        if (!table.has(kFirstTime + i)) continue;
        if (time) {
          report(path, fmt::format("columns '{}' and '{}': one time for each step", kTimes[*time].name, kTimes[i].name),
                 diagnostics);
          return std::nullopt;
        }
        time = i;
      }
      if (!time) {
        report(path, "no column of times: device_us, device_ms, device_s, step_us, step_ms or step_s", diagnostics);
        return std::nullopt;
      }
      rows.whole = kTimes[*time].whole;
      rows.time = kTimes[*time].name;
    }
    const auto whole = [&table](std::size_t column) {
      return table.has(column) ? table.whole(column, 0) : std::optional<std::int64_t>(0);
    };
    const auto prompt_tokens = whole(kPromptTokens), decodes = whole(kDecodes), context = whole(kContext),
               prompts = whole(kPrompts), cached = whole(kCached), longest = whole(kLongest);
    const auto seconds = table.positive(kFirstTime + *time);
    if (!prompt_tokens || !decodes || !context || !prompts || !cached || !longest || !seconds) continue;
    StepRow row{*prompts, *prompt_tokens, *cached, *decodes, *context, *longest, *seconds * kTimes[*time].unit};
    if (!table.has(kPrompts)) row.prompts = row.prompt_tokens > 0 ? 1 : 0;
    check(table, row);
    rows.steps.push_back(row);
  }
  if (diagnostics.errors() != errors) return std::nullopt;
  return rows;
}

}  // namespace llmscape::traces
