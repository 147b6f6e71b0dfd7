// SPDX-License-Identifier: Apache-2.0
#include "sim/report/interval_summary.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/report/summary_line.hpp"

namespace llmscape::report {
namespace {

using Ends = std::optional<std::pair<double, double>>;

constexpr std::array kTimes = {std::pair{"  TTFT", "ttft_s"}, std::pair{"  TPOT", "tpot_s"},
                               std::pair{"  E2E", "e2e_s"}};

Ends by_kernels(const result::Interval& interval) { return std::pair(interval.low, interval.high); }
Ends on_servers(const result::Interval& interval) { return interval.server; }

const result::Interval* find(const result::Intervals& intervals, std::string_view metric) {
  const auto found = std::ranges::find(intervals.metrics, metric, &result::Interval::metric);
  return found == intervals.metrics.end() ? nullptr : &*found;
}

// A line for each time that has such ends, below a headline; empty where none has.
std::string times(const result::Intervals& intervals, std::string_view headline,
                  Ends (*ends)(const result::Interval&)) {
  std::string out;
  for (const auto& [label, metric] : kTimes) {
    std::string row = fmt::format("{:<{}}", label, kLabel);
    for (const char* statistic : {"mean", "p50", "p99"})
      if (const auto* i = find(intervals, fmt::format("{}.{}", metric, statistic)))
        if (const Ends of = ends(*i))
          row += fmt::format("{:>22}", fmt::format("{} - {}", duration(of->first), duration(of->second)));
    if (row.size() > kLabel) out += row + '\n';
  }
  return out.empty() ? out : std::string(headline) + '\n' + out;
}

}  // namespace

std::string interval_summary(const result::Intervals& intervals) {
  std::string out =
      times(intervals, fmt::format("{:<{}}{:>22}{:>22}{:>22}", "90 % from", kLabel, "mean", "p50", "p99"), by_kernels);
  if (const auto* i = find(intervals, "output_tokens_per_s"))
    out += line("  output", fmt::format("{} - {} tokens/s", amount(i->low), amount(i->high)));
  if (const auto* i = find(intervals, "joules_per_output_token"))
    out += line("  energy", fmt::format("{} - {} J per output token", amount(i->low), amount(i->high)));
  out += times(intervals, "on servers, whose hosts and schedulers add to the errors of kernels:", on_servers);
  if (const auto* i = find(intervals, "joules_per_output_token"); i && i->server)
    out += line("  energy",
                fmt::format("{} - {} J per output token", amount(i->server->first), amount(i->server->second)));
  return out;
}

}  // namespace llmscape::report
