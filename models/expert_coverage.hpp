// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace llmscape::models {

// How many distinct experts of a layer a step touches (cost-model 2.5). All laws give k/E at one token, never fall as
// tokens grow and never exceed the uniform router.
struct ExpertCoverage {
  enum class Law {
    related,  // default: tokens of one text agree; published coverage of Qwen3-30B-A3B, by table for prompt chunks
    uniform,  // independent uniform routing: random-token benchmarks
    skewed,   // independent routing to experts of unlike popularity, at most 1 a token
  };
  Law law = Law::related;
  double beta = 0.70;  // decode batches under `related`: 1 - (1 - k/E)^(T^beta)
};

// Under `skewed` the logarithms of the experts' popularity are spread evenly over this factor. Of ranges of 3 to 60 it
// says best how many experts the rows of kernel tables touch whose loads follow a power law of exponent 1.01, which is
// how their authors deal rows out as routers of served models do: 1,977 rows of vLLM 0.24 on an H100 (ai-dynamo/
// aiconfigurator @ 095f58a) in which reading the experts is what takes time, as many as balanced rows of that time
// touch. Median error 7.5 % (uniform routing: 11 %), 7.6 % with 10 and 8.8 % with 20.
inline constexpr double kPopularityRange = 12;

// Share of the experts touched by `chunk_tokens` of one prompt together with `decode_tokens` of unrelated requests:
// 1 - (1 - chunk share)(1 - decode share). 0 when both are 0.
double expert_share(const ExpertCoverage&, int experts, int experts_per_token, std::int64_t chunk_tokens,
                    std::int64_t decode_tokens);

// Rows of the fullest of `ranks`: m + sqrt(2 v ln ranks), m = rows / ranks; v, the variance of a rank's rows, is m
// where experts are alike, and m + m^2 c^2 (1 - 1 / ranks) / (experts / ranks) where their popularity has the
// coefficient of variation c = 0.684.
double fullest_rank(const ExpertCoverage&, int experts, double rows, int ranks);
// Experts that the rank with the most of them touches, of `held` each: h s + sqrt(2 h s (1 - s) ln ranks), s the share
// that is touched over all ranks, at most `held`.
double fullest_touched(int held, double share, int ranks);
// Mean number of distinct ranks that hold at least one of a token's experts: ranks (1 - C(E - E/ranks, k) / C(E, k)).
double distinct_ranks(int experts, int experts_per_token, int ranks);

}  // namespace llmscape::models
