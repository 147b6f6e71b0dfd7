// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

#include "sim/observe/observed.hpp"

// What series of /metrics are called (prometheus.cpp).
namespace llmscape::observe::series {

struct Name {
  std::string_view theirs, ours;
  double scale = 1;
};
inline constexpr std::array kGauges = {
    Name{"vllm:num_requests_running", quantity::kRunning}, Name{"vllm:num_requests_waiting", quantity::kWaiting},
    Name{"vllm:kv_cache_usage_perc", quantity::kKvUse},    Name{"vllm:gpu_cache_usage_perc", quantity::kKvUse},
    Name{"sglang:num_running_reqs", quantity::kRunning},   Name{"sglang:num_queue_reqs", quantity::kWaiting},
    Name{"sglang:token_usage", quantity::kKvUse},          Name{"sglang:gen_throughput", quantity::kOutputRate},
    Name{"DCGM_FI_DEV_POWER_USAGE", quantity::kPower},     Name{"DCGM_FI_DEV_SM_CLOCK", quantity::kClock}};
inline constexpr std::array kHistograms = {
    Name{"vllm:time_to_first_token_seconds", "ttft_s"},  Name{"vllm:inter_token_latency_seconds", "itl_s"},
    Name{"vllm:time_per_output_token_seconds", "itl_s"}, Name{"vllm:request_time_per_output_token_seconds", "tpot_s"},
    Name{"vllm:e2e_request_latency_seconds", "e2e_s"},   Name{"sglang:time_to_first_token_seconds", "ttft_s"},
    Name{"sglang:inter_token_latency_seconds", "itl_s"}, Name{"sglang:e2e_request_latency_seconds", "e2e_s"}};

// By the rates that they make.
inline constexpr const char *kOutputTokens = "output_tokens_per_s", *kPromptTokens = "prompt_tokens_per_s",
                            *kAllTokens = "total_tokens_per_s";
// Of the prefix cache, in tokens; SGLang counts what it asks as prompt tokens.
inline constexpr const char *kHits = "hits", *kQueries = "queries";
inline constexpr std::array kCounters = {Name{"vllm:generation_tokens_total", kOutputTokens},
                                         Name{"vllm:prompt_tokens_total", kPromptTokens},
                                         Name{"vllm:prefix_cache_hits_total", kHits},
                                         Name{"vllm:prefix_cache_queries_total", kQueries},
                                         Name{"vllm:gpu_prefix_cache_hits_total", kHits},
                                         Name{"vllm:gpu_prefix_cache_queries_total", kQueries},
                                         Name{"sglang:cached_tokens_total", kHits},
                                         Name{"vllm:request_success_total", "requests_per_s"},
                                         Name{"sglang:generation_tokens_total", kOutputTokens},
                                         Name{"sglang:prompt_tokens_total", kPromptTokens},
                                         Name{"sglang:num_requests_total", "requests_per_s"}};

inline const Name* find(const auto& names, std::string_view name) {
  for (const Name& each : names)
    if (each.theirs == name) return &each;
  return nullptr;
}

}  // namespace llmscape::observe::series
