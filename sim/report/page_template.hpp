// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace llmscape::report {

// The page of `llmscape report` with its style and script, from sim/report/html; @TITLE@ and @DATA@ are still to be
// filled in.
extern const std::string_view kPageTemplate;

}  // namespace llmscape::report
