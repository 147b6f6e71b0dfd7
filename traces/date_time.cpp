// SPDX-License-Identifier: Apache-2.0
#include "traces/date_time.hpp"

#include <algorithm>
#include <chrono>

#include "traces/row.hpp"

namespace llmscape::traces {
namespace {

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

// Takes the offset from UTC off the end of `text`, in seconds: 0 where there is none.
std::optional<std::int64_t> take_offset(std::string_view& text) {
  if (text.ends_with('Z')) {
    text.remove_suffix(1);
    return 0;
  }
  constexpr std::size_t kLength = 6;  // +02:00
  if (text.size() < kLength) return std::nullopt;
  const std::string_view offset = text.substr(text.size() - kLength);
  if (!follows(offset, "+00:00") && !follows(offset, "-00:00")) return 0;
  const int hours = number(offset.substr(1, 2)), minutes = number(offset.substr(4, 2));
  if (hours > 23 || minutes > 59) return std::nullopt;
  text.remove_suffix(kLength);
  return (offset.front() == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
}

}  // namespace

std::optional<std::int64_t> parse_date_time(std::string_view text) {
  using std::chrono::year_month_day, std::chrono::year, std::chrono::month, std::chrono::day;
  constexpr std::string_view kPattern = "0000-00-00 00:00:00", kInternet = "0000-00-00T00:00:00";
  const auto offset = take_offset(text);
  const std::string_view whole_seconds = text.substr(0, kPattern.size());
  if (!offset || (!follows(whole_seconds, kPattern) && !follows(whole_seconds, kInternet))) return std::nullopt;
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
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds - *offset) * kNanosecondsPerSecond + fraction;
}

}  // namespace llmscape::traces
