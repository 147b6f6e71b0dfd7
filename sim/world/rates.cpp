// SPDX-License-Identifier: Apache-2.0
#include "sim/world/rates.hpp"

#include <algorithm>

namespace llmscape::world {
namespace {

// Whose requests rates are of.
struct Whose {
  const metrics::WindowSums& sums;
  std::int64_t ended, completed, good;  // measured
  bool limited;                         // by an SLO
  const result::Latencies& latency;
};

bool limits(const scenario::Slo& slo) { return slo.ttft || slo.tpot || slo.e2e; }

result::Throughput rates(const Ended& parts, const serving::Gateway& gateway, const result::Measured& measured,
                         const result::RunResult& result, const Whose& of) {
  result::Throughput rate;
  const double length = measured.portion.length().si();
  if (length <= 0) return rate;
  const auto& arrivals = parts.scenario.config.workload.arrivals;
  const bool to_the_end = measured.portion.to >= Seconds(result.simulated_s);
  const Seconds offering = (to_the_end ? gateway.last_arrival() : measured.portion.to) - measured.arrivals_from;
  if ((!arrivals || arrivals->users() == 0) && offering > Seconds())
    rate.offered_requests_per_s = static_cast<double>(of.sums.arrivals) / offering.si();
  rate.requests_per_s = of.sums.requests / length;
  rate.output_tokens_per_s = of.sums.output_tokens / length;
  rate.total_tokens_per_s = (of.sums.output_tokens + of.sums.prompt_tokens) / length;
  rate.output_tokens_per_s_per_device = rate.output_tokens_per_s / static_cast<double>(result.devices);
  if (const result::Percentiles* tpot = of.latency["tpot_s"]; tpot && tpot->mean > 0)
    rate.output_tokens_per_s_per_user = 1 / tpot->mean;
  if (of.ended > 0) rate.lost_share = static_cast<double>(of.ended - of.completed) / static_cast<double>(of.ended);
  // The sums are of spans, in unlike order: a rounding more than all is all.
  if (of.sums.emitted_tokens > 0) rate.answered_share = std::min(1.0, of.sums.output_tokens / of.sums.emitted_tokens);
  if (of.limited && of.ended > 0) {
    rate.goodput_rps = of.sums.good / length;
    rate.slo_attainment = static_cast<double>(of.good) / static_cast<double>(of.ended);
  }
  return rate;
}

}  // namespace

result::Throughput throughput(const Ended& parts, const serving::Gateway& gateway, const result::Measured& measured,
                              const result::RunResult& result) {
  const metrics::MeasuredSums& all = parts.observer.measured;
  const bool limited = std::ranges::any_of(parts.scenario.slos, limits);
  return rates(parts, gateway, measured, result,
               {measured.sums, all.ended, all.completed, all.good, limited, result.latency});
}

std::vector<result::ClassResult> classes(const Ended& parts, const serving::Gateway& gateway,
                                         const result::Measured& measured, const result::RunResult& result) {
  std::vector<result::ClassResult> results;
  const std::vector<const metrics::Metric*> times = metrics_of_requests(parts.scenario);
  for (std::size_t i = 0; i < parts.observer.classes.size(); ++i) {
    const metrics::ClassSums& seen = parts.observer.classes[i];
    if (seen.sums.all.arrivals == 0) continue;
    result::ClassResult& own = results.emplace_back();
    own.name = parts.scenario.slo_classes[i];
    own.ended = seen.ended;
    own.completed = seen.completed;
    for (std::size_t time = 0; time < times.size(); ++time)
      own.latency.set(times[time]->key, result::percentiles(seen.times[time]));
    own.throughput = rates(
        parts, gateway, measured, result,
        {seen.sums.*measured.part, seen.ended, seen.completed, seen.good, limits(parts.scenario.slos[i]), own.latency});
  }
  if (results.size() < 2) results.clear();
  return results;
}

std::vector<std::string> limits_and_calls(const Ended& parts) {
  std::vector<std::string> sentences;
  const std::vector<scenario::Slo>& slos = parts.scenario.slos;  // the first is that of calls without a class
  for (std::size_t i = 0; i < parts.observer.classes.size(); ++i) {
    const bool calls = parts.observer.classes[i].sums.all.arrivals > 0;
    const std::string& name = parts.scenario.slo_classes[i];
    if (calls && !limits(slos[i]))
      sentences.push_back(i == 0 ? "calls without an SLO class are all good: 'slo' has limits of its classes alone"
                                 : "calls of class '" + name + "' are all good: slo.classes gives it no limit");
    if (!calls && limits(slos[i]))
      sentences.push_back(i == 0 ? "the limits of 'slo' itself judge no call: all measured ones are of a class, which "
                                   "has limits of its own instead"
                                 : "no measured call is of class '" + name + "': its limits judge nothing");
  }
  return sentences;
}

}  // namespace llmscape::world
