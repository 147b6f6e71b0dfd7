// SPDX-License-Identifier: Apache-2.0
#include "models/expert_coverage.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace llmscape::models {
namespace {

struct Observed {
  double tokens, share;
};
// Share of a layer's experts that a chunk of one prompt touches in Qwen3-30B-A3B (128 experts, 8 per token):
// scale-snu/layered-prefill @ 427f441. The last is printed as 1.00.
constexpr std::array<Observed, 6> kPromptChunk = {
    {{1, 0.0625}, {512, 0.825}, {1024, 0.880}, {2048, 0.927}, {4096, 0.949}, {8192, 0.999}}};
constexpr double kObservedPerExpert = 8.0 / 128.0;

// How many independently routed tokens touch as many experts as were observed.
double independent_tokens(const Observed& row) { return std::log1p(-row.share) / std::log1p(-kObservedPerExpert); }

// The same for any chunk: interpolated in the logarithms of both, beyond the last row in proportion. Going through
// independent tokens carries the table over to other numbers of experts.
double independent_tokens(double chunk_tokens) {
  const auto after = std::find_if(kPromptChunk.begin(), kPromptChunk.end(),
                                  [&](const Observed& row) { return row.tokens >= chunk_tokens; });
  if (after == kPromptChunk.begin()) return chunk_tokens;
  const Observed& left = *(after - 1);
  if (after == kPromptChunk.end()) return independent_tokens(left) * chunk_tokens / left.tokens;
  const double share = std::log(chunk_tokens / left.tokens) / std::log(after->tokens / left.tokens);
  return std::pow(independent_tokens(left), 1 - share) * std::pow(independent_tokens(*after), share);
}

// sum_i 1 - (1 - p_i)^T over E, p_i in proportion to the popularity of expert i, with sum k: popular experts take every
// token (p 1), the others share what is left of k.
double popular_share(int experts, int experts_per_token, double tokens) {
  const auto popularity = [experts](int i) { return std::pow(kPopularityRange, (i + 0.5) / experts); };
  double sum = 0;
  for (int i = 0; i < experts; ++i) sum += popularity(i);
  int others = experts;  // the least popular ones, which not every token takes
  double left = experts_per_token;
  while (left > 0 && left * popularity(others - 1) >= sum) {
    sum -= popularity(--others);
    left -= 1;
  }
  double touched = experts - others;
  for (int i = 0; i < others; ++i) touched += 1 - std::pow(1 - left * popularity(i) / sum, tokens);
  return std::min(touched, experts_per_token * tokens) / experts;
}

// Variance over squared mean of popularity: (r + 1) ln r / (2 (r - 1)) - 1 for a range of r.
double popularity_variance() {
  constexpr double r = kPopularityRange;
  return (r + 1) * std::log(r) / (2 * (r - 1)) - 1;
}

}  // namespace

double expert_share(const ExpertCoverage& coverage, int experts, int experts_per_token, std::int64_t chunk_tokens,
                    std::int64_t decode_tokens) {
  double chunk = static_cast<double>(chunk_tokens);
  double decode = static_cast<double>(decode_tokens);
  if (coverage.law == ExpertCoverage::Law::skewed) return popular_share(experts, experts_per_token, chunk + decode);
  if (coverage.law == ExpertCoverage::Law::related) {
    chunk = independent_tokens(chunk);
    decode = std::min(decode, std::pow(decode, coverage.beta));
  }
  return 1 - std::pow(1 - static_cast<double>(experts_per_token) / experts, chunk + decode);
}

double fullest_rank(const ExpertCoverage& coverage, int experts, double rows, int ranks) {
  const double mean = rows / ranks;
  double variance = mean;
  if (coverage.law == ExpertCoverage::Law::skewed)
    variance += mean * mean * popularity_variance() * (ranks - 1) / experts;
  return std::min(rows, mean + std::sqrt(2 * variance * std::log(ranks)));
}

double fullest_touched(int held, double share, int ranks) {
  const double mean = held * share;
  return std::min<double>(held, mean + std::sqrt(2 * mean * (1 - share) * std::log(ranks)));
}

double distinct_ranks(int experts, int experts_per_token, int ranks) {
  double none_here = 1;  // C(E - E/ranks, k) / C(E, k): no expert of a token on a given rank
  for (int i = 0; i < experts_per_token; ++i)
    none_here *= std::max(0.0, experts - static_cast<double>(experts) / ranks - i) / (experts - i);
  return ranks * (1 - none_here);
}

}  // namespace llmscape::models
