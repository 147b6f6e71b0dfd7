// SPDX-License-Identifier: Apache-2.0
#include "base/units.hpp"

#include "base/diagnostics.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace llmscape {
namespace {

struct Words {
  std::string_view name, example;
};
constexpr std::array<Words, kDimensions.size()> kWords = {{
    {"number", "0.5"},
    {"time", "200 ms"},
    {"rate", "12 /s"},
    {"data", "80 GiB"},
    {"bandwidth", "3.35 TB/s"},
    {"work", "2 Gflop"},
    {"throughput", "989 Tflop/s"},
    {"energy", "3 mJ"},
    {"power", "700 W"},
    {"energy per byte", "3.9 pJ/bit"},
    {"energy per flop", "0.5 pJ/flop"},
    {"area", "814 mm2"},
    {"amount per energy", "0.25 /kWh"},
    {"mass per energy", "380 g/kWh"},
}};

enum class Use { printed, read };  // we read more spellings than we print

// A symbol with the prefixes that may stand before it (' ' is none). One unit without prefix is times / over SI units.
struct UnitFamily {
  Dimension dimension;
  Use use;
  std::string_view prefixes;  // binary ones before a symbol that begins with 'i'
  std::string_view symbol;
  double times = 1, over = 1;
};
constexpr std::string_view kDecimalPrefixes = "fpnum kMGTPE";
constexpr std::string_view kBinaryPrefixes = " KMGTPE";

using enum Dimension;
using enum Use;
constexpr UnitFamily kUnitFamilies[] = {
    {time, printed, " munp", "s"},
    {time, printed, " ", "min", 60},
    {time, printed, " ", "h", 3600},
    {time, printed, " ", "d", 86400},
    {time, read, " ", "y", 31'536'000},  // 365 days
    {rate, printed, " ", "/s"},
    {rate, printed, " ", "/min", 1, 60},
    {rate, printed, " ", "/h", 1, 3600},
    {rate, printed, "MG", "Hz"},
    {rate, read, " k", "Hz"},  // 2000 requests a second are not 2 kHz
    {data, printed, " kMGTPE", "B"},
    {data, printed, "KMGTPE", "iB"},
    {bandwidth, printed, " kMGTPE", "B/s"},
    {bandwidth, printed, "KMGTPE", "iB/s"},
    {bandwidth, read, " kMGTPE", "bit/s", 1, 8},
    {work, printed, " kMGTPE", "flop"},
    {work, read, " kMGTPE", "FLOP"},
    {work, read, " kMGTPE", "op"},
    {throughput, printed, " kMGTPE", "flop/s"},
    {throughput, read, " kMGTPE", "FLOP/s"},
    {throughput, read, " kMGTPE", "op/s"},
    {energy, printed, " fpnumkMG", "J"},
    {energy, read, " ", "kWh", 3.6e6},
    {power, printed, " numkMG", "W"},
    {energy_per_byte, printed, " fpnum", "J/B"},
    {energy_per_byte, read, " fpnum", "J/bit", 8},
    {energy_per_flop, printed, " fpnum", "J/flop"},
    {energy_per_flop, read, " fpnum", "J/FLOP"},
    {energy_per_flop, read, " fpnum", "J/op"},
    {area, printed, " ", "m2"},
    {area, printed, " ", "mm2", 1, 1e6},
    {per_energy, printed, " ", "/J"},
    {per_energy, printed, " ", "/kWh", 1, 3.6e6},
    {per_energy, read, " ", "/MWh", 1, 3.6e9},
    {mass_per_energy, printed, " k", "g/J"},
    {mass_per_energy, printed, " k", "g/kWh", 1, 3.6e6},
};

int index_of(char prefix, std::string_view prefixes) { return static_cast<int>(prefixes.find(prefix)); }

using UnitTable = std::array<std::vector<Unit>, kDimensions.size()>;

UnitTable make_units() {
  UnitTable table;
  for (const UnitFamily& family : kUnitFamilies) {
    const bool is_binary = family.symbol.starts_with('i');
    for (const char prefix : family.prefixes) {
      Unit unit{prefix == ' ' ? "" : std::string(1, prefix)};
      unit.symbol += family.symbol;
      if (is_binary) unit.binary = 10 * index_of(prefix, kBinaryPrefixes);
      else unit.decimal = 3 * (index_of(prefix, kDecimalPrefixes) - index_of(' ', kDecimalPrefixes));
      unit.times = family.times;
      unit.over = family.over;
      unit.printed = family.use == printed;
      table[static_cast<std::size_t>(family.dimension)].push_back(std::move(unit));
    }
  }
  return table;
}

// Spellings from elsewhere, as endings of a unit: "TFLOPS" is meant as "Tflop/s".
struct Ending {
  std::string_view written, meant;
};
constexpr Ending kEndings[] = {
    {"", ""},         {"flops", "flop/s"}, {"flops", "flop"}, {"ops", "flop/s"}, {"ops", "flop"},  {"Bps", "B/s"},
    {"bps", "bit/s"}, {"b/s", "bit/s"},    {"bytes", "B"},    {"byte", "B"},     {"seconds", "s"}, {"second", "s"},
    {"sec", "s"},     {"minutes", "min"},  {"minute", "min"}, {"hours", "h"},    {"hour", "h"},    {"days", "d"},
    {"day", "d"},     {"years", "y"},      {"year", "y"},     {"µs", "us"},      {"rps", "/s"},    {"qps", "/s"},
    {"req/s", "/s"},  {"1/s", "/s"},       {"joules", "J"},   {"watts", "W"},    {"mm^2", "mm2"},  {"mm²", "mm2"},
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

}  // namespace

std::span<const Unit> units_of(Dimension dimension) {
  static const UnitTable table = make_units();
  return table[static_cast<std::size_t>(dimension)];
}

const Unit* find_unit(std::string_view symbol, Dimension dimension) {
  for (const Unit& unit : units_of(dimension))
    if (unit.symbol == symbol) return &unit;
  return nullptr;
}

std::string meant_unit(std::string_view written, Dimension dimension) {
  for (const bool any_case : {false, true}) {  // "Gb/s" is Gbit/s by its letters; "gb/s" is rather GB/s
    const auto folded = [any_case](std::string_view text) { return any_case ? lower(text) : std::string(text); };
    const std::string text = folded(written);
    for (const Ending& ending : kEndings) {
      if (!text.ends_with(folded(ending.written))) continue;
      const std::string meant = text.substr(0, text.size() - ending.written.size()) + folded(ending.meant);
      for (const Unit& unit : units_of(dimension))
        if (folded(unit.symbol) == meant) return unit.symbol;
    }
  }
  std::vector<std::string> symbols;
  for (const Unit& unit : units_of(dimension)) symbols.push_back(unit.symbol);
  return nearest(written, symbols);
}

std::string_view example_of(Dimension dimension) { return kWords[static_cast<std::size_t>(dimension)].example; }
std::string_view name_of(Dimension dimension) { return kWords[static_cast<std::size_t>(dimension)].name; }

std::string pattern_of(Dimension dimension) {
  if (dimension == number) return {};
  std::string symbols;
  for (const UnitFamily& family : kUnitFamilies) {
    if (family.dimension != dimension) continue;
    std::string prefixes(family.prefixes);
    const bool optional = std::erase(prefixes, ' ') > 0;
    if (!symbols.empty()) symbols += '|';
    if (!prefixes.empty()) symbols += fmt::format("[{}]{}", prefixes, optional ? "?" : "");
    symbols += family.symbol;
  }
  return fmt::format(R"(^-?(0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(_[0-9]{{3}})+)(\.[0-9]+)?([eE][+-]?[0-9]+)? *({})$)",
                     symbols);
}

}  // namespace llmscape
