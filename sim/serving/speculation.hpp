// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/random.hpp"

namespace llmscape::serving {

// Speculative decoding: before each pass of the model `drafts` tokens are proposed for every sequence. The pass
// computes them and one more, keeps those before the first that it rejects, and adds one of its own. Each is accepted
// with probability `acceptance` if all before it were. No drafts: a pass is a token.
struct Speculation {
  std::int64_t drafts = 0;
  double acceptance = 0;
  RandomStreams streams{0};

  [[nodiscard]] std::int64_t tokens_per_decode() const { return 1 + drafts; }
  // Decode steps in which the request answers `tokens` tokens after its first `answered`: a pure function of these, the
  // request's id and the seed, so that neither the order of requests nor looking ahead changes it.
  [[nodiscard]] std::int64_t passes(std::uint64_t request_id, std::int64_t answered, std::int64_t tokens) const;
  // Tokens that a sequence answers in `steps` decode steps in the mean, rounded down.
  [[nodiscard]] std::int64_t growth(std::int64_t steps) const;
};

}  // namespace llmscape::serving
