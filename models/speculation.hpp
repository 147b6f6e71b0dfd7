// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

namespace llmscape::models {

// Mean tokens that one pass of the target model yields when `draft_tokens` are proposed and each is accepted with
// probability `acceptance` as long as all before it were: (1 - a^(k+1)) / (1 - a) (Leviathan et al., arXiv 2211.17192,
// eq. 1).
inline double tokens_per_pass(int draft_tokens, double acceptance) {
  if (acceptance >= 1) return draft_tokens + 1;
  return (1 - std::pow(acceptance, draft_tokens + 1)) / (1 - acceptance);
}

}  // namespace llmscape::models
