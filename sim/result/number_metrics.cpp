// SPDX-License-Identifier: Apache-2.0
#include "sim/result/metric_table.hpp"

#include <array>

#include "sim/result/result.hpp"

namespace llmscape::metrics {
namespace {

using result::RunResult;
using Number = std::optional<double>;

Number count(std::int64_t number) { return static_cast<double>(number); }

// There are no rates without time.
Number rate(const RunResult& r, Number value) { return r.window_s > 0 ? value : std::nullopt; }

constexpr std::array kServing = {
    Metric{.key = "offered_requests_per_s",
           .section = "throughput",
           .unit = "1/s",
           .text = "calls that arrived in the window / its length; where they do not wait for answers",
           .value = [](const RunResult& r) { return rate(r, r.throughput.offered_requests_per_s); }},
    Metric{.key = "requests_per_s",
           .section = "throughput",
           .unit = "1/s",
           .text = "completed requests / length of the window, by the share of their decoding that lies inside",
           .better = Better::higher,
           .interval = true,
           .value = [](const RunResult& r) { return rate(r, r.throughput.requests_per_s); },
           .vllm = "request_throughput",
           .aiperf = "request_throughput"},
    Metric{.key = "output_tokens_per_s",
           .section = "throughput",
           .unit = "1/s",
           .text = "output tokens of these requests, by the same share / length of the window",
           .better = Better::higher,
           .interval = true,
           .value = [](const RunResult& r) { return rate(r, r.throughput.output_tokens_per_s); },
           .vllm = "output_throughput",
           .aiperf = "output_token_throughput"},
    Metric{.key = "total_tokens_per_s",
           .section = "throughput",
           .unit = "1/s",
           .text = "prompt and output tokens of these requests, by the same share / length of the window",
           .better = Better::higher,
           .value = [](const RunResult& r) { return rate(r, r.throughput.total_tokens_per_s); },
           .vllm = "total_token_throughput",
           .aiperf = "total_token_throughput"},
    Metric{.key = "output_tokens_per_s_per_device",
           .section = "throughput",
           .unit = "1/s",
           .text = "output tokens per second / devices of the whole system",
           .better = Better::higher,
           .value = [](const RunResult& r) { return rate(r, r.throughput.output_tokens_per_s_per_device); }},
    Metric{.key = "output_tokens_per_s_per_user",
           .section = "throughput",
           .unit = "1/s",
           .text = "1 / mean TPOT: how fast an answer appears to one who reads it",
           .better = Better::higher,
           // AIPerf's output_token_throughput_per_user is another: the mean over requests of 1 / ITL.
           .value = [](const RunResult& r) { return rate(r, r.throughput.output_tokens_per_s_per_user); }},
    Metric{.key = "goodput_rps",
           .section = "throughput",
           .unit = "1/s",
           .text = "completed requests that meet all limits of their SLO / length of the window",
           .better = Better::higher,
           .interval = true,
           .value = [](const RunResult& r) { return rate(r, r.throughput.goodput_rps); },
           .vllm = "request_goodput",
           .aiperf = "goodput"},
    Metric{.key = "slo_attainment",
           .section = "throughput",
           .unit = "share",
           .text = "requests that meet their SLO / requests that ended, those cancelled by their users aside; from the "
                   "warm-up on",
           .better = Better::higher,
           .interval = true,
           .value = [](const RunResult& r) { return rate(r, r.throughput.slo_attainment); }},
    Metric{.key = "completed",
           .section = "requests",
           .unit = "",
           .text = "requests that were completed",
           .value = [](const RunResult& r) { return count(r.requests.completed); }},
    Metric{.key = "lost_share",
           .section = "throughput",
           .unit = "share",
           .text =
               "requests that were dropped, timed out or failed / requests that ended, those cancelled by their users "
               "aside; from the warm-up on",
           .better = Better::lower,
           .value = [](const RunResult& r) { return rate(r, r.throughput.lost_share); }},
    Metric{.key = "answered_share",
           .section = "throughput",
           .unit = "share",
           .text = "tokens of completed requests / tokens emitted, both of the window: what is left is in no answer",
           .better = Better::higher,
           .value = [](const RunResult& r) { return rate(r, r.throughput.answered_share); }},
    Metric{.key = "hit_rate",
           .section = "kv",
           .unit = "share",
           .text = "prompt tokens found in the prefix cache / those found or computed",
           .better = Better::higher,
           .value = [](const RunResult& r) { return Number(r.kv.hit_rate); }},
    Metric{.key = "peak_use",
           .section = "kv",
           .unit = "share",
           .text = "most KV blocks in use at once / all blocks, of the fullest replica",
           .value = [](const RunResult& r) { return Number(r.kv.peak_use); }},
    Metric{.key = "preemptions",
           .section = "kv",
           .unit = "",
           .text = "requests put back into the queue because the KV blocks ran out",
           .better = Better::lower,
           .value = [](const RunResult& r) { return count(r.kv.preemptions); }},
    Metric{.key = "blocks",
           .section = "kv",
           .unit = "",
           .text = "KV blocks of all replicas",
           .value = [](const RunResult& r) { return count(r.kv.blocks); }},
    Metric{.key = "passes",
           .section = "speculation",
           .unit = "",
           .text = "passes of decoding sequences where drafts are made",
           .value = [](const RunResult& r) { return r.speculation ? count(r.speculation->passes) : std::nullopt; }},
    Metric{
        .key = "tokens_per_pass",
        .section = "speculation",
        .unit = "1/pass",
        .text = "tokens that these answered / passes; accepted drafts count when their request leaves",
        .better = Better::higher,
        .value =
            [](const RunResult& r) { return r.speculation ? Number(r.speculation->tokens_per_pass) : std::nullopt; }},
    Metric{.key = "late_share",
           .section = "speculation",
           .unit = "share",
           .text =
               "passes that went without the drafts of a user's device, which would have been late / passes that such "
               "drafts were meant for",
           .better = Better::lower,
           .value = [](const RunResult& r) { return r.speculation ? r.speculation->late_share : std::nullopt; }},
    Metric{.key = "loads",
           .section = "adapters",
           .unit = "",
           .text = "low-rank adapters loaded into devices' memory",
           .better = Better::lower,
           .value = [](const RunResult& r) { return r.adapters ? count(r.adapters->loads) : std::nullopt; }},
    Metric{.key = "load_s",
           .section = "adapters",
           .unit = "s",
           .text = "time that steps waited for adapters, summed over the replicas",
           .better = Better::lower,
           .value = [](const RunResult& r) { return r.adapters ? Number(r.adapters->load_s) : std::nullopt; }},
};

constexpr std::array kTotals = {
    Metric{.key = "prompt",
           .section = "tokens",
           .unit = "",
           .text = "prompt tokens of completed requests",
           .value = [](const RunResult& r) { return count(r.tokens.prompt); }},
    Metric{.key = "computed",
           .section = "tokens",
           .unit = "",
           .text = "tokens computed in prefill",
           .better = Better::lower,
           .value = [](const RunResult& r) { return count(r.tokens.computed); }},
    Metric{.key = "reused",
           .section = "tokens",
           .unit = "",
           .text = "tokens found in the prefix cache",
           .better = Better::higher,
           .value = [](const RunResult& r) { return count(r.tokens.reused); }},
    Metric{.key = "fetched",
           .section = "tokens",
           .unit = "",
           .text = "of the reused ones, those fetched from a tier below HBM",
           .better = Better::higher,
           .value = [](const RunResult& r) { return r.kv_tiers.empty() ? std::nullopt : count(r.tokens.fetched); }},
    Metric{.key = "recomputed",
           .section = "tokens",
           .unit = "",
           .text = "tokens computed or looked up again after a preemption",
           .better = Better::lower,
           .value = [](const RunResult& r) { return count(r.tokens.recomputed); }},
    Metric{.key = "invalidated",
           .section = "tokens",
           .unit = "",
           .text = "work on versions of prompts that a later version replaced",
           .better = Better::lower,
           .value =
               [](const RunResult& r) {
                 const bool versioned = r.latency["context_ttft_s"] != nullptr || r.tokens.invalidated > 0;
                 return versioned ? count(r.tokens.invalidated) : std::nullopt;
               }},
    Metric{.key = "discarded",
           .section = "tokens",
           .unit = "",
           .text = "work on prompts of requests that were not completed",
           .better = Better::lower,
           .value = [](const RunResult& r) { return count(r.tokens.discarded); }},
    Metric{.key = "emitted",
           .section = "tokens",
           .unit = "",
           .text = "output tokens, those of requests that were not completed included",
           .value = [](const RunResult& r) { return count(r.tokens.emitted); }},
    Metric{.key = "steps",
           .section = "",
           .unit = "",
           .text = "batched engine steps of all replicas",
           .value = [](const RunResult& r) { return count(r.steps); }},
    Metric{.key = "simulated_s",
           .section = "",
           .unit = "s",
           .text = "simulated time of the last event",
           .interval = true,
           .value = [](const RunResult& r) { return Number(r.simulated_s); }},
    Metric{.key = "window_s",
           .section = "",
           .unit = "s",
           .text = "length of the window: end of the warm-up until the load falls, or as the scenario says",
           .value = [](const RunResult& r) { return Number(r.window_s); }},
    Metric{.key = "sequence_steps",
           .section = "",
           .unit = "",
           .text = "sequences over all steps: decodes and prefill chunks",
           .value = [](const RunResult& r) { return count(r.sequence_steps); }},
};

}  // namespace

std::span<const Metric> numbers() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> made(kServing.begin(), kServing.end());
    for (const std::span<const Metric> more :
         {energy_numbers(), std::span<const Metric>(kTotals), memory_numbers(), turns_numbers()})
      made.insert(made.end(), more.begin(), more.end());
    return made;
  }();
  return all;
}

}  // namespace llmscape::metrics
