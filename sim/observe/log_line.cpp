// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/log_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>

namespace llmscape::observe {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits of a pattern are '0', anything else stands as it is.
bool matches(std::string_view text, std::string_view pattern) {
  if (text.size() < pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] == '0' ? !is_digit(text[i]) : pattern[i] != '?' && pattern[i] != text[i]) return false;
  return true;
}

int whole(std::string_view text, std::size_t at, std::size_t digits) {
  int value = 0;
  std::from_chars(text.data() + at, text.data() + at + digits, value);
  return value;
}

// Nothing where there is no such day or hour.
std::optional<double> seconds_of(int year, int month, int day, std::string_view clock) {
  using namespace std::chrono;
  const year_month_day calendar = std::chrono::year(year) / month / day;
  // 29 February is a day where the year is not told.
  const bool leap = month == 2 && day == 29;
  if (!calendar.ok() && !leap) return std::nullopt;
  if (whole(clock, 0, 2) > 23 || whole(clock, 3, 2) > 59 || whole(clock, 6, 2) > 60) return std::nullopt;
  const sys_days date = calendar;
  double seconds = static_cast<double>(duration_cast<std::chrono::seconds>(date.time_since_epoch()).count()) +
                   3600 * whole(clock, 0, 2) + 60 * whole(clock, 3, 2) + whole(clock, 6, 2);
  if (clock.size() > 9 && (clock[8] == '.' || clock[8] == ',')) {
    double share = 0.1;
    for (std::size_t i = 9; i < clock.size() && is_digit(clock[i]); ++i, share /= 10)
      seconds += share * (clock[i] - '0');
  }
  return seconds;
}

}  // namespace

std::optional<double> time_in(std::string_view line) {
  constexpr std::size_t kLook = 120;  // a time stands at the beginning
  for (std::size_t at = 0; at + 14 <= line.size() && at < kLook; ++at) {
    if (!is_digit(line[at]) || (at > 0 && is_digit(line[at - 1]))) continue;
    const std::string_view rest = line.substr(at);
    if (matches(rest, "0000?00?00?00:00:00"))
      return seconds_of(whole(rest, 0, 4), whole(rest, 5, 2), whole(rest, 8, 2), rest.substr(11));
    if (matches(rest, "00-00 00:00:00")) return seconds_of(1970, whole(rest, 0, 2), whole(rest, 3, 2), rest.substr(6));
  }
  return std::nullopt;
}

std::optional<double> find_number(std::string_view line, std::string_view key) {
  const std::size_t place = line.find(key);
  if (place == line.npos) return std::nullopt;
  std::string digits;  // without the commas of thousands
  std::size_t at = place + key.size();
  while (at < line.size() && line[at] == ' ') ++at;
  for (; at < line.size() && (is_digit(line[at]) || line[at] == '.' || line[at] == ',' || line[at] == '-' ||
                              line[at] == 'e' || line[at] == '+');
       ++at) {
    if (line[at] == ',' && !(at + 3 < line.size() && matches(line.substr(at), ",000"))) break;
    if (line[at] != ',') digits += line[at];
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole_text = end == digits.data() + digits.size() || *end == '.';
  if (error != std::errc() || !whole_text || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> number_behind(const traces::Row& row, std::string_view key, double most) {
  const auto value = find_number(row.text(), key);
  if (value && *value >= 0 && *value <= most) return value;
  const std::size_t place = row.text().find(key);
  if (value && *value < 0) row.error({place, key.size()}, fmt::format("the number behind '{}' is below 0", key));
  else if (value) row.error({place, key.size()}, fmt::format("the number behind '{}' is above {:g}", key, most));
  else if (place == std::string_view::npos) row.error({}, fmt::format("the line has no '{}'", key));
  else row.error({place, key.size()}, fmt::format("no number follows '{}'", key));
  return std::nullopt;
}

bool Moments::follows(const traces::Row& row, traces::Span where, double at) {
  if (last_ && at < *last_ - kReordered) {
    row.error(where, fmt::format("the time goes back by {:.6g} s", *last_ - at),
              "lines of one run of one server, in their order");
    return false;
  }
  last_ = std::max(last_.value_or(at), at);
  return true;
}

std::map<std::string, std::string> python_arguments(std::string_view text) {
  std::map<std::string, std::string> arguments;
  const std::size_t open = text.find_first_of("{(");
  if (open == text.npos) return arguments;
  std::string key, value;
  bool in_value = false;
  int depth = 0;
  char quote = 0;
  const auto keep = [&] {
    const auto trimmed = [](std::string s) {
      const auto first = s.find_first_not_of(" '\""), last = s.find_last_not_of(" '\"");
      return first == s.npos ? std::string() : s.substr(first, last - first + 1);
    };
    if (in_value && !trimmed(key).empty()) arguments[trimmed(key)] = trimmed(value);
    key.clear();
    value.clear();
    in_value = false;
  };
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    const char c = text[i];
    std::string& to = in_value ? value : key;
    if (quote) {
      if (c == quote) quote = 0;
      to += c;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (depth == 0 && (c == '}' || c == ')')) break;
    if (c == '{' || c == '(' || c == '[') ++depth;
    if (c == '}' || c == ')' || c == ']') --depth;
    if (depth == 0 && c == ',') keep();
    else if (depth == 0 && !in_value && (c == ':' || c == '=')) in_value = true;
    else to += c;
  }
  keep();
  return arguments;
}

}  // namespace llmscape::observe
