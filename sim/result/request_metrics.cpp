// SPDX-License-Identifier: Apache-2.0
#include "sim/result/metric_table.hpp"

#include <array>

#include "sim/serving/request.hpp"

namespace llmscape::metrics {
namespace {

using result::RunResult;
using serving::Request;
using Time = std::optional<Seconds>;

// Of Breakdown::requests.
std::optional<double> phase(const RunResult& r, std::string_view name) {
  if (!r.breakdown.requests) return std::nullopt;
  for (const auto& [phase, seconds] : r.breakdown.requests->parts)
    if (phase == name) return seconds;
  return std::nullopt;
}

// Fitted end to end to the 168 open rows of aiconfigurator @ 095f58a (43 closed loops of 4 to 64 users on H100 and H200
// by vLLM, TensorRT-LLM and SGLang) so that 90 % of rows are held by what the other deployments give
// (tests/golden/accuracy_test.cpp). No prediction is moved by them.
constexpr ServerSpread kServerTtft{0.86, 2.39}, kServerTpot{0.91, 1.20};

constexpr std::array kLatencies = {
    Metric{.key = "ttft_s",
           .section = "latency",
           .label = "TTFT",
           .unit = "s",
           .text = "time to first token: first output token - arrival, queueing included; per request",
           .better = Better::lower,
           .interval = true,
           .server = &kServerTtft,
           .distribution = true,
           .of_request = [](const Request& r) { return Time(r.ttft()); },
           .vllm = "ttft_ms",
           .aiperf = "time_to_first_token"},
    Metric{.key = "context_ttft_s",
           .section = "latency",
           .label = "of context",
           .unit = "s",
           .text = "first output token - completion of the context; per request with a versioned prompt",
           .better = Better::lower,
           .interval = true,
           .distribution = true,
           .of_request =
               [](const Request& r) { return r.versioned ? Time(r.seen.first - r.context_complete) : std::nullopt; }},
    Metric{.key = "tpot_s",
           .section = "latency",
           .label = "TPOT",
           .unit = "s",
           .text = "time per output token: (e2e - ttft) / (output tokens - 1); per request of at least 2 output tokens",
           .better = Better::lower,
           .interval = true,
           .server = &kServerTpot,
           .distribution = true,
           .of_request = [](const Request& r) { return r.tpot(); },
           .vllm = "tpot_ms",
           .aiperf = "inter_token_latency"},
    Metric{.key = "itl_s",
           .section = "latency",
           .label = "ITL",
           .unit = "s",
           .text = "gap between tokens: every gap, pooled over all tokens, of calls that were cut short too",
           .better = Better::lower,
           .interval = true,
           .distribution = true,
           .vllm = "itl_ms",
           .aiperf = "inter_chunk_latency"},
    Metric{.key = "e2e_s",
           .section = "latency",
           .label = "E2E",
           .unit = "s",
           .text = "end to end: last output token - arrival; per request",
           .better = Better::lower,
           .interval = true,
           .distribution = true,
           .of_request = [](const Request& r) { return Time(r.e2e()); },
           .vllm = "e2el_ms",
           .aiperf = "request_latency"},
    Metric{.key = "task_s",
           .section = "latency",
           .unit = "s",
           .text = "of a task, start to end: its calls, and what it does between them",
           .better = Better::lower,
           .distribution = true},
    Metric{.key = "bubble_s",
           .section = "latency",
           .unit = "s",
           .text = "idle time of all pipeline stages before the steps of a request's stream, while it ran; per request",
           .better = Better::lower,
           .distribution = true,
           .of_request = [](const Request& r) { return Time(r.bubble); },
           .applies = [](const Serving& s) { return s.stages_shared; }},
};

constexpr std::array kPhases = {
    Metric{.key = "front_end_s",
           .section = "breakdown/requests",
           .unit = "s",
           .text = "of e2e, mean: in the front end, read, tokenised or waiting for that",
           .better = Better::lower,
           .value = [](const RunResult& r) { return phase(r, "front_end"); }},
    Metric{.key = "held_s",
           .section = "breakdown/requests",
           .unit = "s",
           .text = "of e2e, mean: held in the gateway, for admission or for a replica",
           .better = Better::lower,
           .value = [](const RunResult& r) { return phase(r, "held"); }},
    Metric{.key = "lost_s",
           .section = "breakdown/requests",
           .unit = "s",
           .text = "of e2e, mean: in vain, at replicas that were lost",
           .better = Better::lower,
           .value = [](const RunResult& r) { return phase(r, "lost"); }},
    Metric{.key = "queued_s",
           .section = "breakdown/requests",
           .unit = "s",
           .text = "of e2e, mean: waiting at a replica to be scheduled, before the first token",
           .better = Better::lower,
           .value = [](const RunResult& r) { return phase(r, "queued"); }},
    Metric{.key = "fetching_s",
           .section = "breakdown/requests",
           .unit = "s",
           .text = "of e2e, mean: while KV entries came from a tier below HBM",
           .better = Better::lower,
           .value = [](const RunResult& r) { return phase(r, "fetching"); }},
    Metric{.key = "prefill_s",
           .section = "breakdown/requests",
           .unit = "s",
           .text = "of e2e, mean: from being scheduled to the first token",
           .better = Better::lower,
           .value = [](const RunResult& r) { return phase(r, "prefill"); }},
    Metric{.key = "moving_s",
           .section = "breakdown/requests",
           .unit = "s",
           .text = "of e2e, mean: as transfer_s, before the first token, where the decoder answers it",
           .better = Better::lower,
           .value = [](const RunResult& r) { return phase(r, "moving"); }},
    Metric{
        .key = "transfer_s",
        .section = "breakdown/requests",
        .unit = "s",
        .text =
            "of e2e, mean: between the pools, from the first token until the decoder has blocks for it and the entries",
        .better = Better::lower,
        .value = [](const RunResult& r) { return phase(r, "transfer"); }},
    Metric{.key = "decode_s",
           .section = "breakdown/requests",
           .unit = "s",
           .text = "of e2e, mean: decoding, to the last token",
           .better = Better::lower,
           .value = [](const RunResult& r) { return phase(r, "decode"); }},
    Metric{.key = "preempted_s",
           .section = "breakdown/requests",
           .unit = "s",
           .text = "of e2e, mean: after the first token, waiting to be scheduled again",
           .better = Better::lower,
           .value = [](const RunResult& r) { return phase(r, "preempted"); }},
    Metric{.key = "recompute_s",
           .section = "breakdown/requests",
           .unit = "s",
           .text = "of e2e, mean: from then on, until it decoded again",
           .better = Better::lower,
           .value = [](const RunResult& r) { return phase(r, "recompute"); }},
};

}  // namespace

std::span<const Metric> latencies() { return kLatencies; }
std::span<const Metric> phases() { return kPhases; }

}  // namespace llmscape::metrics
