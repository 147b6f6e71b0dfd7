// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace llmscape {

// The same JSON value, with its keys in their order, for readers and for comparing line by line: an object or array
// stands on one line where that ends within `width` columns, otherwise each member begins a line. Ends with a line
// break. Throws std::logic_error for text that is not JSON.
std::string json_text(std::string_view json, std::size_t width = 120);

}  // namespace llmscape
