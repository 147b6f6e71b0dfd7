// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/tried_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmscape::explore {
namespace {

constexpr double kNear = 0.1;           // of a limit: there one run does not decide
constexpr std::size_t kFewestRuns = 3;  // that have an interval: two may agree by chance, however far both are off

Configuration configuration_of(const SearchRun& run) {
  Configuration one;
  one.values = run.row.values;
  one.verdict = run.row.verdict;
  one.metrics = run.row.metrics;
  return one;
}

// What several runs say of one limit.
struct Kept {
  std::optional<Estimate> left;
  bool kept = false;  // by the mean
  bool told = true;   // and the interval says the same
};

Kept look_at(const Limit& limit, const ResultsTable& table, const std::vector<SearchRun>& runs) {
  std::vector<double> lefts, margins;
  double right = 0;
  for (const SearchRun& run : runs) {
    const auto sides = sides_of(limit, table, configuration_of(run));
    if (!sides) return {};
    lefts.push_back(sides->left);
    margins.push_back(margin(limit, *sides));
    right = sides->right;
  }
  const Estimate by = mean_of(margins);
  Kept kept{mean_of(lefts), keeps(limit, by.value, right), true};
  if (runs.size() == 1) kept.told = std::abs(by.value) >= kNear * std::abs(right);
  else kept.told = runs.size() >= kFewestRuns && keeps(limit, by.low, right) == keeps(limit, by.high, right);
  return kept;
}

// What is asked of losses where no limit speaks of them.
const Limit& few_lost() {
  static const Limit limit = [] {
    Diagnostics none;
    return read_slo(fmt::format("lost_share <= {}", kMostLost), "", {}, none).front();
  }();
  return limit;
}

std::string verdict_with_reason(const SearchRun& run) {
  return run.reason.empty() ? run.row.verdict : fmt::format("{}: {}", run.row.verdict, run.reason);
}

std::string drift_of(const std::vector<SearchRun>& runs, std::size_t drifting) {
  const SearchRun& first = *std::ranges::find_if(runs, [](const SearchRun& run) { return drifts(run.row.verdict); });
  if (drifting == runs.size()) return verdict_with_reason(first);
  return fmt::format("{} with {} of {} seeds{}{}", first.row.verdict, drifting, runs.size(),
                     first.reason.empty() ? "" : ": ", first.reason);
}

// False where the runs do not suffice.
bool decide(const Question& question, const ResultsTable& table, TriedValue& value) {
  const auto is_noisy = [](const SearchRun& run) { return run.row.verdict == "noisy"; };
  const auto is_drifting = [](const SearchRun& run) { return drifts(run.row.verdict); };
  const auto is_void = [&](const SearchRun& run) {
    return run.row.verdict != "valid" && !is_noisy(run) && !is_drifting(run);
  };
  const std::size_t count = value.runs.size();
  value.sides.clear();
  value.standing = Standing::met;
  bool told = true, fails_for_sure = false;
  const auto keep = [&](const Kept& kept, const std::string& otherwise) {
    told = told && kept.told;
    if (kept.kept) return;
    value.standing = Standing::failed;
    // A limit that is surely missed says why before one that may be.
    if (value.why.empty() || (kept.told && !fails_for_sure)) value.why = otherwise;
    fails_for_sure = fails_for_sure || kept.told;
  };
  if (!question.limits.empty() && !speaks_of_losses(question.limits))
    if (const Kept lost = look_at(few_lost(), table, value.runs); lost.left)
      keep(lost, fmt::format("{:.1f} % of the calls were dropped, timed out or failed (at most 1 % unless the SLO has "
                             "'lost_share', 'slo_attainment' or 'goodput_rps')",
                             100 * lost.left->value));
  for (const Limit& limit : question.limits) {
    const Kept kept = look_at(limit, table, value.runs);
    value.sides.push_back(kept.left);
    keep(kept, kept.left ? limit.text : limit.text + " (the run has no such value)");
  }
  const auto unusable = std::ranges::find_if(value.runs, is_void);
  if (unusable != value.runs.end() && !question.include_invalid) {
    value.standing = Standing::failed;
    value.why = verdict_with_reason(*unusable);
    return true;
  }
  // What is not valid alone is judged by all seeds' mean and interval, as what is near a limit is.
  const auto drifting = static_cast<std::size_t>(std::ranges::count_if(value.runs, is_drifting));
  if (drifting > 0 && is_half(drifting, count) && !question.include_invalid) {
    value.standing = Standing::failed;
    value.why = drift_of(value.runs, drifting);
    // Seeds to come may outvote those that drift, but not what misses a limit as well.
    return fails_for_sure || is_half(drifting, std::max(count, question.repeat));
  }
  const bool too_few = count < kFewestRuns && !question.include_invalid && std::ranges::any_of(value.runs, is_noisy);
  if ((fails_for_sure || told) && !too_few) return true;
  value.clear = fails_for_sure || told;
  if (count < question.repeat) return false;
  if (too_few && value.standing == Standing::met) {
    const std::string& reason = std::ranges::find_if(value.runs, is_noisy)->reason;
    value.standing = Standing::failed;
    value.clear = true;  // no mean decides
    value.why =
        fmt::format("noisy: {}{}{} seeds or more decide (--repeat)", reason, reason.empty() ? "" : "; ", kFewestRuns);
  }
  return true;
}

}  // namespace

std::optional<TriedValue> judge(const Question& question, const ResultsTable& table, const std::vector<SearchRun>& runs,
                                std::size_t fewest) {
  TriedValue value;
  for (const SearchRun& run : runs) {
    value.runs.push_back(run);
    value.why.clear();
    value.clear = true;
    if (decide(question, table, value) && value.runs.size() >= fewest) return value;
  }
  return std::nullopt;
}

TriedValue alone(const Question& question, const ResultsTable& table, const SearchRun& run) {
  TriedValue value;
  value.runs.push_back(run);
  decide(question, table, value);
  return value;
}

}  // namespace llmscape::explore
