// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/step_ledger.hpp"

#include <algorithm>

namespace llmscape::serving {
namespace {

constexpr auto kActive = static_cast<std::size_t>(hardware::EnergyComponent::active);

}  // namespace

double UnderWay::share_until(Seconds at) const {
  if (end <= at) return 1;
  if (start >= at) return 0;
  const Seconds each = stages.empty() ? Seconds() : end - stages.back();
  if (each <= Seconds()) return (at - start) / (end - start);
  Seconds worked;
  for (const Seconds taken_up : stages) worked += std::clamp(at - taken_up, Seconds(), each);
  return worked / (each * static_cast<double>(stages.size()));
}

void StepLedger::commit(const StepPrice& price, Seconds start, Seconds end, const StepPlan& plan,
                        const Occupancy& occupancy, std::span<const Seconds> stages) {
  const std::int64_t prefill_tokens = plan.prefill_tokens();
  const std::int64_t sequences = plan.decodes + static_cast<std::int64_t>(plan.chunks.size());
  count(1, sequences, plan.decodes, occupancy);
  if (price.whole) totals_.tabled_steps += price.whole->tabled;
  totals_.prefill_tokens += prefill_tokens;
  totals_.late_passes += plan.late;
  if (totals_.attended.size() < plan.attended.size()) totals_.attended.resize(plan.attended.size());
  for (std::size_t law = 0; law < plan.attended.size(); ++law)
    totals_.attended[law] += static_cast<double>(plan.attended[law].sum);
  if (!plan.attended.empty()) totals_.attended_decodes += plan.decodes + plan.idle_decodes;
  listener_.on_step(start, end, plan.decodes, prefill_tokens, occupancy.waiting, occupancy.kv_blocks);
  while (!timing_.shared_stages && under_way_.size() >= timing_.depth) spend_front();  // the others have ended
  UnderWay& step = under_way_.push_back();
  step.start = start;
  step.end = end;
  step.of_run = price.whole == nullptr;
  if (price.whole) {
    step.whole = *price.whole;
  } else {
    step.own = *price.own;
    step.run.become(*price.run);
  }
  step.sequences = sequences;
  step.decodes = plan.decodes;
  step.prefill_tokens = prefill_tokens;
  step.emitted = occupancy.emitted;
  step.late = plan.late;
  if (timing_.shared_stages) step.stages.assign(stages.begin(), stages.end());
}

void StepLedger::count(std::int64_t times, std::int64_t sequences, std::int64_t decodes, const Occupancy& last) {
  totals_.steps += times;
  totals_.sequence_steps += times * sequences;
  totals_.decode_tokens += times * decodes;
  totals_.passes += times * decodes;
  totals_.most_sequences = std::max(totals_.most_sequences, sequences);
  totals_.most_tokens = std::max(totals_.most_tokens, last.tokens);
  totals_.peak_kv_blocks = std::max(totals_.peak_kv_blocks, last.kv_blocks);
}

void StepLedger::spend_front() {
  spend(under_way_.front(), under_way_.front().end);
  under_way_.pop_front();
}

void StepLedger::commit_run(const engine::DecodeRun& run, const Ring<RunStep>& steps, std::size_t steps_of_run,
                            Seconds start, const Alike& alike) {
  const auto times = static_cast<std::int64_t>(steps_of_run);
  count(times, alike.decodes, alike.decodes, alike.last);
  totals_.attended_decodes += times * alike.decodes;
  if (totals_.attended.size() < alike.attended.size()) totals_.attended.resize(alike.attended.size());
  for (std::size_t law = 0; law < alike.attended.size(); ++law)  // whole numbers: the order does not matter
    totals_.attended[law] += static_cast<double>(alike.attended[law]);
  // All but the last `depth` of them and of those before have ended.
  const std::size_t all = under_way_.size() + steps_of_run;
  std::size_t ended = all - std::min(all, timing_.depth);
  for (; ended > 0 && !under_way_.empty(); --ended) spend_front();
  for (std::size_t i = 0; i < steps_of_run; ++i) {
    const RunStep& step = steps[i];
    if (i < ended) {
      spend_of_run(run, step.own, start, step.end);
    } else {
      UnderWay& under_way = under_way_.push_back();
      under_way.start = start;
      under_way.end = step.end;
      under_way.of_run = true;
      under_way.own = step.own;
      under_way.run.become(run);
      under_way.sequences = under_way.decodes = alike.decodes;
      under_way.prefill_tokens = under_way.late = 0;
      under_way.emitted = alike.last.emitted;
    }
    start = step.end;
  }
}

// Adds the time and the joules of a step to the totals, up to `until`: the share of it that has passed then.
void StepLedger::spend(const UnderWay& step, Seconds until) {
  if (!step.of_run) return spend_whole(step, step.whole, until);
  if (step.end > until) return spend_whole(step, step.cost(), until);
  spend_of_run(step.run, step.own, step.start, step.end);
}

void StepLedger::spend_whole(const UnderWay& step, const engine::EngineCost& cost, Seconds until) {
  const bool cut = step.end > until;
  const double share = step.share_until(until);
  if (share == 0) return;
  const double stages = timing_.shared_stages ? 1 : timing_.stages, time_share = stages * share;
  // Shared stages: what a step keeps each of them busy.
  totals_.busy += timing_.shared_stages ? cost.stage() * share : (cut ? until : step.end) - step.start;
  constexpr auto kHost = static_cast<std::size_t>(hardware::OperatorFamily::host);
  for (std::size_t i = 0; i < kHost; ++i)
    if (cost.by_family[i] != Seconds())
      totals_.time[static_cast<std::size_t>(cost.bound[i])][i] += cost.by_family[i] * time_share;
  // What of the host's time the device did not hide.
  totals_.time[static_cast<std::size_t>(hardware::Bound::overhead)][kHost] +=
      (timing_.shared_stages ? cost.stage() - cost.device
                             : std::max(Seconds(), timing_.duration(cost) - cost.device * stages)) *
      share;
  totals_.extrapolated += cost.extrapolated * time_share;
  Joules energy;
  if (timing_.waits_for_others) {  // at the exchange of each layer, by kernels that run
    constexpr auto kCollective = static_cast<std::size_t>(hardware::OperatorFamily::collective);
    const Seconds waited = timing_.waits(cost, step.start, step.end) * share;
    totals_.time[static_cast<std::size_t>(hardware::Bound::overhead)][kCollective] += waited;
    energy = timing_.waiting * waited;
    totals_.energy[kActive] += energy;
    totals_.energy_by_family[kCollective] += energy;
  }
  for (std::size_t i = 0; i < cost.energy.size(); ++i) {
    const Joules spent = cost.energy[i] * share;
    totals_.energy[i] += spent;
    energy += spent;
  }
  for (std::size_t i = 0; i < cost.energy_by_family.size(); ++i)
    totals_.energy_by_family[i] += cost.energy_by_family[i] * share;
  for (std::size_t i = 0; i < cost.busy.size(); ++i) totals_.busy_by_resource[i] += cost.busy[i] * share;
  totals_.flops += cost.flops * share;
  totals_.bytes += cost.bytes * share;
  totals_.expert_bytes += cost.expert_bytes * share;
  listener_.on_energy(step.start, cut ? until : step.end, energy);
  if (cost.drafting == Joules()) return;
  totals_.drafting += cost.drafting * share;
  listener_.on_drafting(step.start, cut ? until : step.end, cost.drafting * share);
}

// The same of a whole step of a run. Its stages are not shared, and it waits for nobody: such steps are not planned
// ahead.
void StepLedger::spend_of_run(const engine::DecodeRun& run, const hardware::OwnAttention& own, Seconds start,
                              Seconds end) {
  totals_.busy += end - start;
  const hardware::DecodeSteps::Own step = run.steps->of_one(own);
  const Seconds duration = timing_.duration(step.device, run.host, run.launch, run.sync);
  runs_.of(run, timing_.stages, totals_).add(own, step, std::max(Seconds(), duration - step.device * timing_.stages));
  listener_.on_energy(start, end, run.steps->others_joules() + (step.joules[0] + step.joules[1] + step.joules[2]));
}

void StepLedger::spend_ended(Seconds now) {
  while (!under_way_.empty() && under_way_.front().end <= now) spend_front();
}

void StepUse::add(const StepUse& other, double share) {
  busy += other.busy * share;
  for (std::size_t i = 0; i < energy.size(); ++i) energy[i] += other.energy[i] * share;
  for (std::size_t i = 0; i < busy_by_resource.size(); ++i) busy_by_resource[i] += other.busy_by_resource[i] * share;
  drafting += other.drafting * share;
}

// What has ended is counted first, so that all steps are added in one order; one that starts at `at` may be planned or
// not, and must leave no rounding.
StepUse StepLedger::used_until(Seconds at) {
  spend_ended(at);
  ReplicaTotals ended = totals_;  // how often this is asked must not show in the sums
  runs_.add_to(ended, timing_.stages);
  StepUse sum{ended.busy, ended.energy, ended.busy_by_resource, ended.drafting};
  for (std::size_t i = 0; i < under_way_.size(); ++i) {
    const UnderWay& step = under_way_[i];
    if (step.start >= at) break;
    const Seconds lasts = step.end - step.start;
    const engine::EngineCost cost = step.cost();
    StepUse own{timing_.shared_stages ? cost.stage() : lasts, cost.energy, cost.busy, cost.drafting};
    own.energy[kActive] += timing_.waiting * timing_.waits(cost, step.start, step.end);
    sum.add(own, step.share_until(at));
  }
  return sum;
}

StepLedger::Cut StepLedger::cut_at(Seconds until) {
  Cut cut;
  for (; !under_way_.empty(); under_way_.pop_front()) {
    const UnderWay& step = under_way_.front();
    spend(step, until);
    if (step.end <= until) continue;
    totals_.steps -= 1;
    if (!step.of_run) totals_.tabled_steps -= step.whole.tabled;
    totals_.sequence_steps -= step.sequences;
    totals_.prefill_tokens -= step.prefill_tokens;
    totals_.decode_tokens -= step.decodes;
    totals_.passes -= step.decodes;
    totals_.late_passes -= step.late;
    cut.prefill_tokens += step.prefill_tokens;
    cut.emitted_tokens += step.emitted;
    cut.decode_steps += step.decodes > 0 ? 1 : 0;
  }
  return cut;
}

void StepLedger::abandon(const Request& request, const DecodeSet& decoding, Seconds now) {
  std::erase_if(abandoned_, [now](const Abandoned& tokens) { return tokens.end <= now; });
  std::int64_t decode_steps = 0;
  for (std::size_t i = 0; i < under_way_.size(); ++i)
    if (under_way_[i].end > now && under_way_[i].decodes > 0) ++decode_steps;
  std::int64_t after = decoding.unanswered(request, now, decode_steps);
  for (std::size_t i = 0; i < under_way_.size() && after > 0; ++i) {
    const UnderWay& step = under_way_[i];
    if (step.end <= now) continue;
    if (step.decodes > 0) --decode_steps;
    const std::int64_t later = decoding.unanswered(request, step.end, decode_steps);
    if (after > later) abandoned_.push_back({request.answered_from(now), now, step.end, after - later});
    after = later;
  }
}

StepLedger::Cut StepLedger::lose(Seconds at) {
  abandoned_.clear();  // they stay with their requests, which are not answered again
  const Cut cut = cut_at(at);
  totals_.lost_prefill_tokens += cut.prefill_tokens;
  return cut;
}

void StepLedger::stop(Seconds now) {
  std::erase_if(abandoned_, [now](const Abandoned& tokens) { return tokens.end <= now; });
  const Cut cut = cut_at(now);
  totals_.cut_prefill_tokens += cut.prefill_tokens;
  totals_.cut_emitted_tokens += cut.emitted_tokens;
  totals_.cut_decode_steps += cut.decode_steps;
  runs_.add_to(totals_, timing_.stages);
}

}  // namespace llmscape::serving
