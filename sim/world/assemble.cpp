// SPDX-License-Identifier: Apache-2.0
#include "sim/world/assemble.hpp"
#include "sim/scenario/precision.hpp"
#include "sim/world/kernels_used.hpp"
#include "sim/world/peak_memory.hpp"
#include "sim/world/unreached_pools.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

#include "sim/kernel/kernel.hpp"
#include "sim/result/breakdown.hpp"
#include "sim/result/energy.hpp"
#include "sim/result/retrieval.hpp"
#include "sim/result/sums.hpp"
#include "sim/result/utilisation.hpp"
#include "sim/world/pte.hpp"
#include "sim/world/rates.hpp"

namespace llmscape::world {

namespace {

std::optional<result::SpeculationResult> speculation(const Ended& parts,
                                                     const std::vector<serving::ReplicaTotals>& totals) {
  result::SpeculationResult result;
  std::int64_t tokens = 0, awaited = 0, late = 0;
  for (std::size_t r = 0; r < totals.size(); ++r) {
    const auto& config = parts.scenario.pools[parts.pools[r]].speculation;
    if (!config) continue;
    result.passes += totals[r].passes;
    tokens += totals[r].decode_tokens;
    if (!config->draft.device) continue;
    awaited += totals[r].passes;
    late += totals[r].late_passes;
  }
  if (result.passes == 0) return std::nullopt;
  result.tokens_per_pass = static_cast<double>(tokens) / static_cast<double>(result.passes);
  if (awaited > 0) result.late_share = static_cast<double>(late) / static_cast<double>(awaited);
  return result;
}

std::optional<result::LoadsResult> adapters(const Ended& parts) {
  std::optional<result::LoadsResult> result;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) {
    if (!parts.scenario.pools[parts.pools[r]].lora) continue;
    if (!result) result.emplace();
    result->loads += parts.replicas[r]->state().running.adapters().loads();
    result->load_s += parts.replicas[r]->totals().adapter_loading.si();
  }
  return result;
}

std::optional<result::LoadsResult> turns(const Ended& parts) {
  std::optional<result::LoadsResult> result;
  for (std::size_t r = 0; r < parts.replicas.size(); ++r) {
    if (!parts.turns[r]) continue;
    if (!result) result.emplace();
    result->loads += parts.turns[r]->loads(*parts.replicas[r]);
    result->load_s += parts.turns[r]->loading(*parts.replicas[r]).si();
  }
  return result;
}

// Mean over the layers of what a decode attends to.
std::optional<double> entries_per_decode(const Ended& parts, const std::vector<serving::ReplicaTotals>& totals) {
  double entries = 0;
  std::int64_t decodes = 0;
  for (std::size_t r = 0; r < totals.size(); ++r) {
    if (totals[r].attended_decodes == 0) continue;
    decodes += totals[r].attended_decodes;
    const models::ModelSpec& model = parts.scenario.model_of(parts.scenario.pools[parts.pools[r]]);
    const auto laws = models::kv_laws(model);
    for (const models::LayerGroup& group : model.groups) {
      const models::SequenceState state = group.state(model.precision);
      if (state.bytes_per_token == 0) continue;
      const auto law = std::ranges::lower_bound(laws, state.reach) - laws.begin();
      entries += totals[r].attended[static_cast<std::size_t>(law)] * group.count / model.layers();
    }
  }
  if (decodes == 0) return std::nullopt;
  return entries / static_cast<double>(decodes);
}

result::Work work(const Ended& parts, const std::vector<serving::ReplicaTotals>& totals) {
  result::Work work;
  const scenario::PoolConfig& first = parts.scenario.pools.front();
  const models::ModelSpec& model = parts.scenario.model_of(first);
  for (std::size_t r = 0; r < totals.size(); ++r) {
    if (parts.pools[r] == 0) {
      const Bytes peak =
          models::memory_need(model, first.plan(), totals[r].most_tokens, totals[r].most_sequences).activations;
      work.activation_bytes = std::max(work.activation_bytes, peak.si());
    }
    const auto devices = static_cast<double>(parts.devices_of_replica[r]);
    work.flops += totals[r].flops.si() * devices;
    work.bytes += totals[r].bytes.si() * devices;
    work.expert_bytes += totals[r].expert_bytes.si() * devices;
  }
  work.kv_bytes_per_token = models::kv_bytes_per_token(model);
  work.entries_per_decode = entries_per_decode(parts, totals);
  return work;
}

// By name, so that the order of groups does not show (INV-13).
std::string describe_hardware(const scenario::Scenario& scenario) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& device : scenario.config.hardware.devices) counts[device->name] += device->count;
  std::string text;
  for (const auto& [name, count] : counts) text += (text.empty() ? "" : " + ") + std::to_string(count) + " x " + name;
  return text;
}

std::string_view name_of(serving::Role role) {
  static constexpr std::array<std::string_view, 3> kNames = {"any", "prefill", "decode"};
  return kNames[static_cast<std::size_t>(role)];
}

// A replica that was converted counts where it stood at first.
std::vector<result::PoolResult> pools(const Ended& parts, const serving::Gateway& gateway,
                                      const std::vector<serving::ReplicaTotals>& totals,
                                      const result::Portion& portion) {
  std::vector<result::PoolResult> results;
  for (std::size_t i = 0; i < parts.scenario.pools.size(); ++i) {
    const scenario::PoolConfig& config = parts.scenario.pools[i];
    result::PoolResult& pool = results.emplace_back();
    pool.name = scenario::name_of(config);
    pool.model = parts.scenario.model_of(config).name;
    pool.role = name_of(config.role);
    Seconds busy, switched_on;
    std::int64_t busiest = 0;
    for (std::size_t r = 0; r < totals.size(); ++r) {
      if (parts.pools[r] != i) continue;
      ++pool.replicas;
      pool.steps += totals[r].steps;
      pool.prefill_tokens += totals[r].prefill_tokens;
      pool.decode_tokens += totals[r].decode_tokens;
      pool.dummy_steps += totals[r].dummy_steps;
      busiest = std::max(busiest, totals[r].prefill_tokens + totals[r].decode_tokens);
      busy += portion.replicas[r].busy;
      switched_on += portion.provisioned(gateway, r);
      if (!parts.turns[r]) continue;
      pool.loads += parts.turns[r]->loads(*parts.replicas[r]);
      pool.loading_s += parts.turns[r]->loading(*parts.replicas[r]).si();
    }
    if (switched_on > Seconds()) pool.busy = busy / switched_on;
    if (!config.lock_step) continue;
    pool.ranks = config.data_parallel;
    if (const std::int64_t all = pool.prefill_tokens + pool.decode_tokens; all > 0)
      pool.rank_balance = static_cast<double>(busiest * pool.replicas) / static_cast<double>(all);
  }
  return results;
}

// Nothing where a device does not state its area.
std::optional<result::AreaResult> area(const scenario::Scenario& scenario, const result::Throughput& throughput) {
  result::AreaResult result;
  for (const auto& device : scenario.config.hardware.devices) {
    if (!device->die_area) return std::nullopt;
    result.die_area_mm2 += device->die_area->value.si() * 1e6 * static_cast<double>(device->count);
  }
  result.output_tokens_per_s_per_mm2 = throughput.output_tokens_per_s / result.die_area_mm2;
  return result;
}

// What depends on the part of the run that is looked at.
struct Figures {
  result::Throughput throughput;
  result::EnergyResult energy;
  std::optional<result::CostResult> cost;
  std::vector<result::GroupUse> utilisation;
};

Figures figures(const Ended& parts, const serving::Gateway& gateway, const result::Measured& measured,
                const metrics::PowerSeries& power, const result::RunResult& result) {
  const result::Portion& portion = measured.portion;
  Figures all;
  all.throughput = throughput(parts, gateway, measured, result);
  const metrics::WindowSums& sums = measured.sums;
  all.energy =
      result::energy_of(parts, gateway, portion, power, sums.emitted_tokens, sums.output_tokens, sums.requests);
  if (const auto& cost = parts.scenario.config.cost)
    all.cost = result::cost_of(*cost, result::group_times(parts, gateway, portion), all.energy, sums.emitted_tokens,
                               sums.output_tokens);
  all.utilisation = result::utilisation_of(parts, gateway, portion);
  return all;
}

metrics::VerdictInput question(const Ended& parts, const serving::Gateway& gateway, const result::RunResult& result,
                               const std::vector<double>& ttft_batches, Seconds end) {
  const metrics::Observer& seen = parts.observer;
  const workloads::WorkloadConfig& workload = parts.scenario.config.workload;
  metrics::VerdictInput input;
  input.stopped_at_horizon = gateway.stopped_at_horizon();
  input.stands_still = gateway.stands_still();
  input.clock_ended = end >= kernel::kClockEnd;
  input.completed = seen.measured.completed;
  input.unfinished = result.requests.queued + result.requests.running + result.requests.waiting;
  const auto& starts = seen.backlog.points();
  if (workload.arrivals && workload.arrivals->users() > 0) input.load = metrics::Load::closed;
  else if (starts.empty() || starts.front().at == starts.back().at) input.load = metrics::Load::burst;
  input.steady = parts.window.found(end) || parts.scenario.config.window.rule == metrics::WindowRule::whole;
  input.offered = workloads::offered_rate(workload);
  input.backlog = &seen.backlog;
  input.waits = &seen.waits;
  input.ttft_batch_p99 = &ttft_batches;
  return input;
}

std::optional<result::FleetResult> fleet(const Ended& parts, const serving::Gateway& gateway, Seconds end) {
  const scenario::ScenarioConfig& config = parts.scenario.config;
  if (config.serving.controllers.empty() && config.faults.schedule.empty() && config.faults.mtbf.empty())
    return std::nullopt;
  result::FleetResult result;
  for (std::size_t i = 0; i < parts.scenario.pools.size(); ++i) {
    const serving::PoolHistory history = gateway.fleet().history(i, end);
    result.pools.push_back({scenario::name_of(parts.scenario.pools[i]), history.provisioned().si(), history.available(),
                            history.starts, history.drains, history.conversions, history.losses});
  }
  result.retried = gateway.retried();
  result.lost_tokens = gateway.lost_tokens();
  return result;
}

}  // namespace

std::vector<const metrics::Metric*> metrics_of_requests(const scenario::Scenario& scenario) {
  return metrics::latencies_of({std::ranges::any_of(scenario.pools, &scenario::PoolConfig::stages_shared)});
}

result::RunResult assemble(const Ended& parts, const serving::Gateway& gateway, Seconds end) {
  const scenario::ScenarioConfig& config = parts.scenario.config;
  const metrics::Observer& seen = parts.observer;
  gateway.check_invariants();
  for (const serving::Replica* replica : parts.replicas) replica->check_invariants(end);

  result::RunResult result;
  result.seed = config.seed;
  result.model = parts.scenario.model.name;
  result.precision = scenario::precision_used(parts.scenario);
  const auto routed = [](const models::LayerGroup& group) { return group.feed_forward.routed(); };
  for (const models::ModelSpec& model : parts.scenario.models)
    if (std::ranges::any_of(model.groups, routed)) result.tokens_of = name_of(config.workload.tokens);
  result.hardware = describe_hardware(parts.scenario);
  for (const scenario::PoolConfig& pool : parts.scenario.pools) {
    const std::string engine = pool.engine.name + " " + pool.engine.version;
    if (("+ " + result.engine + " +").find(" " + engine + " ") == std::string::npos)
      result.engine += (result.engine.empty() ? "" : " + ") + engine;
  }
  result.kernels = kernels_used(parts.scenario);
  result.replicas = static_cast<std::int64_t>(parts.replicas.size());
  for (const auto& device : config.hardware.devices) result.devices += device->count * device->parts();
  result.requests = gateway.calls().counters();
  result.tasks = gateway.programs().counters();
  for (std::size_t i = 0; i < seen.reasons.size(); ++i)
    if (seen.reasons[i] > 0) result.reasons.emplace_back(serving::kReasonNames[i], seen.reasons[i]);
  result.tokens = result::count_tokens(parts, gateway);
  const std::vector<const metrics::Metric*> of_requests = metrics_of_requests(parts.scenario);
  for (std::size_t i = 0; i < of_requests.size(); ++i)
    result.latency.set(of_requests[i]->key, result::percentiles(seen.times[i]));
  result.latency.set("task_s", result::percentiles(seen.task));
  result.pte = pte_of(parts.scenario, seen);
  Moments gaps;
  for (const Moments* of_replica : parts.gaps) gaps.merge(*of_replica);
  result.latency.set("itl_s", result.chunk_gaps = result::percentiles(gaps, *parts.gap_values));
  if (gaps.minimum() == 0) result.chunk_gaps = result::percentiles_above_zero(gaps, *parts.gap_values);

  std::vector<serving::ReplicaTotals> totals;
  for (const serving::Replica* replica : parts.replicas) totals.push_back(replica->totals());
  for (std::size_t r = 0; r < totals.size(); ++r) {
    result.steps += totals[r].steps;
    result.sequence_steps += totals[r].sequence_steps;
    const serving::EngineState& state = parts.replicas[r]->state();
    result.kv.blocks += state.kv.pool.blocks();
    result.kv.preemptions += state.counts.preemptions;
    result.kv.peak_use =
        std::max(result.kv.peak_use, static_cast<double>(totals[r].peak_kv_blocks) /
                                         static_cast<double>(std::max<std::int64_t>(1, state.kv.pool.blocks())));
  }
  if (const std::int64_t looked_up = result.tokens.reused + result.tokens.computed; looked_up > 0)
    result.kv.hit_rate = static_cast<double>(result.tokens.reused) / static_cast<double>(looked_up);
  if (result.steps > 0)
    result.mean_batch = static_cast<double>(result.sequence_steps) / static_cast<double>(result.steps);

  result.simulated_s = end.si();
  const result::Measured all = result::whole_measured(parts, gateway, end);
  const result::Measured measured = result::window_measured(parts, gateway, all, metrics::name_of(config.window.rule));
  result.window = {measured.rule, measured.portion.from.si(), measured.portion.to.si()};
  result.window_s = result.window.length();
  const metrics::PowerSeries power = result::power_of(parts, gateway, all.portion);
  result::check_energy(parts, gateway, all.portion, power);
  Figures whole = figures(parts, gateway, all, power, result);
  result.overall = {end.si(), whole.throughput, whole.energy, whole.cost, whole.utilisation};
  if (result.window_s != result.simulated_s) whole = figures(parts, gateway, measured, power, result);
  result.throughput = whole.throughput;
  result.classes = classes(parts, gateway, measured, result);
  result.energy = std::move(whole.energy);
  result.cost = std::move(whole.cost);
  result.utilisation = std::move(whole.utilisation);
  result.kv_tiers = parts.tiers->results(end);
  result.kv_stores = result::kv_stores(parts, end);
  result.retrieval = result::retrieval_results(config.hardware.retrieval, gateway.programs(), end);
  result.speculation = speculation(parts, totals);
  result.adapters = adapters(parts);
  result.turns = turns(parts);
  result.work = work(parts, totals);
  if (result.steps > 0) result.memory = peak_memory(parts);
  result.pools = pools(parts, gateway, totals, measured.portion);
  result.breakdown = result::breakdown_of(parts, result.latency);
  result.area = area(parts.scenario, result.throughput);
  result.fleet = fleet(parts, gateway, end);
  result::add_time_shares(parts, totals, result);
  const std::vector<Bytes> carried = parts.fabric->carried(end);
  for (std::size_t link = 0; link < carried.size(); ++link)
    if (const Bytes bytes = carried[link]; bytes > Bytes())
      result.links.push_back({parts.fabric->name_of(link), bytes.si(), bytes / parts.fabric->allowed(link, end)});

  result.warnings = parts.warnings;
  for (const std::string& sentence : exceeded_memory(parts)) result.warnings.push_back(sentence);
  for (const std::string& sentence : unreached_pools(parts, totals)) result.warnings.push_back(sentence);
  for (const std::string& sentence : limits_and_calls(parts)) result.warnings.push_back(sentence);
  if (result.cost) {
    for (const std::string& group : result.cost->unpriced)
      result.warnings.push_back(
          "cost.devices has no price of '" + group +
          "', so that the run has no total cost: prices go by the name of a group, and 0 /h is one");
    for (const std::string& group : result.cost->not_written_off)
      result.warnings.push_back("the capital of '" + group +
                                "' is not in the total cost: cost.devices gives it no 'lifetime' to write it off over");
  }
  // Replicas of one group leave a range at operators of their own: the first one stands for all.
  for (const serving::Replica* replica : parts.replicas)
    for (const std::string& warning : replica->step_model().range_warnings()) {
      const std::string about = warning.substr(0, warning.find(':'));
      if (std::ranges::none_of(result.warnings, [&](const std::string& known) { return known.starts_with(about); }))
        result.warnings.push_back(warning);
    }

  if (!parts.window.found(end) &&
      (config.window.rule == metrics::WindowRule::between || config.window.rule == metrics::WindowRule::full_batch))
    result.warnings.push_back("the run has no window as 'window' asks for: its figures are of the whole run");

  const std::vector<double> batches = seen.ttft_batches.p99();
  result.verdict = metrics::judge(question(parts, gateway, result, batches, end));
  return result;
}

}  // namespace llmscape::world
