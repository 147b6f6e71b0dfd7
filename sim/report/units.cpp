// SPDX-License-Identifier: Apache-2.0
#include "sim/report/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmscape::report {
namespace {

int digits_before_point(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1; }

// Three digits without an exponent: 45.2, 812, 2.31, 0.0412.
std::string three_digits(double value) {
  if (value == 0) return "0";
  const double last = std::pow(10, digits_before_point(value) - 3);
  const double rounded = std::round(value / last) * last;  // may have a digit more before its point: 0.9996 is 1.00
  return fmt::format("{:.{}f}", value, std::clamp(3 - digits_before_point(rounded), 0, 9));
}

}  // namespace

std::string duration(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995e-3) return three_digits(seconds * 1e6) + " us";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds) + " s";
}

std::string amount(double value) {
  return std::abs(value) >= 999.5 ? grouped(std::llround(value)) : three_digits(value);
}

std::string grouped(std::int64_t count) {
  std::string text = std::to_string(count);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t place = text.size(); place > first + 3;) {
    place -= 3;
    text.insert(place, ",");
  }
  return text;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string percent(const std::optional<double>& share) { return share ? percent(*share) : "-"; }

std::string in_unit(double value, std::string_view unit) {
  if (unit == "s" && value >= 0) return duration(value);
  if (unit == "share") return percent(value);
  return amount(value);
}

std::string with_unit(double value, std::string_view unit) {
  std::string text = in_unit(value, unit);
  const bool has_it = unit.empty() || unit == "share" || (unit == "s" && value >= 0);
  if (has_it || unit.starts_with("1/") || unit.starts_with("tokens/")) return text;
  const std::size_t over = unit.find("/Mtoken"), one = unit.find("/token");
  return fmt::format("{} {}", text, unit.substr(0, std::min({over, one, unit.size()})));
}

std::string ratio_text(double ratio) {
  const bool many = std::abs(ratio) >= 999.5 && std::abs(ratio) < 1e15;
  return many ? grouped(std::llround(ratio)) + 'x' : fmt::format("{:.3g}x", ratio);
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  for (std::size_t used = 0; !text.empty();) {
    const std::string_view word = text.substr(0, text.find(' '));
    const bool breaks = used > 0 && used + 1 + word.size() > width;
    if (breaks) out += '\n' + std::string(indent, ' ');
    else if (used > 0) out += ' ';
    out += word;
    used = (breaks ? 0 : used + (used > 0)) + word.size();
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return out;
}

}  // namespace llmscape::report
