// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/expert_loads.hpp"

#include <cstdint>

namespace llmscape::models {

// How many distinct experts of a layer a step touches (cost-model 2.5). All laws give k/E at one token, never fall as
// tokens grow and never exceed the uniform router.
struct ExpertCoverage {
  enum class Law {
    related,  // default: tokens of one text agree; published coverage of Qwen3-30B-A3B, by table for prompt chunks
    uniform,  // independent uniform routing: random-token benchmarks
    skewed,   // experts of unlike popularity, as tables of power-law rows have them (dealt_popularity)
  };
  Law law = Law::related;
  double beta = 0.70;                 // decode batches under `related`: 1 - (1 - k/E)^(T^beta)
  double exponent = kServedExponent;  // of the loads under `skewed`
  // Of each decode, one text: 1, or with the drafts that a pass verifies. At least 1.
  std::int64_t tokens_per_decode = 1;
};

// Prompts of a step are texts of their own, as unrelated as its decodes. A chunk touches as many experts as some number
// of unrelated tokens: that whose beta-th power is the chunk's independent tokens. What prompts come to adds up.
double unrelated_tokens(const ExpertCoverage&, std::int64_t chunk_tokens);

// Share of the experts touched by `chunk_tokens` of prompts together with `decode_tokens` of unrelated requests, of
// which each has `tokens_per_decode` and counts under `related` as a chunk of so many:
// 1 - (1 - chunk share)(1 - decode share). 0 when both are 0. `unrelated`: the sum of unrelated_tokens() over the
// prompts under `related`; 0, or less than one text of as many tokens comes to: they are one text.
double expert_share(const ExpertCoverage&, int experts, int experts_per_token, std::int64_t chunk_tokens,
                    std::int64_t decode_tokens, double unrelated = 0);

// Rows of the fullest of `ranks`, of `tokens` that go to `experts_per_token` experts each: with m = rows / ranks, m +
// sqrt(2 m ln ranks) where experts are alike; where their loads follow a power law, what `fullest_dealt_rank` says of
// sums whose relative variance is 1 / m higher, as tokens draw their experts.
double fullest_rank(const ExpertCoverage&, int experts, int experts_per_token, double tokens, int ranks);
// The same of rows that are dealt out by the loads, in the mean over draws of these. With m = rows / ranks and h =
// experts / ranks it is p + max(0, g - p) (1 - 1 / h): p is the rank of the fullest expert, the other h - 1 being what
// the rest are in the mean; g is what e^-0.5772 / ranks of sums of h loads exceed, were these gamma-distributed (Wilson
// and Hilferty's approximation), of mean m and relative variance c^2 (1 - 1 / ranks) / h, c the loads' coefficient of
// variation. Drawn loads (2 to 256 ranks, 8 to 512 experts, 16 to 8,192 tokens, 400 draws each) have that mean to 2.4 %
// on average and 10 at most; single draws scatter by 5 to 40 %.
double fullest_dealt_rank(const Popularity&, int experts, double rows, int ranks);
// Experts that the rank with the most of them touches, of `held` each: h s + sqrt(2 h s (1 - s) ln ranks), s the share
// that is touched over all ranks, at most `held`.
double fullest_touched(int held, double share, int ranks);
// How a token's experts are chosen: `chosen` among `experts`, from `groups_chosen` of `groups` of them.
struct Routing {
  int experts = 0, chosen = 0;
  int groups = 1, groups_chosen = 1;
  bool operator==(const Routing&) const = default;
};
// Share of the tokens with an expert or more among `held` of them that are alike: 1 - C(E - held, k) / C(E, k). A rank
// of unlike experts that gets a share s of all rows counts as s E of them: 0 to 8 % below draws of the tables' law (64
// to 256 experts, 8 to 64 ranks), 15 % with 8 experts on 4 ranks.
//
// Where the k are chosen from the g best of G groups (DeepSeek-V3: 4 of 8, so that a token leaves for few nodes), each
// of the g counts as holding one or more of them, as the groups' best decide: whoever holds h whole groups is reached
// by 1 - C(G - h, g) / C(G, g), and whoever holds a part of one by g / G times the share of draws of k among g groups,
// none of them left out, that touch it. Drawn scores have the same to 1.5 % (256 experts on 2 to 8 nodes of 8 ranks).
double reaching_share(const Routing& routing, double held);
// Mean number of distinct ranks that hold at least one of a token's experts, of which each holds as many.
double distinct_ranks(const Routing& routing, int ranks);

}  // namespace llmscape::models
