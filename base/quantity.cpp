// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace llmscape {
namespace {

constexpr std::string_view kDigits = "0123456789";
// Products of a few quantities stay numbers: no figure of a machine or a workload comes near, in any SI unit.
constexpr double kLeast = 1e-60, kMost = 1e60;

std::size_t digits_at(std::string_view text, std::size_t from) {
  return std::min(text.find_first_not_of(kDigits, from), text.size()) - from;
}

// Length of the number that `text` begins with: digits, perhaps in groups of three with '_', a fraction, an exponent.
std::size_t number_length(std::string_view text) {
  std::size_t end = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits_at(text, end);
  if (whole == 0) return 0;
  end += whole;
  while (whole <= 3 && end < text.size() && text[end] == '_' && digits_at(text, end + 1) == 3) end += 4;
  if (end < text.size() && text[end] == '.')
    if (const std::size_t fraction = digits_at(text, end + 1)) end += 1 + fraction;
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    const std::size_t sign = end + 1 < text.size() && (text[end + 1] == '-' || text[end + 1] == '+') ? 1 : 0;
    if (const std::size_t exponent = digits_at(text, end + 1 + sign)) end += 1 + sign + exponent;
  }
  return end;
}

bool has_leading_zero(std::string_view number) {
  if (number.starts_with('-')) number.remove_prefix(1);
  return number.starts_with('0') && std::min(number.find_first_not_of("0123456789_"), number.size()) > 1;
}

// number x 10^decimal, rounded once, so that "200 ms" and "0.2 s" are the same double; nothing if no double can hold
// it.
std::optional<double> scaled(std::string number, std::int64_t decimal) {
  std::erase(number, '_');
  const std::size_t e = number.find_first_of("eE");
  if (e != std::string::npos) {
    const std::size_t digits = e + (number[e + 1] == '+' ? 2 : 1);
    int exponent = 0;
    if (std::from_chars(number.data() + digits, number.data() + number.size(), exponent).ec != std::errc()) return {};
    number.resize(e);
    decimal += exponent;
  }
  if (decimal != 0) number += fmt::format("e{}", decimal);
  double value = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), value).ec != std::errc()) return {};
  return value;
}

std::optional<double> value_of(std::string_view number, const Unit& unit) {
  const auto value = scaled(std::string(number), unit.decimal);
  if (!value) return {};
  const double si = std::ldexp(*value, unit.binary) * unit.times / unit.over;
  return std::isfinite(si) ? std::optional(si) : std::nullopt;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

QuantityError unit_missing(std::string_view number, Dimension dimension) {
  const std::string_view example = example_of(dimension);
  const auto si = scaled(std::string(number), 0);
  // Very large and very small numbers are meant in SI units; others rather in the unit that is usual.
  const bool is_si = si && *si != 0 && (std::abs(*si) < 1e-3 || std::abs(*si) >= 1e6);
  const std::string due =
      is_si ? format_quantity(*si, dimension) : fmt::format("{}{}", number, example.substr(example.find(' ')));
  // A rate may be meant per second or per hour: only who wrote it knows.
  if (dimension == Dimension::rate && !is_si)
    return {fmt::format("needs a unit, for example {} or {} /h", due, number), ""};
  return {fmt::format("needs a unit, for example {}", due), ""};
}

QuantityError unit_unknown(std::string_view number, std::string_view written, Dimension dimension) {
  const std::string_view due = dimension == Dimension::number ? "a plain number" : name_of(dimension);
  for (const Dimension other : kDimensions)
    if (find_unit(written, other)) return {fmt::format("has a unit of {} where {} is due", name_of(other), due), ""};
  if (dimension == Dimension::number) {
    const auto share = written == "%" ? scaled(std::string(number), -2) : std::nullopt;
    return {fmt::format("has '{}' behind the number", written), share ? format_quantity(*share, dimension) : ""};
  }
  const std::string meant = meant_unit(written, dimension);
  return {fmt::format("has the unknown unit '{}'; {} is written like {}", written, due, example_of(dimension)),
          meant.empty() ? "" : fmt::format("{} {}", number, meant)};
}

// |si| / 10^decimal in as few digits as identify it, without an exponent: nothing is rounded.
std::string plain_digits(double si, int decimal) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.begin(), buffer.end(), std::abs(si), std::chars_format::scientific).ptr;
  std::string digits(buffer.begin(), end);
  const std::size_t e = digits.find('e');
  const int point = std::stoi(digits.substr(e + 1)) - decimal + 1;  // digits before the decimal point
  digits.resize(e);
  std::erase(digits, '.');
  const int count = static_cast<int>(digits.size());
  if (point <= 0) return "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  if (point >= count) return digits + std::string(static_cast<std::size_t>(point - count), '0');
  return digits.insert(static_cast<std::size_t>(point), ".");
}

// Nothing (an empty text) if it is beyond the range of a double in that unit.
std::string text_in(double si, const Unit& unit) {
  const double in_unit = std::ldexp(si * unit.over / unit.times, -unit.binary);
  if (!std::isfinite(in_unit)) return {};
  return fmt::format("{}{} {}", si < 0 ? "-" : "", plain_digits(in_unit, unit.decimal), unit.symbol);
}

// Shorter texts first, then those that begin with one to three digits before the point.
std::pair<std::size_t, bool> untidiness(std::string_view text) {
  const std::size_t whole = digits_at(text, text.starts_with('-') ? 1 : 0);
  return {text.size(), whole > 3 || text.starts_with("0") || text.starts_with("-0")};
}

}  // namespace

std::variant<double, QuantityError> parse_quantity(std::string_view text, Dimension dimension) {
  text = trim(text);
  const std::size_t length = number_length(text);
  const std::string_view number = text.substr(0, length), symbol = trim(text.substr(length));
  if (length == 0) {
    const bool begins_with_point = text.starts_with('.') && digits_at(text, 1) > 0;
    return QuantityError{fmt::format("is no {}; write it like {}", name_of(dimension), example_of(dimension)),
                         begins_with_point ? fmt::format("0{}", text) : ""};
  }
  if (has_leading_zero(number)) return QuantityError{"has a leading zero", ""};
  if (number == "0" && symbol.size() > 1 && (symbol[0] == 'x' || symbol[0] == 'X') &&
      std::isxdigit(static_cast<unsigned char>(symbol[1])) != 0)
    return QuantityError{"is hexadecimal; write it in decimal digits", ""};

  std::optional<double> value;
  if (dimension == Dimension::number) {
    if (!symbol.empty()) return unit_unknown(number, symbol, dimension);
    value = scaled(std::string(number), 0);
  } else {
    if (symbol.empty()) return unit_missing(number, dimension);
    const Unit* unit = find_unit(symbol, dimension);
    if (!unit) return unit_unknown(number, symbol, dimension);
    value = value_of(number, *unit);
  }
  if (!value) return QuantityError{"is beyond the range of a double", ""};
  if (*value != 0 && (std::abs(*value) < kLeast || std::abs(*value) > kMost))
    return QuantityError{fmt::format("is beyond what is computed with: {:g} to {:g}", kLeast, kMost), ""};
  return *value;
}

std::string format_quantity(double si, Dimension dimension) {
  std::string best = fmt::format("{}", si);
  if (dimension == Dimension::number) return best;
  const std::span<const Unit> units = units_of(dimension);
  best += ' ' + units.front().symbol;  // the number perhaps with an exponent
  if (si == 0 || !std::isfinite(si)) return best;
  for (const Unit& unit : units) {
    if (!unit.printed) continue;
    std::string text = text_in(si, unit);
    if (untidiness(text) >= untidiness(best)) continue;
    const auto read = parse_quantity(text, dimension);
    if (const double* again = std::get_if<double>(&read); again && *again == si) best = std::move(text);
  }
  return best;
}

}  // namespace llmscape
