// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/random.hpp"

namespace llmscape::serving {

// Speculative decoding: before each pass of the model `drafts` tokens are proposed for every sequence. The pass
// computes them and one more, keeps those before the first that it rejects, and adds one of its own. Each is accepted
// with probability `acceptance` if all before it were. No drafts: a pass is a token.
//
// The drafts of a long context may come too late for the pass (sim/engine/draft.hpp): from then on the sequence decodes
// without them.
struct Speculation {
  static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

  std::int64_t drafts = 0;
  double acceptance = 0;
  RandomStreams streams{0};
  std::int64_t longest_in_time = kAny;  // context, the tokens of the pass included, whose drafts are in time; 0: none

  // In how many passes a request answers its tokens.
  struct Passes {
    std::int64_t drafted = 0;  // passes with drafts, which come first
    std::int64_t tokens = 0;   // that these answer; each of the others takes a pass
  };

  [[nodiscard]] std::int64_t tokens_per_decode() const { return 1 + drafts; }
  [[nodiscard]] bool may_be_late() const { return drafts > 0 && longest_in_time < kAny; }
  // Decode steps in which the request answers `tokens` tokens after its first `answered`, its context being of
  // `context` tokens before them: a pure function of these, the request's id and the seed, so that neither the order of
  // requests nor looking ahead changes it.
  [[nodiscard]] Passes passes(std::uint64_t request_id, std::int64_t answered, std::int64_t tokens,
                              std::int64_t context) const;
  // Tokens that a sequence answers in `steps` decode steps in the mean, rounded down.
  [[nodiscard]] std::int64_t growth(std::int64_t steps) const { return drafts == 0 ? steps : drafted_growth(steps); }
  // Tokens that a request of `length` tokens in all needs KV blocks for, the last drafts included.
  [[nodiscard]] std::int64_t tokens_to_allocate(std::int64_t length) const {
    return std::max(length, std::min(length + drafts, longest_in_time));
  }

 private:
  [[nodiscard]] std::int64_t drafted_growth(std::int64_t steps) const;
};

}  // namespace llmscape::serving
