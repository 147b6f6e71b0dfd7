// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace llmscape::test {

// A file of the source tree that must hold exactly this text. Where LLMSCAPE_UPDATE_GOLDEN is set it is written
// instead: that is what the target update_golden does.
void check_golden(const std::string& path, const std::string& text);

// The same of a part of a file: what stands between the lines `<!-- begin NAME -->` and `<!-- end NAME -->`.
void check_golden_part(const std::string& path, std::string_view name, const std::string& text);

}  // namespace llmscape::test
