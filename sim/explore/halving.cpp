// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/halving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "sim/result/metric_table.hpp"

namespace llmscape::explore {
namespace {

constexpr double kMargin = 0.1;      // by which a short run must be beaten in every objective
constexpr double kSpareUse = 0.5;    // of KV memory, or of a batch: up to it a run of all requests has room, too
constexpr double kFarFromLimit = 1;  // relative violation of the constraints that no longer run puts right

bool clearly_dominates(const Losses& a, const Losses& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    if (!(a[k] < b[k] - kMargin * std::abs(b[k]))) return false;
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> shortened(const scenario::Scenario& scenario, double share) {
  const workloads::WorkloadConfig& workload = scenario.config.workload;
  std::vector<std::string> overrides;
  const auto part_of = [share](std::int64_t count) {
    return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(count)));
  };
  if (workload.requests) overrides.push_back(fmt::format("workload.requests={}", part_of(*workload.requests)));
  if (workload.duration) overrides.push_back("workload.duration=" + format(*workload.duration * share));
  if (workload.replay && workload.replay->count)
    overrides.push_back(fmt::format("workload.replay.count={}", part_of(*workload.replay->count)));
  if (overrides.empty()) return std::nullopt;
  // What is said of the run in seconds shrinks with it.
  const auto shorten = [&](const char* key, const std::optional<Seconds>& time) {
    if (time && *time > Seconds()) overrides.push_back(fmt::format("{}={}", key, format(*time * share)));
  };
  shorten("workload.warmup", workload.warmup);
  shorten("window.from", scenario.config.window.from);
  shorten("window.to", scenario.config.window.to);
  shorten("horizon", scenario.config.horizon);
  return overrides;
}

std::vector<std::optional<Estimate>> done_in(const ResultRow& row, const std::vector<std::int64_t>& most_sequences) {
  std::vector<std::optional<Estimate>> done = row.metrics;
  const auto metric = [&done](std::string_view name) -> std::optional<Estimate>& {
    return done[static_cast<std::size_t>(metrics::find_column(name) - metrics::columns().data())];
  };
  // A larger batch leaves fewer blocks, whether it is ever reached or not.
  if (auto& use = metric("peak_use"); use && use->value <= kSpareUse) {
    use.reset();
    metric("blocks").reset();
  }
  const auto may_fill = [&](std::int64_t most) {
    return !row.largest_batch || *row.largest_batch > kSpareUse * static_cast<double>(most);
  };
  const bool filled = std::ranges::any_of(most_sequences, may_fill);
  for (const std::int64_t most : most_sequences) {
    const auto value = static_cast<double>(most);
    done.push_back(filled ? std::optional(Estimate{value, value, value}) : std::nullopt);
  }
  return done;
}

std::vector<bool> hopeless(const std::vector<Short>& all, std::size_t candidates,
                           const std::vector<const metrics::Column*>& guarded) {
  std::vector<bool> drop;
  for (auto candidate = all.end() - static_cast<std::ptrdiff_t>(candidates); candidate != all.end(); ++candidate) {
    const auto beats = [&](const Short& other) {
      return other.violation == 0 && !other.losses.empty() && !other.fell_back && other.rule == candidate->rule &&
             clearly_dominates(other.losses, candidate->losses) &&
             std::ranges::all_of(guarded, [&](const metrics::Column* column) {
               return comparable(*column->metric, other.over, candidate->over);
             });
    };
    const bool has_twin = std::find(all.begin(), candidate, *candidate) != candidate;
    drop.push_back(candidate->losses.empty() || candidate->violation > kFarFromLimit || has_twin ||
                   (!candidate->fell_back && std::ranges::any_of(all, beats)));
  }
  return drop;
}

}  // namespace llmscape::explore
