// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/fit_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace llmscape::workloads {
namespace {

constexpr std::size_t kMostParts = 10, kCallsOfPart = 30;
constexpr std::size_t kMostShares = 64;
constexpr double kNearEnough = 0.004;  // in shares
constexpr double kLeastReuse = 0.001;  // of all prompt tokens: below, nothing is worth a table

// Every 2.5 %, and closer at the ends, where lengths are far apart: at the upper one as close as `count` calls tell,
// since a line to the longest of many is far above them (of 20,000 log-normal ones with a cv of 1 the mean came out 2.3
// % too high with 0.995 as the last share below 1).
std::vector<double> shares(std::size_t count) {
  std::vector<double> out = {0, 0.005, 0.01};
  for (int i = 1; i < 40; ++i) out.push_back(i * 25 / 1000.0);
  for (const double last : {0.99, 0.995}) out.push_back(last);
  for (const double last : {0.998, 0.999, 0.9995, 0.9998, 0.9999})
    if ((1 - last) * static_cast<double>(count) >= 1) out.push_back(last);
  out.push_back(1);
  return out;
}

// Adds shares, up to kMostShares, where lines between those there are furthest from the sorted values: at gaps that no
// length falls into, for one.
void refine(std::vector<double>& shares, const std::vector<double>& sorted) {
  while (shares.size() < kMostShares) {
    double furthest = kNearEnough, share = 0;
    for (std::size_t i = 0, right = 1; i < sorted.size(); ++i) {
      const double rank = (static_cast<double>(i) + 0.5) / static_cast<double>(sorted.size());
      while (right + 1 < shares.size() && shares[right] < rank) ++right;
      const double low = quantile_of(sorted, shares[right - 1]), high = quantile_of(sorted, shares[right]);
      if (high <= low) continue;
      const double on_line = shares[right - 1] + (sorted[i] - low) / (high - low) * (shares[right] - shares[right - 1]);
      if (const double off = std::abs(on_line - rank); off > furthest) {
        furthest = off;
        share = rank;
      }
    }
    if (share == 0) return;
    // As it is written, to four digits behind the point: to the side on which the length is still the same.
    const double here = quantile_of(sorted, share), down = std::floor(share * 1e4) / 1e4, up = down + 1e-4;
    const bool lower = std::abs(quantile_of(sorted, down) - here) <= std::abs(quantile_of(sorted, up) - here);
    const double rounded = std::round((lower ? down : up) * 1e4) / 1e4;
    const auto place = std::ranges::lower_bound(shares, rounded);
    if (*place == rounded) return;
    shares.insert(place, rounded);
  }
}

std::vector<double> table(std::vector<double> values, const std::vector<double>& shares) {
  std::ranges::sort(values);
  std::vector<double> out;
  for (const double share : shares) out.push_back(quantile_of(values, share));
  return out;
}

// Ages by their quantiles among the reused tokens: those of long heads matter to what a cache has to hold.
std::vector<double> ages(const std::vector<Reuse>& reuse, const std::vector<double>& shares) {
  std::vector<Reuse> all;
  double total = 0;
  for (const Reuse& head : reuse) {
    if (head.tokens == 0) continue;
    all.push_back(head);
    total += static_cast<double>(head.tokens);
  }
  std::ranges::stable_sort(all, {}, &Reuse::age);
  std::vector<double> out;
  std::size_t at = 0;
  double below = 0;
  for (const double share : shares) {
    while (at + 1 < all.size() && below + static_cast<double>(all[at].tokens) < share * total)
      below += static_cast<double>(all[at++].tokens);
    out.push_back(all[at].age);
  }
  return out;
}

// The largest power of two up to 4096 that nearly all reused heads are multiples of: the blocks of the trace.
std::int64_t granularity(const std::vector<Reuse>& reuse) {
  for (std::int64_t unit = 4096; unit > 1; unit /= 2) {
    std::int64_t heads = 0, whole = 0;
    for (const Reuse& head : reuse) {
      heads += head.tokens > 0;
      whole += head.tokens > 0 && head.tokens % unit == 0;
    }
    if (static_cast<double>(whole) >= 0.9 * static_cast<double>(heads)) return unit;
  }
  return 1;
}

}  // namespace

std::vector<double> law_shares(const std::vector<double>& sorted) {
  std::vector<double> out = shares(sorted.size());
  if (sorted.size() > 1) refine(out, sorted);
  return out;
}

double quantile_of(const std::vector<double>& sorted, double share) {
  const auto last = static_cast<double>(sorted.size() - 1);
  const double rank = std::clamp(share * static_cast<double>(sorted.size()) - 0.5, 0.0, last);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

JointLengths fit_lengths(const Recording& recording) {
  const std::vector<RecordedCall>& calls = recording.calls;
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return calls[i].prompt_tokens; });

  const std::vector<Reuse> reuse = reuse_of(recording);
  double tokens = 0, reused = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    tokens += static_cast<double>(calls[i].prompt_tokens);
    reused += static_cast<double>(reuse[i].tokens);
  }
  const bool reuses = reused > kLeastReuse * tokens;

  JointLengths out;
  std::vector<double> prompts;
  for (const RecordedCall& call : calls) prompts.push_back(static_cast<double>(call.prompt_tokens));
  std::ranges::sort(prompts);
  out.shares = law_shares(prompts);
  out.prompt = table(prompts, out.shares);
  const std::size_t parts = std::clamp<std::size_t>(calls.size() / kCallsOfPart, 1, kMostParts);
  for (std::size_t part = 0; part < parts; ++part) {
    std::vector<double> outputs, heads;
    for (std::size_t at = part * calls.size() / parts; at < (part + 1) * calls.size() / parts; ++at) {
      const RecordedCall& call = calls[order[at]];
      outputs.push_back(static_cast<double>(call.output_tokens));
      heads.push_back(static_cast<double>(reuse[order[at]].tokens) / static_cast<double>(call.prompt_tokens));
    }
    LengthPart& law = out.parts.emplace_back();
    law.output = table(std::move(outputs), out.shares);
    if (reuses) law.reused = table(std::move(heads), out.shares);
  }
  if (reuses) out.continues = Continuation{ages(reuse, out.shares), granularity(reuse)};
  return out;
}

}  // namespace llmscape::workloads
