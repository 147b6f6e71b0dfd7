// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/speculation.hpp"

#include <algorithm>
#include <cmath>

#include "models/speculation.hpp"

namespace llmscape::serving {

Speculation::Passes Speculation::passes(std::uint64_t request_id, std::int64_t answered, std::int64_t tokens,
                                        std::int64_t context) const {
  if (drafts == 0) return {tokens, tokens};
  RandomStream random = streams.child("request", request_id).stream("passes", static_cast<std::uint64_t>(answered));
  // Answered tokens with which the next pass still reaches no further than drafts in time.
  const std::int64_t furthest = may_be_late() ? longest_in_time - context - tokens_per_decode() : tokens;
  Passes passes;
  while (passes.tokens < tokens && passes.tokens <= furthest) {
    // One draw for the whole pass: j drafts are accepted with probability acceptance^j.
    const double draw = random.uniform();
    double accepted = acceptance;
    std::int64_t kept = 0;
    for (; kept < drafts && draw < accepted; ++kept) accepted *= acceptance;
    passes.tokens += kept + 1;
    ++passes.drafted;
  }
  passes.tokens = std::min(passes.tokens, tokens);
  return passes;
}

std::int64_t Speculation::drafted_growth(std::int64_t steps) const {
  const double mean = models::tokens_per_pass(static_cast<int>(drafts), acceptance);
  return static_cast<std::int64_t>(std::floor(static_cast<double>(steps) * mean));
}

}  // namespace llmscape::serving
