// SPDX-License-Identifier: Apache-2.0
#include "sim/report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace llmscape::report {
namespace {

// As in sim/report/html/style.css.
constexpr std::string_view kStyle =
    "svg{--paper:#fff;--ink:#1a1d21;--soft:#565e69;--faint:#8a929c;--grid:#e2e5e9;--c0:#0072b2;--c1:#d55e00;"
    "--c2:#009e73;--c3:#cc79a7;--c4:#e69f00;--c5:#56b4e9;--c6:#a89d00}\n"
    "@media(prefers-color-scheme:dark){svg{--paper:#14171b;--ink:#e9ebee;--soft:#a9b1bb;--faint:#78818c;"
    "--grid:#2d333a;--c0:#3f9fdb;--c1:#f0803c;--c2:#2bbd93;--c3:#dd93bd;--c4:#f0b429;--c5:#8fd0f7;--c6:#f0e442}}\n"
    ".paper{fill:var(--paper)}.title{fill:var(--ink);font-size:14px;font-weight:600}.tick,.name{fill:var(--soft);"
    "font-size:12px}.figure{fill:var(--soft);font-size:10.5px}.name{fill:var(--ink)}.grid{stroke:var(--grid)}"
    ".zero{stroke:var(--faint)}.line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}"
    ".mark{fill:var(--c)}.broken{stroke-dasharray:5 4}.s0{--c:var(--c0)}.s1{--c:var(--c1)}.s2{--c:var(--c2)}"
    ".s3{--c:var(--c3)}.s4{--c:var(--c4)}.s5{--c:var(--c5)}.s6{--c:var(--c6)}.published{--c:var(--faint)}";

std::string with_prefix(double value, std::string_view unit, int digits) {
  struct Prefix {
    double size;
    std::string_view letter;
  };
  static constexpr std::array kPrefixes = {Prefix{1e12, "T"}, Prefix{1e9, "G"},  Prefix{1e6, "M"}, Prefix{1e3, "k"},
                                           Prefix{1, ""},     Prefix{1e-3, "m"}, Prefix{1e-6, "µ"}};
  const auto fitting = std::ranges::find_if(
      kPrefixes, [size = std::fabs(value)](const Prefix& prefix) { return size >= prefix.size * (1 - 1e-9); });
  const Prefix& prefix = fitting == kPrefixes.end() ? kPrefixes.back() : *fitting;
  return fmt::format("{:.{}g} {}{}", value / prefix.size, digits, prefix.letter, unit);
}

// Lengths of contexts are told in powers of two where they are some: 128K tokens are 131,072.
std::string count_text(double value, bool of_tokens, int digits) {
  struct Size {
    double decimal, binary;
    char letter;
  };
  for (const auto& [decimal, binary, letter] :
       {Size{1e9, 0x1p30, 'G'}, Size{1e6, 0x1p20, 'M'}, Size{1e3, 0x1p10, of_tokens ? 'K' : 'k'}}) {
    const double size = std::fabs(value);
    if (of_tokens && size >= binary && std::fmod(size, binary) == 0)
      return fmt::format("{:.{}g}{}", value / binary, digits, letter);
    if (size >= decimal) return fmt::format("{:.{}g}{}", value / decimal, digits, letter);
  }
  return fmt::format("{:.{}g}", value, digits);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string svg_text(double x, double y, std::string_view anchor, std::string_view kind, std::string_view text) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", kind, x, y, anchor,
                     escaped(text));
}

double text_width_of(std::string_view text) { return 6.6 * static_cast<double>(text.size()); }

std::string svg_document(double width, double height, std::string_view title, std::string_view inside) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\" "
      "font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif\">\n<style>{3}</style>\n"
      "<rect class=\"paper\" width=\"{0}\" height=\"{1}\"/>\n{4}{5}</svg>\n",
      width, height, escaped(title), kStyle, svg_text(14, 22, "start", "title", title), inside);
}

std::string engineering(double value, std::string_view unit, int digits) {
  if (value == 0) return "0";
  if (unit == "bytes") return with_prefix(value, "B", digits);
  if (unit == "s" && std::fabs(value) >= 1) return fmt::format("{:.{}g} s", value, digits);
  if (unit == "share") return fmt::format("{:.{}g} %", 100 * value, digits);
  if (says_unit(unit)) return with_prefix(value, unit, digits);
  const bool of_tokens = unit.find("token") != unit.npos && unit.find('/') == unit.npos;
  return count_text(value, of_tokens, digits);
}

bool says_unit(std::string_view unit) {
  static constexpr std::array kUnits = {"bytes", "share", "bit/s", "B/s", "B", "W", "J", "flop/s", "Hz", "s"};
  return std::ranges::find(kUnits, unit) != kUnits.end();
}

}  // namespace llmscape::report
