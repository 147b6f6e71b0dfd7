// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Bytes of the UTF-8 sequence at the start of `text` (1 to 4); 0 if it is not well formed (overlong forms, surrogates
// and code points above U+10FFFF included) or `text` is empty.
std::size_t utf8_length(std::string_view text);

// One text per character, safe to print: control characters are spaces, each byte that is no UTF-8 is "?".
std::vector<std::string> printable(std::string_view text);
// The same in one piece.
std::string printable_text(std::string_view text);

}  // namespace llmscape
