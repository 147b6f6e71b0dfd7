// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmscape::report {

// Numbers as people read them in tables; files have SI units and every digit.

// "45.2 ms", "812 us", "2.31 s": three digits.
std::string duration(double seconds);
// "1,234", "987", "12.3", "0.412": three digits, or all of those before the point.
std::string amount(double value);
// "13,653"
std::string grouped(std::int64_t count);
// "97.8 %"
std::string percent(double share);
// "-" for none.
std::string percent(const std::optional<double>& share);

// A number by its unit, where the reader knows that: "45.2 ms", "97.8 %", "1,234".
std::string in_unit(double value, std::string_view unit);
// The same with its unit, but for what names say ("1/s", "tokens/J"): "665 W", "2.50 EUR" of "EUR/Mtoken", "8.00 /s".
std::string with_unit(double value, std::string_view unit);
// "2.31x", "9,983x"
std::string ratio_text(double ratio);

// Columns of text that a terminal is sure to have.
inline constexpr std::size_t kPageColumns = 100;

// The text in lines of at most `width` columns, broken at spaces; each but the first begins with `indent` spaces more.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

}  // namespace llmscape::report
