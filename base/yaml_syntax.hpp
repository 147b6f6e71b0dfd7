// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace llmscape {

// What is wrong where the parser stopped, in words for who wrote the file, from the parser's own (yaml-cpp 0.7's, which
// speak of tokens).
std::string_view syntax_mistake(std::string_view parsers_words);

}  // namespace llmscape
