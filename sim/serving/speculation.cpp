// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/speculation.hpp"

#include <cmath>

#include "models/speculation.hpp"

namespace llmscape::serving {

std::int64_t Speculation::passes(std::uint64_t request_id, std::int64_t answered, std::int64_t tokens) const {
  if (drafts == 0) return tokens;
  RandomStream random = streams.child("request", request_id).stream("passes", static_cast<std::uint64_t>(answered));
  std::int64_t passes = 0;
  for (std::int64_t left = tokens; left > 0; ++passes) {
    // One draw for the whole pass: j drafts are accepted with probability acceptance^j.
    const double draw = random.uniform();
    double accepted = acceptance;
    std::int64_t kept = 0;
    for (; kept < drafts && draw < accepted; ++kept) accepted *= acceptance;
    left -= kept + 1;
  }
  return passes;
}

std::int64_t Speculation::growth(std::int64_t steps) const {
  if (drafts == 0) return steps;
  const double mean = models::tokens_per_pass(static_cast<int>(drafts), acceptance);
  return static_cast<std::int64_t>(std::floor(static_cast<double>(steps) * mean));
}

}  // namespace llmscape::serving
