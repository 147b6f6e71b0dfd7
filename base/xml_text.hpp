// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace llmscape {

// Text of an element or an attribute. XML 1.0 has no spelling for most control characters: they are blanks.
std::string xml_text(std::string_view text);

}  // namespace llmscape
