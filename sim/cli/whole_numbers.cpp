// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/whole_numbers.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace llmscape::cli {
namespace {

// What is wrong with the number; empty if nothing is.
std::string wrong_with(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool padded = text.size() > 1 && (text.starts_with('0') || text.starts_with("-0"));
  if (end != text.data() + text.size() || error == std::errc::invalid_argument || padded)
    return fmt::format("'{}' is no whole number", text);
  if (text.starts_with('-')) return fmt::format("{} is below 0", text);
  if (error == std::errc::result_out_of_range)
    return fmt::format("{} is beyond {}", text, std::numeric_limits<std::int64_t>::max());
  return {};
}

}  // namespace

std::string above_zero(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = end == text.data() + text.size() && error == std::errc() && std::isfinite(value);
  if (!number) return fmt::format("'{}' is no number", text);
  return value > 0 ? std::string() : fmt::format("{} is not above 0", text);
}

void check_whole_numbers(CLI::App& program) {
  for (CLI::Option* option : program.get_options()) {
    const std::string type = option->get_type_name();
    if (type.substr(0, type.find(':')) == "N") option->check(wrong_with, "");
  }
  for (CLI::App* verb : program.get_subcommands({})) check_whole_numbers(*verb);
}

}  // namespace llmscape::cli
