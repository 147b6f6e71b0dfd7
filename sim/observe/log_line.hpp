// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/row.hpp"

// Pieces of log lines.
namespace llmscape::observe {

// The moment that stands first in the line, in seconds: "2025-05-01 12:00:00,123", "2025/05/01 12:00:00.123",
// "2025-05-01T12:00:00", or "05-01 12:00:00" (of no year: in 1972, which had a 29 February).
std::optional<double> time_in(std::string_view line);

// The number behind `key`, which ends where the number does; nothing, after reporting at the line, where `key` is not
// there, no number follows, or it is below 0 or above `most`.
std::optional<double> number_behind(const traces::Row& row, std::string_view key, double most = 1e15);
// The same without reporting.
std::optional<double> find_number(std::string_view line, std::string_view key);

// Moments of one file, in its order. Lines that several threads wrote may change places, by kReordered seconds.
class Moments {
 public:
  static constexpr double kReordered = 10;
  // Whether `at` may follow; reports at `where` in the row where it goes back.
  bool follows(const traces::Row& row, traces::Span where, double at);

 private:
  std::optional<double> last_;
};

// Times of a log that tells no year, as time_in has them, one after the other: goes on over New Year, and over the end
// of February where that has no 29th.
class YearlessClock {
 public:
  double at(double told);

 private:
  std::optional<double> told_;
  double shift_ = 0;
};

// Arguments as Python prints them: "{'a': 1, 'b': 'x'}", "Args(a=1, b='x')": name to text without quotes; those with
// values of several parts keep them as they are.
std::map<std::string, std::string> python_arguments(std::string_view text);
// The items of a list as Python prints it: "['a', Path(b='c, d')]" has two.
std::vector<std::string> python_items(std::string_view text);

}  // namespace llmscape::observe
