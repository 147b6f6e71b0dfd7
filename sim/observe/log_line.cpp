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

constexpr int kLeapYear = 1972;  // of times that tell no year: 29 February may be a day of it

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
  if (!calendar.ok()) return std::nullopt;
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

// Where a character of Python's text of a value stands.
class PythonText {
 public:
  void pass(char c) {
    if (escaped_) escaped_ = false;
    else if (quote_ && c == '\\') escaped_ = true;
    else if (quote_) quote_ = c == quote_ ? 0 : quote_;
    else if (c == '\'' || c == '"') quote_ = c;
    else if (c == '{' || c == '(' || c == '[') ++depth_;
    else if (c == '}' || c == ')' || c == ']') --depth_;
  }
  // Neither in a text nor in brackets.
  [[nodiscard]] bool outside() const { return !quote_ && depth_ == 0; }

 private:
  char quote_ = 0;
  bool escaped_ = false;
  int depth_ = 0;
};

// What stands between the commas of a bracket with which the text begins.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  PythonText scan;
  std::size_t begin = 1, at = 1;
  const auto keep = [&] {
    const std::string_view part = text.substr(begin, at - begin);
    if (part.find_first_not_of(' ') != part.npos) parts.push_back(part);
    begin = at + 1;
  };
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (scan.outside() && (c == '}' || c == ')' || c == ']')) break;
    if (scan.outside() && c == ',') keep();
    else scan.pass(c);
  }
  if (begin < text.size()) keep();
  return parts;
}

// Without the blanks around it; of a text, what it says.
std::string unquoted(std::string_view value) {
  const std::size_t first = value.find_first_not_of(' ');
  if (first == value.npos) return {};
  value = value.substr(first, value.find_last_not_of(' ') - first + 1);
  const char quote = value.front();
  if (value.size() < 2 || (quote != '\'' && quote != '"') || value.back() != quote) return std::string(value);
  std::string text;
  for (std::size_t i = 1; i + 1 < value.size(); ++i) {
    const bool escape = value[i] == '\\' && (value[i + 1] == '\'' || value[i + 1] == '"' || value[i + 1] == '\\');
    text += value[escape && i + 2 < value.size() ? ++i : i];
  }
  return text;
}

}  // namespace

std::optional<double> time_in(std::string_view line) {
  constexpr std::size_t kLook = 120;  // a time stands at the beginning
  for (std::size_t at = 0; at + 14 <= line.size() && at < kLook; ++at) {
    if (!is_digit(line[at]) || (at > 0 && is_digit(line[at - 1]))) continue;
    const std::string_view rest = line.substr(at);
    if (matches(rest, "0000?00?00?00:00:00"))
      return seconds_of(whole(rest, 0, 4), whole(rest, 5, 2), whole(rest, 8, 2), rest.substr(11));
    if (matches(rest, "00-00 00:00:00"))
      return seconds_of(kLeapYear, whole(rest, 0, 2), whole(rest, 3, 2), rest.substr(6));
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

double YearlessClock::at(double told) {
  constexpr double kDay = 86400, kYear = 366 * kDay, kBegin = 2 * 365 * kDay;  // 1970 and 1971 have 365
  constexpr double kLeapDay = kBegin + (31 + 28) * kDay;
  if (told_ && told >= kBegin && told < kBegin + kYear) {
    const auto before = [](double t) { return t < kLeapDay; };
    const auto after = [](double t) { return t >= kLeapDay + kDay; };
    if (told < *told_ - kYear / 2) shift_ += kYear;
    else if (told > *told_ + kYear / 2) shift_ -= kYear;
    // Most years have no 29 February, and few servers rest for a day.
    else if (before(*told_) && after(told)) shift_ -= kDay;
    else if (after(*told_) && before(told)) shift_ += kDay;
  }
  told_ = told;
  return told + shift_;
}

std::map<std::string, std::string> python_arguments(std::string_view text) {
  std::map<std::string, std::string> arguments;
  const std::size_t open = text.find_first_of("{(");
  if (open == text.npos) return arguments;
  for (const std::string_view part : parts_of(text.substr(open))) {
    PythonText scan;
    std::size_t behind = 0;  // of the sign that ends the name
    while (behind < part.size() && !(scan.outside() && (part[behind] == ':' || part[behind] == '=')))
      scan.pass(part[behind++]);
    const std::string name = unquoted(part.substr(0, behind));
    if (behind < part.size() && !name.empty()) arguments[name] = unquoted(part.substr(behind + 1));
  }
  return arguments;
}

std::vector<std::string> python_items(std::string_view text) {
  std::vector<std::string> items;
  for (const std::string_view part : parts_of(text)) items.push_back(unquoted(part));
  return items;
}

}  // namespace llmscape::observe
