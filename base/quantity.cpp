// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "base/diagnostics.hpp"

namespace llmscape {
namespace {

enum class Printed { yes, no };

// A symbol with the prefixes that may stand before it (' ' is none). One unit without prefix is times / over SI units.
struct UnitFamily {
  Dimension dimension;
  std::string_view prefixes;
  std::string_view symbol;
  Printed printed = Printed::yes;  // whether format_quantity may choose it
  double times = 1, over = 1;
  int decimal = 0;  // and times this power of ten
};

// The first of a dimension is its SI unit. Rates print as Hz only from MHz: 2000 requests a second are no 2 kHz.
constexpr std::string_view kDecimalPrefixes = "fpnum kMGTPE";
constexpr std::string_view kBinaryPrefixes = " KMGTPE";  // for symbols that begin with 'i'
constexpr UnitFamily kUnitFamilies[] = {
    {Dimension::time, " munp", "s"},
    {Dimension::time, " ", "min", Printed::yes, 60},
    {Dimension::time, " ", "h", Printed::yes, 3600},
    {Dimension::time, " ", "d", Printed::yes, 86400},
    {Dimension::rate, " ", "/s"},
    {Dimension::rate, " ", "/min", Printed::yes, 1, 60},
    {Dimension::rate, " ", "/h", Printed::yes, 1, 3600},
    {Dimension::rate, "MG", "Hz"},
    {Dimension::rate, " k", "Hz", Printed::no},
    {Dimension::data, " kMGTPE", "B"},
    {Dimension::data, "KMGTPE", "iB"},
    {Dimension::bandwidth, " kMGTPE", "B/s"},
    {Dimension::bandwidth, "KMGTPE", "iB/s"},
    {Dimension::bandwidth, " kMGTPE", "bit/s", Printed::no, 1, 8},
    {Dimension::work, " kMGTPE", "flop"},
    {Dimension::work, " kMGTPE", "FLOP", Printed::no},
    {Dimension::work, " kMGTPE", "op", Printed::no},
    {Dimension::throughput, " kMGTPE", "flop/s"},
    {Dimension::throughput, " kMGTPE", "FLOP/s", Printed::no},
    {Dimension::throughput, " kMGTPE", "op/s", Printed::no},
    {Dimension::energy, " fpnumkMG", "J"},
    {Dimension::energy, " ", "kWh", Printed::no, 3.6e6},
    {Dimension::power, " numkMG", "W"},
    {Dimension::energy_per_byte, " fpnum", "J/B"},
    {Dimension::energy_per_byte, " fpnum", "J/bit", Printed::no, 8},
    {Dimension::energy_per_flop, " fpnum", "J/flop"},
    {Dimension::energy_per_flop, " fpnum", "J/FLOP", Printed::no},
    {Dimension::energy_per_flop, " fpnum", "J/op", Printed::no},
    {Dimension::area, " ", "m2"},
    {Dimension::area, " ", "mm2", Printed::yes, 1, 1, -6},
};

struct Unit {
  std::string symbol;
  const UnitFamily* family;
  int decimal = 0;  // powers of ten and of two
  int binary = 0;
};

int index(std::string_view text, char c) { return static_cast<int>(text.find(c)); }

const std::vector<Unit>& units() {
  static const std::vector<Unit> all = [] {
    std::vector<Unit> list;
    for (const UnitFamily& family : kUnitFamilies) {
      for (const char prefix : family.prefixes) {
        Unit unit{prefix == ' ' ? "" : std::string(1, prefix), &family};
        unit.symbol += family.symbol;
        if (family.symbol.front() == 'i') {
          unit.binary = 10 * index(kBinaryPrefixes, prefix);
        } else {
          unit.decimal = family.decimal + 3 * (index(kDecimalPrefixes, prefix) - index(kDecimalPrefixes, ' '));
        }
        list.push_back(std::move(unit));
      }
    }
    return list;
  }();
  return all;
}

const Unit* find_unit(std::string_view symbol, Dimension dimension) {
  for (const Unit& unit : units())
    if (unit.family->dimension == dimension && unit.symbol == symbol) return &unit;
  return nullptr;
}

constexpr std::string_view kDigits = "0123456789";

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

// number x 10^decimal, rounded once, so that "200 ms" and "0.2 s" are the same double; nothing if no double can hold it.
std::optional<double> scaled(std::string number, int decimal) {
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
  const double si = std::ldexp(*value, unit.binary) * unit.family->times / unit.family->over;
  return std::isfinite(si) ? std::optional(si) : std::nullopt;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Spellings from elsewhere, as endings: "TFLOPS" is meant as "Tflop/s".
struct Ending {
  std::string_view written, meant;
};
constexpr Ending kEndings[] = {
    {"", ""},         {"flops", "flop/s"}, {"flops", "flop"}, {"ops", "flop/s"}, {"ops", "flop"},   {"Bps", "B/s"},
    {"bps", "bit/s"}, {"b/s", "bit/s"},    {"bytes", "B"},    {"byte", "B"},     {"seconds", "s"},  {"second", "s"},
    {"sec", "s"},     {"minutes", "min"},  {"minute", "min"}, {"hours", "h"},    {"hour", "h"},     {"days", "d"},
    {"day", "d"},     {"µs", "us"},        {"rps", "/s"},     {"qps", "/s"},     {"req/s", "/s"},   {"1/s", "/s"},
    {"joules", "J"},  {"watts", "W"},      {"mm^2", "mm2"},   {"mm²", "mm2"},
};

// The unit that was probably meant, or an empty text: the same letters in another case, a usual spelling, a typing mistake.
std::string meant_unit(std::string_view written, Dimension dimension) {
  std::vector<std::string> symbols;
  for (const Unit& unit : units())
    if (unit.family->dimension == dimension) symbols.push_back(unit.symbol);
  for (const bool any_case : {false, true}) {
    const auto folded = [any_case](std::string_view text) { return any_case ? lower(text) : std::string(text); };
    const std::string text = folded(written);
    for (const Ending& ending : kEndings) {
      if (!text.ends_with(folded(ending.written))) continue;
      const std::string meant = text.substr(0, text.size() - ending.written.size()) + folded(ending.meant);
      for (const std::string& symbol : symbols)
        if (folded(symbol) == meant) return symbol;
    }
  }
  return nearest(written, symbols);
}

QuantityError unit_missing(std::string_view number, Dimension dimension) {
  const std::string_view example = example_of(dimension);
  const auto si = scaled(std::string(number), 0);
  // Very large and very small numbers are meant in SI units; others rather in the unit that is usual.
  const bool plain = !si || *si == 0 || (std::abs(*si) >= 1e-3 && std::abs(*si) < 1e6);
  return {fmt::format("needs a unit, for example {}", plain ? fmt::format("{}{}", number, example.substr(example.find(' ')))
                                                            : format_quantity(*si, dimension)),
          ""};
}

QuantityError unit_unknown(std::string_view number, std::string_view written, Dimension dimension) {
  const std::string due = dimension == Dimension::number ? "a plain number" : fmt::format("a unit of {}", name_of(dimension));
  for (const Unit& unit : units())
    if (unit.symbol == written)
      return {fmt::format("has a unit of {} where {} is due", name_of(unit.family->dimension), due), ""};
  if (dimension == Dimension::number) return {fmt::format("has '{}' behind it where {} is due", written, due), ""};
  const std::string meant = meant_unit(written, dimension);
  return {fmt::format("has the unknown unit '{}'; {} is written like {}", written, name_of(dimension), example_of(dimension)),
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

std::string text_in(double si, const Unit& unit) {
  const UnitFamily& family = *unit.family;
  const double in_unit = std::ldexp(si * family.over / family.times, -unit.binary);
  return fmt::format("{}{} {}", si < 0 ? "-" : "", plain_digits(in_unit, unit.decimal), unit.symbol);
}

// Shorter texts first, then those that begin with one to three digits before the point.
std::pair<std::size_t, bool> untidiness(std::string_view text) {
  const std::size_t whole = digits_at(text, text.starts_with('-') ? 1 : 0);
  return {text.size(), whole > 3 || text.starts_with("0") || text.starts_with("-0")};
}

}  // namespace

std::variant<double, QuantityError> parse_quantity(std::string_view text, Dimension dimension) {
  const auto trim = [](std::string_view t) {
    const std::size_t first = t.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view() : t.substr(first, t.find_last_not_of(" \t") - first + 1);
  };
  text = trim(text);
  const std::size_t length = number_length(text);
  const std::string_view number = text.substr(0, length), symbol = trim(text.substr(length));
  if (length == 0) return QuantityError{fmt::format("is no {}; write it like {}", name_of(dimension), example_of(dimension)), ""};
  const std::size_t first = number.starts_with('-') ? 1 : 0;
  if (number.size() > first + 1 && number[first] == '0' && kDigits.find(number[first + 1]) != kDigits.npos)
    return QuantityError{"has a leading zero", ""};

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
  return *value;
}

std::string format_quantity(double si, Dimension dimension) {
  constexpr std::size_t kLongestPlain = 24;  // longer texts are mostly zeros
  if (dimension == Dimension::number) return fmt::format("{}", si);
  std::string best;
  const Unit* si_unit = nullptr;
  for (const Unit& unit : units()) {
    if (unit.family->dimension != dimension || unit.family->printed == Printed::no) continue;
    if (!si_unit) si_unit = &unit;
    if (si == 0 || !std::isfinite(si)) break;
    std::string text = text_in(si, unit);
    if (!best.empty() && untidiness(text) >= untidiness(best)) continue;
    const auto read = parse_quantity(text, dimension);
    if (const double* again = std::get_if<double>(&read); again && *again == si) best = std::move(text);
  }
  if (!best.empty() && best.size() <= kLongestPlain) return best;
  return fmt::format("{} {}", si, si_unit->symbol);
}

std::string_view example_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::number: return "0.5";
    case Dimension::time: return "200 ms";
    case Dimension::rate: return "12 /s";
    case Dimension::data: return "80 GiB";
    case Dimension::bandwidth: return "3.35 TB/s";
    case Dimension::work: return "2 Gflop";
    case Dimension::throughput: return "989 Tflop/s";
    case Dimension::energy: return "3 mJ";
    case Dimension::power: return "700 W";
    case Dimension::energy_per_byte: return "3.9 pJ/bit";
    case Dimension::energy_per_flop: return "0.5 pJ/flop";
    case Dimension::area: return "814 mm2";
  }
  return {};
}

std::string_view name_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::number: return "number";
    case Dimension::time: return "time";
    case Dimension::rate: return "rate";
    case Dimension::data: return "data";
    case Dimension::bandwidth: return "bandwidth";
    case Dimension::work: return "work";
    case Dimension::throughput: return "throughput";
    case Dimension::energy: return "energy";
    case Dimension::power: return "power";
    case Dimension::energy_per_byte: return "energy per byte";
    case Dimension::energy_per_flop: return "energy per flop";
    case Dimension::area: return "area";
  }
  return {};
}

std::string pattern_of(Dimension dimension) {
  if (dimension == Dimension::number) return {};
  std::string symbols;
  for (const UnitFamily& family : kUnitFamilies) {
    if (family.dimension != dimension) continue;
    if (!symbols.empty()) symbols += '|';
    std::string prefixes(family.prefixes);
    const bool bare = std::erase(prefixes, ' ') > 0;
    if (!prefixes.empty()) symbols += fmt::format("[{}]{}", prefixes, bare ? "?" : "");
    symbols += family.symbol;
  }
  return fmt::format(R"(^ *-?(0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(_[0-9]{{3}})+)(\.[0-9]+)?([eE][+-]?[0-9]+)? *({}) *$)", symbols);
}

}  // namespace llmscape
