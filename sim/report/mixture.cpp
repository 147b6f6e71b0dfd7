// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "sim/explore/axis_role.hpp"
#include "sim/report/frontier.hpp"

namespace llmscape::report {
namespace {

using explore::Slice;

// "model.weights (bf16, fp8)": a key in which slices differ, with its first values.
std::string with_values(const std::vector<Slice>& slices, std::size_t key) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> values;
  for (const Slice& slice : slices)
    if (std::ranges::find(values, slice.values[key]) == values.end()) values.push_back(slice.values[key]);
  const std::string more = values.size() > kMost ? fmt::format(" and {} more", values.size() - kMost) : "";
  if (values.size() > kMost) values.resize(kMost);
  return fmt::format("{} ({}{})", slices.front().keys[key], fmt::join(values, ", "), more);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

std::string in_condition(const std::string& value) {
  if (!std::holds_alternative<std::string>(value_of(value))) return value;
  return '"' + replaced(value, "\"", "\"\"") + '"';
}

std::string in_shell(std::string text) { return replaced(std::move(text), "'", "'\\''"); }

std::string mixture_notice(const FrontierView& view) {
  if (view.query.objectives.size() == 1) return "";
  explore::ResultsTable drawn{view.table.folder, view.table.axes, {}};
  for (const explore::ParetoPoint& point : view.answer.points)
    for (const std::size_t row : view.answer.configurations[point.configuration].rows)
      drawn.rows.push_back(view.table.rows[row]);
  if (drawn.rows.empty()) return "";
  const auto group = view.query.group ? explore::find_axis(drawn.axes, view.query.group->text()) : std::nullopt;
  const std::vector<Slice> slices = comparable_slices(drawn, group, counted_in(view.query.objectives));
  if (slices.size() < 2) return "";
  std::vector<std::string> mixed, one;
  for (std::size_t key = 0; key < slices.front().keys.size(); ++key) {
    mixed.push_back(with_values(slices, key));
    one.push_back(fmt::format("{} == {}", slices.front().keys[key], in_condition(slices.front().values[key])));
  }
  return fmt::format("Notice: frontiers and tables below mix what is not compared: {}. One of each: --where '{}'",
                     fmt::join(mixed, ", "), in_shell(fmt::format("{}", fmt::join(one, " and "))));
}

}  // namespace llmscape::report
