// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/names.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <map>

namespace llmscape::metrics {
namespace {

constexpr std::array kMetrics = {
    Metric{"ttft_s", "latency", "s",
           "time to first token: first output token - arrival, queueing included; per request", Better::lower, true,
           "ttft_ms", "time_to_first_token"},
    Metric{"tpot_s", "latency", "s",
           "time per output token: (e2e - ttft) / (output tokens - 1); per request of at least 2 output tokens",
           Better::lower, true, "tpot_ms", "inter_token_latency"},
    Metric{"itl_s", "latency", "s",
           "gap between tokens: every gap, pooled over all tokens, of calls that were cut short too", Better::lower,
           true, "itl_ms", "inter_chunk_latency"},
    Metric{"e2e_s", "latency", "s", "end to end: last output token - arrival; per request", Better::lower, true,
           "e2el_ms", "request_latency"},
    Metric{"task_s", "latency", "s", "of a task, start to end: its calls, and what it does between them", Better::lower,
           true},
    Metric{"bubble_s", "latency", "s",
           "idle time of all pipeline stages before the steps of a request's stream, while it ran; per request",
           Better::lower, true},
    Metric{"context_ttft_s", "latency", "s",
           "first output token - completion of the context; per request whose prompt comes bit by bit", Better::lower,
           true},
    Metric{"front_end_s", "breakdown/requests", "s",
           "of e2e, mean: in the front end, read, tokenised or waiting for that", Better::lower},
    Metric{"held_s", "breakdown/requests", "s", "of e2e, mean: held in the gateway, for admission or for a replica",
           Better::lower},
    Metric{"lost_s", "breakdown/requests", "s", "of e2e, mean: in vain, at replicas that were lost", Better::lower},
    Metric{"queued_s", "breakdown/requests", "s",
           "of e2e, mean: waiting at a replica to be scheduled, before the first token", Better::lower},
    Metric{"fetching_s", "breakdown/requests", "s", "of e2e, mean: while KV entries came from a tier below HBM",
           Better::lower},
    Metric{"prefill_s", "breakdown/requests", "s", "of e2e, mean: from being scheduled to the first token",
           Better::lower},
    Metric{"transfer_s", "breakdown/requests", "s",
           "of e2e, mean: between the pools, from the first token until the other replica has room and the KV entries",
           Better::lower},
    Metric{"decode_s", "breakdown/requests", "s", "of e2e, mean: decoding, to the last token", Better::lower},
    Metric{"preempted_s", "breakdown/requests", "s",
           "of e2e, mean: after the first token, waiting to be scheduled again", Better::lower},
    Metric{"recompute_s", "breakdown/requests", "s", "of e2e, mean: from then on, until it decoded again",
           Better::lower},
    Metric{"offered_requests_per_s", "throughput", "1/s",
           "calls that arrived in the window / its length; where they do not wait for answers"},
    Metric{"requests_per_s", "throughput", "1/s",
           "completed requests / length of the window, by the share of their decoding that lies inside", Better::higher,
           false, "request_throughput", "request_throughput"},
    Metric{"output_tokens_per_s", "throughput", "1/s",
           "output tokens of these requests, by the same share / length of the window", Better::higher, false,
           "output_throughput", "output_token_throughput"},
    Metric{"total_tokens_per_s", "throughput", "1/s",
           "prompt and output tokens of these requests, by the same share / length of the window", Better::higher,
           false, "total_token_throughput", "total_token_throughput"},
    Metric{"output_tokens_per_s_per_device", "throughput", "1/s",
           "output tokens per second / devices of the whole system", Better::higher},
    Metric{"output_tokens_per_s_per_user", "throughput", "1/s",
           "1 / mean TPOT: how fast an answer appears to one who reads it", Better::higher, false, "",
           "output_token_throughput_per_user"},
    Metric{"goodput_rps", "throughput", "1/s",
           "completed requests that meet all limits of their SLO / length of the window", Better::higher, false,
           "request_goodput", "goodput"},
    Metric{
        "slo_attainment", "throughput", "share",
        "requests that meet their SLO / requests that ended, those cancelled by their users aside; from the warm-up on",
        Better::higher},
    Metric{"hit_rate", "kv", "share", "prompt tokens found in the prefix cache / those found or computed",
           Better::higher},
    Metric{"peak_use", "kv", "share", "most KV blocks in use at once / all blocks, of the fullest replica"},
    Metric{"preemptions", "kv", "", "requests put back into the queue because the KV blocks ran out", Better::lower},
    Metric{"blocks", "kv", "", "KV blocks of all replicas"},
    Metric{"passes", "speculation", "", "passes of decoding sequences where drafts are made"},
    Metric{"tokens_per_pass", "speculation", "",
           "tokens that these answered / passes; accepted drafts count when their request leaves", Better::higher},
    Metric{"late_share", "speculation", "share",
           "passes that went without the drafts of a user's device, which would have been late / passes that such "
           "drafts were meant for",
           Better::lower},
    Metric{"loads", "adapters", "", "low-rank adapters loaded into devices' memory", Better::lower},
    Metric{"load_s", "adapters", "s", "time that steps waited for adapters, summed over the replicas", Better::lower},
    Metric{"joules_per_output_token", "energy", "J",
           "joules of all devices, idle ones too / tokens emitted, both of the window", Better::lower},
    Metric{"output_tokens_per_joule", "energy", "1/J",
           "tokens emitted / joules of all devices, idle ones too, both of the window", Better::higher},
    Metric{"joules_per_request", "energy", "J", "joules of all devices / completed requests, both of the window",
           Better::lower},
    Metric{"total_joules", "energy", "J", "joules of all devices in the window", Better::lower},
    Metric{"mean_w", "energy", "W", "joules of all devices in the window / its length", Better::lower},
    Metric{"peak_w", "energy", "W",
           "mean power of all devices in the slice of peak_window_s with the most, of those that begin in the window",
           Better::lower},
    Metric{"peak_window_s", "energy", "s",
           "slices that peak_w is taken from: 1/1024 s, doubled until 4,096 of them cover the run"},
    Metric{"idle_share", "energy", "share",
           "static joules / all joules: what devices draw whether they work or not, for as long as they are on",
           Better::lower},
    Metric{"assumed_share", "energy", "share",
           "joules that follow from an assumed figure of a device (no measurement of it) / all joules", Better::lower},
    Metric{"total_cost", "cost", "currency",
           "rent of devices while they are on + capital written off + electricity, as far as priced, of the window",
           Better::lower},
    Metric{"cost_per_million_output_tokens", "cost", "currency",
           "total_cost / tokens emitted in the window x 1,000,000", Better::lower},
    Metric{"capital", "cost", "currency", "price of all devices, of groups with a price", Better::lower},
    Metric{"co2_g", "cost", "g", "joules of the window x PUE x carbon of the electricity", Better::lower},
    Metric{"co2_g_per_million_output_tokens", "cost", "g", "co2_g / tokens emitted in the window x 1,000,000",
           Better::lower},
    Metric{"die_area_mm2", "area", "mm2", "die area of all devices, where each states its own"},
    Metric{"output_tokens_per_s_per_mm2", "area", "1/s/mm2", "output tokens per second / die area of all devices",
           Better::higher},
    Metric{"prompt", "tokens", "", "prompt tokens of completed requests"},
    Metric{"computed", "tokens", "", "tokens computed in prefill", Better::lower},
    Metric{"reused", "tokens", "", "tokens found in the prefix cache", Better::higher},
    Metric{"fetched", "tokens", "", "of the reused ones, those fetched from a tier below HBM", Better::higher},
    Metric{"recomputed", "tokens", "", "tokens computed or looked up again after a preemption", Better::lower},
    Metric{"invalidated", "tokens", "", "work on versions of prompts that a later version replaced", Better::lower},
    Metric{"discarded", "tokens", "", "work on prompts of requests that were not completed", Better::lower},
    Metric{"emitted", "tokens", "", "output tokens, those of requests that were not completed included"},
    Metric{"steps", "", "", "batched engine steps of all replicas"},
    Metric{"sequence_steps", "", "", "sequences over all steps: decodes and prefill chunks"},
    Metric{"window_s", "", "s",
           "length of the window: end of the warm-up until the load falls, or as the scenario says"},
    Metric{"simulated_s", "", "s", "simulated time of the last event"},
};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const std::vector<Column>& columns() {
  static const std::vector<Column> all = [] {
    std::vector<Column> made;
    for (const Metric& metric : kMetrics) {
      const std::string key(metric.key);
      const std::string pointer = (metric.section.empty() ? "" : "/" + std::string(metric.section)) + "/" + key;
      if (!metric.distribution) {
        made.push_back({key, &metric, "", pointer});
        continue;
      }
      for (const std::string statistic : {"mean", "std", "p50", "p90", "p95", "p99", "max"})
        made.push_back({key + '.' + statistic, &metric, statistic, pointer + '/' + statistic});
    }
    return made;
  }();
  return all;
}

std::string short_name(const Column& column) {
  std::string text = column.name;
  constexpr std::string_view kUnit = "_s";
  if (column.metric->unit == "s") text.erase(column.metric->key.size() - kUnit.size(), kUnit.size());
  return text;
}

const Column* find_column(std::string_view name) {
  static const std::map<std::string, const Column*, std::less<>> by_name = [] {
    std::map<std::string, const Column*, std::less<>> made;
    for (const Column& column : columns()) {
      made.emplace(column.name, &column);
      made.emplace(short_name(column), &column);
    }
    return made;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::vector<const Column*> find_columns(std::string_view name) {
  if (const Column* column = find_column(name)) return {column};
  std::vector<const Column*> all;
  for (const Column& column : columns())
    if (!column.statistic.empty() &&
        (name == column.metric->key || fmt::format("{}.{}", name, column.statistic) == short_name(column)))
      all.push_back(&column);
  return all;
}

}  // namespace llmscape::metrics
