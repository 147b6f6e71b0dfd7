// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "sim/report/units.hpp"

namespace llmscape::report {

inline constexpr std::size_t kLabel = 12;  // columns of what a line of a summary begins with

// "label       text", the text broken at spaces and hanging below its own start.
inline std::string line(std::string_view label, std::string_view text) {
  return fmt::format("{:<{}}{}\n", label, kLabel, wrapped(text, kPageColumns - kLabel, kLabel));
}

}  // namespace llmscape::report
