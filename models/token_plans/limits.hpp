// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace llmscape::models {

inline constexpr double kMostTokens = 1e9;  // that a token plan can speak of: more is an accident

}  // namespace llmscape::models
