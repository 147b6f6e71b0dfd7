// SPDX-License-Identifier: Apache-2.0
#include "sim/result/measured.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace llmscape::result {
namespace {

// Adds the tokens of calls that are open at the end, and takes off those that no step computed.
void count_unended(const Parts& parts, const serving::Gateway& gateway, Seconds end, const metrics::Span& span,
                   metrics::WindowSums& sums) {
  gateway.calls().for_each_open([&](const serving::Request& request) {
    std::int64_t emitted = 0;
    if (request.replica >= 0) {
      const serving::Replica& replica = *parts.replicas[static_cast<std::size_t>(request.replica)];
      const serving::DecodeSet& decoding = replica.state().decoding;
      emitted = decoding.emitted(request) - decoding.unanswered(request, end, replica.totals().cut_decode_steps);
    }
    metrics::Observer::add_open(request, emitted, end, span, sums);
  });
  // Calls that were given up had the tokens of the steps under way, which the end of the run cut short.
  for (const serving::Replica* replica : parts.replicas)
    for (const auto& never : replica->abandoned())
      sums.emitted_tokens -= static_cast<double>(never.tokens) * span.share(never.from, never.left);
}

// Those at kCurveLevels.
void take_quantiles(const std::vector<double>& quantiles, Percentiles& p) {
  std::ranges::copy(quantiles, p.curve.begin());
  const auto at = [&p](double level) {
    return p.curve[static_cast<std::size_t>(std::ranges::find(kCurveLevels, level) - kCurveLevels.begin())];
  };
  p.p50 = at(0.5);
  p.p90 = at(0.9);
  p.p95 = at(0.95);
  p.p99 = at(0.99);
}

}  // namespace

Measured whole_measured(const Parts& parts, const serving::Gateway& gateway, Seconds end) {
  Measured all{"whole", whole_run(parts, gateway, end), &metrics::PartSums::all, parts.observer.sums.all, Seconds()};
  count_unended(parts, gateway, end, {}, all.sums);
  return all;
}

Measured window_measured(const Parts& parts, const serving::Gateway& gateway, const Measured& all,
                         std::string_view rule) {
  const metrics::WindowTracker& tracker = parts.window;
  const Seconds end = all.portion.to;
  const auto& [from, to] = parts.edges;
  Measured measured = all;
  if (tracker.found(end)) {
    measured.rule = rule;
    measured.portion = between(from, to, all.portion);
    measured.part = &metrics::PartSums::window;
    measured.sums = parts.observer.sums.window;
    count_unended(parts, gateway, end, tracker.main(), measured.sums);
  } else if (tracker.rest().from > Seconds() && tracker.rest().from < end) {
    measured.portion = between(from, {}, all.portion);
    measured.part = &metrics::PartSums::rest;
    measured.sums = parts.observer.sums.rest;
    count_unended(parts, gateway, end, tracker.rest(), measured.sums);
  }
  measured.arrivals_from = measured.portion.from;
  return measured;
}

std::optional<Percentiles> percentiles(const Moments& moments, const Values& values) {
  if (moments.count() == 0) return std::nullopt;
  Percentiles p{moments.count(),   moments.mean(), moments.standard_deviation(), 0, 0, 0, 0,
                moments.maximum(), values.exact()};
  take_quantiles(values.quantiles(moments, kCurveLevels), p);
  return p;
}

std::optional<Percentiles> percentiles_above_zero(const Moments& moments, const Values& values) {
  const auto all = static_cast<double>(moments.count());
  const double zeros = std::round(all * values.share_at_most(moments, 0)), above = all - zeros;
  if (above < 1) return std::nullopt;
  const double mean = moments.sum() / above, deviation = moments.standard_deviation();
  const double squares = all * (deviation * deviation + moments.mean() * moments.mean());
  Percentiles p{static_cast<std::int64_t>(above),
                mean,
                std::sqrt(std::max(0., squares / above - mean * mean)),
                0,
                0,
                0,
                0,
                moments.maximum(),
                values.exact()};
  std::array<double, kCurveLevels.size()> levels{};
  std::ranges::transform(kCurveLevels, levels.begin(), [&](double level) {
    const double rank = zeros + std::max(1., std::ceil(level * above * (1 - 1e-15)));
    return (rank - 0.5) / all;  // no rounding takes it to a neighbour's
  });
  take_quantiles(values.quantiles(moments, levels), p);
  return p;
}

}  // namespace llmscape::result
