// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

namespace llmscape {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  if (text.empty()) return 0;
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {  // E0 must not be overlong, ED must not be a surrogate
    const bool second = continues(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
    return second && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {  // F0 must not be overlong, F4 must not pass U+10FFFF
    const bool second = continues(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return second && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

namespace {

// U+0080 to U+009F: U+009B begins the same sequences of a terminal as Escape and '[' do.
bool is_c1_control(std::string_view text) {
  return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0;
}

}  // namespace

std::string printable_text(std::string_view text) {
  std::string out;
  for (const std::string& cell : printable(text)) out += cell;
  return out;
}

std::vector<std::string> printable(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0) out.emplace_back("?");
    else if (first < 0x20 || first == 0x7F || is_c1_control(text)) out.emplace_back(" ");
    else out.emplace_back(text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace llmscape
