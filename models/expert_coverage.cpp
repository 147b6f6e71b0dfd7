// SPDX-License-Identifier: Apache-2.0
#include "models/expert_coverage.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

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

double uniform_share(int experts, int experts_per_token, double tokens) {
  return 1 - std::pow(1 - static_cast<double>(experts_per_token) / experts, tokens);
}

// Tables deal whole rows, so that few of them meet; tokens of a router that knows nothing of each other do not touch
// more than uniform ones. Where rows come to outnumber experts the law has another range: more rows do not touch less.
double skewed_share(const ExpertCoverage& coverage, int experts, int experts_per_token, double tokens) {
  const double per_token = static_cast<double>(experts_per_token) / experts;
  const auto dealt = [&](double rows) {
    return ExpertLoads(dealt_popularity(coverage.exponent, tokens, rows, experts), rows / experts).touched();
  };
  const double rows = tokens * experts_per_token;
  const double touched = rows > experts ? std::max(dealt(rows), dealt(experts)) : dealt(rows);
  return std::min(std::max(touched, per_token), uniform_share(experts, experts_per_token, tokens));
}

// What a standard normal variable exceeds with this probability, at most 1/2; to 0.0005 (Abramowitz and
// Stegun 26.2.23).
double normal_exceeded_by(double share) {
  const double t = std::sqrt(-2 * std::log(share));
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
}

// `scatter`: relative variance of a rank's rows beside that of the loads.
double fullest_of(const Popularity& popularity, int experts, double rows, int ranks, double scatter) {
  const ExpertLoads loads(popularity, 1);
  const double held = static_cast<double>(experts) / ranks;
  const double largest = loads.largest_of(experts), rest = loads.mean_up_to(largest);
  const double popular = ranks * (largest + (held - 1) * rest) / (largest + (experts - 1) * rest);
  const double variance = loads.relative_variance() * (ranks - 1) / experts + scatter;
  const double exceeded = normal_exceeded_by(std::exp(-std::numbers::egamma) / ranks);
  const double root = 1 - variance / 9 + exceeded * std::sqrt(variance) / 3;
  const double sum = root * root * root;
  return std::min(rows, rows / ranks * (popular + std::max(0.0, sum - popular) * (1 - 1 / held)));
}

}  // namespace

double unrelated_tokens(const ExpertCoverage& coverage, std::int64_t chunk_tokens) {
  return std::pow(independent_tokens(static_cast<double>(chunk_tokens)), 1 / coverage.beta);
}

double expert_share(const ExpertCoverage& coverage, int experts, int experts_per_token, std::int64_t chunk_tokens,
                    std::int64_t decode_tokens, double unrelated) {
  double chunk = static_cast<double>(chunk_tokens);
  double decode = static_cast<double>(decode_tokens);
  if (coverage.law == ExpertCoverage::Law::skewed)
    return chunk + decode > 0 ? skewed_share(coverage, experts, experts_per_token, chunk + decode) : 0;
  if (coverage.law == ExpertCoverage::Law::related) {
    // Two texts touch no fewer than one that is as long as both: where the table ends, it grows faster than beta says.
    chunk = unrelated > unrelated_tokens(coverage, chunk_tokens) ? std::pow(unrelated, coverage.beta)
                                                                 : independent_tokens(chunk);
    if (coverage.tokens_per_decode > 1)
      decode *=
          unrelated_tokens(coverage, coverage.tokens_per_decode) / static_cast<double>(coverage.tokens_per_decode);
    decode = std::min(decode, std::pow(decode, coverage.beta));
  }
  return uniform_share(experts, experts_per_token, chunk + decode);
}

double fullest_rank(const ExpertCoverage& coverage, int experts, int experts_per_token, double tokens, int ranks) {
  const double rows = tokens * experts_per_token, mean = rows / ranks;
  if (coverage.law == ExpertCoverage::Law::skewed && ranks > 1 && rows > 0)
    return fullest_of(dealt_popularity(coverage.exponent, tokens, rows, experts), experts, rows, ranks, 1 / mean);
  return std::min(rows, mean + std::sqrt(2 * mean * std::log(ranks)));
}

double fullest_dealt_rank(const Popularity& popularity, int experts, double rows, int ranks) {
  return ranks > 1 && rows > 0 ? fullest_of(popularity, experts, rows, ranks, 0) : rows;
}

double fullest_touched(int held, double share, int ranks) {
  const double mean = held * share;
  return std::min<double>(held, mean + std::sqrt(2 * mean * (1 - share) * std::log(ranks)));
}

namespace {

// C(few, k) / C(all, k): all k that are drawn from `all` lie among `few` of them.
double all_among(double few, double all, int k) {
  double share = 1;
  for (int i = 0; i < k; ++i) share *= std::max(0.0, few - i) / (all - i);
  return share;
}

// All k that are drawn from `groups` of `width` lie among `more` and those of the first `full` groups of which none is
// left out. By inclusion and exclusion, of C(groups x width, k).
double none_left_out(int full, double more, int groups, double width, int k) {
  double sum = 0, ways = 1;  // C(full, out), with its sign
  for (int out = 0; out <= full; ++out) {
    sum += ways * all_among((full - out) * width + more, groups * width, k);
    ways *= -static_cast<double>(full - out) / (out + 1);
  }
  return sum;
}

}  // namespace

double reaching_share(const Routing& routing, double held) {
  const auto& [experts, chosen, groups, of_groups] = routing;
  if (of_groups >= groups || of_groups > chosen) return 1 - all_among(experts - held, experts, chosen);
  const double width = static_cast<double>(experts) / groups;
  if (held >= width) return 1 - all_among(groups - held / width, groups, of_groups);
  // Of its own group the rest is touched then, and each of the others.
  const double missed = none_left_out(of_groups - 1, width - held, of_groups, width, chosen) -
                        none_left_out(of_groups - 1, 0, of_groups, width, chosen);
  const double all = none_left_out(of_groups, 0, of_groups, width, chosen);
  return static_cast<double>(of_groups) / groups * (1 - missed / all);
}

double distinct_ranks(const Routing& routing, int ranks) {
  return ranks * reaching_share(routing, static_cast<double>(routing.experts) / ranks);
}

}  // namespace llmscape::models
