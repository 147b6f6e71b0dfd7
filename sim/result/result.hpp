// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hardware/device.hpp"
#include "sim/metrics/verdict.hpp"
#include "sim/result/cost_result.hpp"
#include "sim/result/memory_result.hpp"
#include "sim/serving/gateway/counters.hpp"

namespace llmscape::result {

// The levels of a distribution's curve.
inline constexpr std::array kCurveLevels = {0.,   0.01, 0.05,  0.1,  0.15,  0.2,  0.25,  0.3,  0.35,
                                            0.4,  0.45, 0.5,   0.55, 0.6,   0.65, 0.7,   0.75, 0.8,
                                            0.85, 0.9,  0.925, 0.95, 0.975, 0.99, 0.999, 1.};

// The summary of one distribution, in seconds.
struct Percentiles {
  std::int64_t count = 0;
  double mean = 0, std = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
  bool exact = true;                                // else quantiles are within Values::kSketchError
  std::array<double, kCurveLevels.size()> curve{};  // quantiles at kCurveLevels; run.json does not have them
};

// What a run tells by the key of its metric (metric_table.hpp). What it does not have is not there.
template <class T>
class ByKey {
 public:
  void set(std::string_view key, const std::optional<T>& value) {
    if (value) all_.insert_or_assign(std::string(key), *value);
  }
  // nullptr if the run has none.
  const T* operator[](std::string_view key) const {
    const auto found = all_.find(key);
    return found == all_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const std::map<std::string, T, std::less<>>& all() const { return all_; }

 private:
  std::map<std::string, T, std::less<>> all_;
};
using Latencies = ByKey<Percentiles>;

struct Tokens {                  // INV-5: computed + reused = prompt + recomputed + invalidated + discarded
  std::int64_t prompt = 0;       // of completed requests
  std::int64_t computed = 0;     // in prefill
  std::int64_t reused = 0;       // found in the prefix cache
  std::int64_t fetched = 0;      // of them, those that a tier below HBM had kept
  std::int64_t recomputed = 0;   // of completed requests, after preemptions
  std::int64_t invalidated = 0;  // work on versions of prompts that a later one replaced
  std::int64_t discarded = 0;    // work on prompts of requests that did not complete
  std::int64_t emitted = 0;
};

struct Throughput {  // over a window; requests that straddle its edges count in part (docs/metrics.md)
  double requests_per_s = 0, output_tokens_per_s = 0, total_tokens_per_s = 0, output_tokens_per_s_per_device = 0;
  std::optional<double> output_tokens_per_s_per_user;  // 1 / mean TPOT, where an answer has two tokens
  std::optional<double> goodput_rps, slo_attainment;   // where the scenario states an SLO
  std::optional<double> offered_requests_per_s;  // calls that arrived in it; nothing in a closed loop and in a burst
  std::optional<double> lost_share, answered_share{};  // of calls that ended; of tokens emitted, for completed calls
};

// Requests of one class, where a mixture has several.
struct ClassResult {
  std::string name;                       // of the class; empty: of those without one
  std::int64_t ended = 0, completed = 0;  // measured ones: completed, dropped, timed out and failed; and completed
  Latencies latency;                      // of these
  Throughput throughput;                  // over the window
};

struct KvResult {
  std::int64_t blocks = 0;  // of all replicas
  double hit_rate = 0;      // reused / (reused + computed) prompt tokens
  std::int64_t preemptions = 0;
  double peak_use = 0;  // of the fullest replica, 0 to 1
};

// The memories of one tier below HBM, all together.
struct TierResult {
  std::string name;
  std::int64_t memories = 0;  // one for each who do not share it
  double capacity_bytes = 0, peak_bytes = 0;
  std::int64_t asked_tokens = 0;             // looked for in it, because HBM did not hold them
  std::int64_t fetched_tokens = 0;           // of them, fetched from it
  double hit_rate = 0;                       // fetched / asked
  double read_bytes = 0, written_bytes = 0;  // INV-16: written = held + evicted + lost with their replica
  double evicted_bytes = 0;                  // evicted; they went to the tier below, if there is one
  double rejected_bytes = 0;                 // not kept: all blocks were being written or read
  double read_use = 0, write_use = 0;        // of the time, mean of the memories, 0 to 1
};

// What the stores of one kind below the pools did, all replicas together: a section of its own.
struct StoreResult {
  struct Figure {
    std::string name;
    double value = 0;
    bool whole = false;  // a count
  };
  std::string section;  // "kv_host", "kv_swap"
  std::vector<Figure> figures;
  // Throws std::out_of_range for a name that it does not have.
  [[nodiscard]] double at(std::string_view name) const;
};

// Of the pools that speculate. Accepted drafts count when their request leaves.
struct SpeculationResult {
  std::int64_t passes = 0;           // decodes, over all steps
  double tokens_per_pass = 0;        // (1 - a^(k+1)) / (1 - a) in the mean, less what the ends of answers cut off
  std::optional<double> late_share;  // where users' devices draft: of their passes, those whose drafts were late
};

// Of low-rank adapters that calls carry, or weights of models that take turns.
struct LoadsResult {
  std::int64_t loads = 0;  // into the devices' memory
  double load_s = 0;       // that replicas waited for them, summed
};

// What the steps computed and moved, all devices together.
struct Work {
  double flops = 0, bytes = 0;
  double expert_bytes = 0;                   // of `bytes`: weights of routed experts
  double kv_bytes_per_token = 0;             // of the first pool's model, whole model, as its token plan stores it
  double activation_bytes = 0;               // peak of the largest step of the first pool, of one device
  std::optional<double> entries_per_decode;  // of a layer's KV cache, attended to by one: mean over decodes and layers
};

// Prefill token equivalents of tasks (arXiv 2604.05404): sum over their calls of D_prefill + gamma L D_decode.
struct PteResult {
  double gamma = 0;          // 2 n_layers d_model HOI / N_params
  double gamma_gqa = 0;      // the same with the KV entries that the model really has
  double mean = 0;           // of completed tasks, whole contexts counted in each call (the paper's)
  double mean_computed = 0;  // prompt tokens that were computed counted instead
  double mean_tokens = 0;    // prompt and answer tokens of a task, each counted once
};

using JoulesByComponent = std::vector<std::pair<std::string, double>>;

struct EnergyResult {                            // INV-6: the joules of all components of all groups are the total
  JoulesByComponent joules;                      // "static" included: what devices draw whether they work or not
  double total_joules = 0, drafting_joules = 0;  // of all, the latter of users' devices
  std::optional<double> joules_per_output_token, joules_per_answered_token;
  double mean_w = 0;
  double peak_w = 0, peak_window_s = 0;  // of the mean powers of windows of this length
  double idle_share = 0;                 // static joules / total
  std::optional<double> most_joules;  // of devices that draw their power limit all the time; nothing where one has none
  // What the joules include: of hardware::kEnergyBoundaryNames; where groups of devices differ, all of theirs, from the
  // narrowest to the widest: "chip+board".
  std::string boundary = "unstated";
  std::vector<std::pair<std::string, std::string>> boundary_by_group;  // where they differ
  double assumed_share = 0;  // of the joules, those that follow from an assumed figure of a device
  // The parts of that share: "work" (operations and traffic), "idle" power, "retrieval" hosts, users' "drafts".
  std::vector<std::pair<std::string, double>> assumed;
  std::optional<double> output_tokens_per_joule, joules_per_request;
  std::vector<std::pair<std::string, JoulesByComponent>> by_group;  // by the name of the group of devices
};

// What a group of devices and its parts did with their time.
struct GroupUse {
  std::string group;
  double busy = 0;  // share of the time that its devices were switched on in which they ran steps
  struct Part {
    std::string name;    // of hardware::kResourceNames
    double of_time = 0;  // of the time switched on in which the part worked at its peak
    double of_busy = 0;  // of the time of steps
  };
  std::vector<Part> parts;  // those that worked
};

// How often a device with measured steps (hardware/steps) priced by them.
struct StepTableUse {
  std::string table;       // which measured steps, in words
  std::int64_t steps = 0;  // of the devices that have it
  double inside = 0;       // share of them within its range; those at its edge by a part
};

// What the errors of the kernel models could make of a metric ("ttft_s.p99"): `low` to `high` with 90 % probability.
struct Interval {
  std::string metric;
  double low = 0, high = 0;
  std::optional<std::pair<double, double>> server;  // where a server of GPUs would show it with that probability
};
// From the least to the most of n runs lie (n - 1) / (n + 1) of those that might follow: 90 % with 19.
inline constexpr std::size_t kIntervalRuns = 19;
inline constexpr double kIntervalLevel = (kIntervalRuns - 1.) / (kIntervalRuns + 1.);
struct Intervals {
  std::vector<Interval> metrics;
};

// What the replicas of one pool did.
// The number formats that a group of devices served a model in.
struct PrecisionUsed {
  std::string model, group;
  std::string weights, attention, attention_output, experts, embeddings, activations, kv;
  std::string words;  // "weights fp8, activations fp8, KV bf16"
};

struct PoolResult {
  std::string name;
  std::string model;
  std::string role;  // any, prefill, decode
  std::int64_t replicas = 0;
  // Where data-parallel ranks step together: how many do, tokens computed by the busiest over their mean, and passes of
  // ranks that had nothing to compute (they count among `steps`).
  std::int64_t ranks = 1;
  double rank_balance = 1;
  std::int64_t dummy_steps = 0;
  std::int64_t steps = 0;
  std::int64_t prefill_tokens = 0, decode_tokens = 0;
  double busy = 0;         // of the time of the window that its replicas were switched on, 0 to 1
  std::int64_t loads = 0;  // of its model's weights, where several models take turns
  double loading_s = 0;
};

// One way of a link that transfers crossed.
struct LinkResult {
  std::string name;
  double bytes = 0;  // of transfers that arrived
  double use = 0;    // of what its bandwidth allows over the whole run, 0 to 1
};

// Servers that did searches: a station that takes a given time, or hosts that are priced.
struct RetrievalResult {
  std::string name;                   // "4 x xeon-8480-2s", "servers"
  std::int64_t queries = 0;           // asked
  std::optional<double> utilisation;  // of servers or cores over the whole run; of a station where nobody waits: none
  double mean_wait_s = 0;             // of a query, for a server or a core
  std::optional<double> joules;       // of hosts, idle power included
};

// What became of the replicas of one pool.
struct PoolLife {
  std::string name;
  double replica_s = 0;  // switched on: serving, loading or draining
  double available = 1;  // of the time in which its replicas were to serve, the share in which they did
  std::int64_t starts = 0, drains = 0, conversions = 0, losses = 0;
};

// Where replicas come and go.
struct FleetResult {
  std::vector<PoolLife> pools;
  std::int64_t retried = 0;      // times that calls were tried again because their replica was lost
  std::int64_t lost_tokens = 0;  // tokens that were answered by then, and are answered again
};

// Where a time went: `parts` sum to `whole_s` (INV-17).
struct TimeParts {
  std::int64_t count = 0;  // of what these are means of
  double whole_s = 0;
  std::vector<std::pair<std::string, double>> parts;  // seconds
};

// Where the steps of a group of devices went.
struct GroupSteps {
  std::string group;
  double seconds = 0;  // of steps, summed over the replicas; families sum to it
  double joules = 0;   // dynamic, of all devices; families sum to it
  struct Family {
    std::string name;  // of hardware::kOperatorFamilyNames
    double seconds = 0, joules = 0;
    std::vector<std::pair<std::string, double>> bound_by;  // seconds, by hardware::kBoundNames; sum to `seconds`
  };
  std::vector<Family> families;  // those that took any
};

struct Breakdown {
  // Means over measured completed requests (end to end) and tasks (start to end): serving::RequestPhase, TaskPhase.
  std::optional<TimeParts> requests, tasks;
  std::vector<GroupSteps> steps;  // by the name of the group
};

// The part of the run that throughput, energy, cost, utilisation and pools' busy shares are taken from.
struct WindowResult {
  std::string rule;  // metrics::WindowRule; "whole" also where the run has no window as it was asked for
  double from_s = 0, to_s = 0;
  [[nodiscard]] double length() const { return to_s - from_s; }
};

// The same figures of the whole run, warm-up and drain included.
struct Overall {
  double simulated_s = 0;
  Throughput throughput;
  EnergyResult energy;
  std::optional<CostResult> cost;
  std::vector<GroupUse> utilisation;
};

struct RunResult {
  std::int64_t seed = 0;
  metrics::Verdict verdict;
  serving::Counters requests, tasks;
  std::vector<std::pair<std::string, std::int64_t>> reasons;  // why requests were dropped or failed
  Tokens tokens;
  Latencies latency;
  std::optional<Percentiles> chunk_gaps;  // as a client sees the stream: tokens of one step come at once
  ByKey<double> numbers;                  // of metrics whose row has no function of the rest
  Work work;
  std::optional<MemoryResult> memory;  // of replicas that have their devices alone
  std::optional<PteResult> pte;
  Throughput throughput;
  std::vector<ClassResult> classes;  // in the order of their names, those without one first; none where all are alike
  KvResult kv;
  std::vector<TierResult> kv_tiers;    // below HBM; none: what leaves HBM is gone
  std::vector<StoreResult> kv_stores;  // other stores of KV entries, in the order of their keys
  std::optional<SpeculationResult> speculation;
  std::optional<LoadsResult> adapters, turns;
  std::optional<EnergyResult> energy;
  Breakdown breakdown;
  std::vector<PoolResult> pools;
  std::vector<GroupUse> utilisation;                  // of groups that ran a step
  std::optional<CostResult> cost;                     // where the scenario has prices
  std::optional<AreaResult> area;                     // where all devices state theirs
  std::optional<FleetResult> fleet;                   // where the scenario has controllers or faults
  std::vector<LinkResult> links;                      // those that carried something
  std::vector<RetrievalResult> retrieval;             // a station if it was asked something, and the hosts
  std::array<double, kTagNames.size()> provenance{};  // share of step time by Tag; all 0 when no step ran
  double extrapolated = 0;                // share of step time outside the range of its parameters, whatever their tag
  std::vector<StepTableUse> step_tables;  // of groups whose devices have one
  std::optional<Intervals> intervals;     // where they were asked for
  std::vector<std::pair<std::string, double>> time_share;  // of step time, by operator family
  std::vector<std::string> warnings;
  std::int64_t steps = 0, sequence_steps = 0;
  double simulated_s = 0;  // when the last event happened
  WindowResult window;
  double window_s = 0;  // its length
  Overall overall;
  // What the summary names.
  std::vector<PrecisionUsed> precision;  // of each model on each group that serves it
  std::string tokens_of;                 // text, random or skewed where a mixture of experts was served; else empty
  std::string model;
  std::string hardware;  // "4 x h100-sxm"
  std::string engine;    // "vllm 0.19"; of several pools each kind once
  std::string kernels;   // whose kernels devices run that know several: "h200: sglang"; else empty
  std::int64_t devices = 0;
  std::int64_t replicas = 0;
  std::string bottleneck;  // "decode attention (memory)": the family with the largest share, in words
  double mean_batch = 0;   // sequences a step
  // Throws std::out_of_range where the replicas have no such store.
  [[nodiscard]] const StoreResult& kv_store(std::string_view section) const;
};

}  // namespace llmscape::result
