// SPDX-License-Identifier: Apache-2.0
#include "sim/result/breakdown.hpp"

#include <cmath>
#include <map>
#include <span>
#include <stdexcept>

namespace llmscape::result {
namespace {

using hardware::kBoundNames;
using hardware::kOperatorFamilyNames;

double sum_of(std::span<const Seconds> parts) {
  double sum = 0;
  for (const Seconds part : parts) sum += part.si();
  return sum;
}

// Times are differences of moments, and moments that are far from 0 are coarse.
void check_sum(const char* what, double parts, double whole, double count, Seconds last) {
  constexpr double kMomentError = 1e-15;  // about four units in the last place
  if (std::abs(parts - whole) > 1e-9 * whole + kMomentError * last.si() * count)
    throw std::logic_error("INV-17: the parts of " + std::string(what) + " sum to " + std::to_string(parts) +
                           " s, which took " + std::to_string(whole) + " s");
}

std::optional<TimeParts> means(std::int64_t count, double whole, std::span<const Seconds> phases,
                               std::span<const std::string_view> names) {
  if (count == 0) return std::nullopt;
  const auto all = static_cast<double>(count);
  TimeParts parts{count, whole / all, {}};
  for (std::size_t i = 0; i < phases.size(); ++i) parts.parts.emplace_back(names[i], phases[i].si() / all);
  return parts;
}

std::optional<TimeParts> request_parts(const metrics::Observer& seen, const Latencies& latency) {
  const Percentiles *ttft = latency["ttft_s"], *e2e = latency["e2e_s"];
  if (!ttft || !e2e) return std::nullopt;
  const std::span<const Seconds> phases = seen.measured.request_phases;
  const auto count = static_cast<double>(e2e->count);
  const double whole = e2e->mean * count;
  check_sum("the times to first tokens", sum_of(phases.first(serving::kPhasesOfFirstToken)), ttft->mean * count, count,
            seen.last_end);
  check_sum("the times of requests", sum_of(phases), whole, count, seen.last_end);
  return means(e2e->count, whole, phases, serving::kRequestPhaseNames);
}

std::optional<TimeParts> task_parts(const metrics::Observer& seen) {
  check_sum("the times of tasks", sum_of(seen.measured.task_phases), seen.measured.task_time.si(),
            static_cast<double>(seen.measured.tasks), seen.last_end);
  return means(seen.measured.tasks, seen.measured.task_time.si(), seen.measured.task_phases, serving::kTaskPhaseNames);
}

// What the replicas of one group did together.
struct Sums {
  decltype(serving::ReplicaTotals::time) time{};
  decltype(serving::ReplicaTotals::energy_by_family) energy{};
  Joules all_energy;
};

GroupSteps steps_of(const std::string& group, const Sums& sums) {
  GroupSteps steps{group, 0, 0, {}};
  for (std::size_t f = 0; f < sums.energy.size(); ++f) {
    GroupSteps::Family family{std::string(kOperatorFamilyNames[f]), 0, sums.energy[f].si(), {}};
    for (std::size_t b = 0; b < sums.time.size(); ++b) {
      const double seconds = sums.time[b][f].si();
      family.seconds += seconds;
      if (seconds > 0) family.bound_by.emplace_back(kBoundNames[b], seconds);
    }
    steps.seconds += family.seconds;
    steps.joules += family.joules;
    if (family.seconds > 0 || family.joules > 0) steps.families.push_back(std::move(family));
  }
  if (std::abs(steps.joules - sums.all_energy.si()) > 1e-9 * steps.joules)
    throw std::logic_error("INV-6: the joules of the operators of '" + group + "' are not those of its parts");
  return steps;
}

}  // namespace

Breakdown breakdown_of(const Parts& parts, const Latencies& latency) {
  Breakdown breakdown;
  breakdown.requests = request_parts(parts.observer, latency);
  breakdown.tasks = task_parts(parts.observer);
  std::map<std::string, Sums> groups;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) {
    const serving::ReplicaTotals& totals = parts.replicas[r]->totals();
    Sums& sums = groups[parts.devices[r]->name];
    for (std::size_t f = 0; f < sums.energy.size(); ++f) {
      for (std::size_t b = 0; b < sums.time.size(); ++b) sums.time[b][f] += totals.time[b][f];
      sums.energy[f] += totals.energy_by_family[f];
    }
    for (const Joules component : totals.energy) sums.all_energy += component;
  }
  for (const auto& [group, sums] : groups)
    if (GroupSteps steps = steps_of(group, sums); steps.seconds > 0) breakdown.steps.push_back(std::move(steps));
  return breakdown;
}

}  // namespace llmscape::result
