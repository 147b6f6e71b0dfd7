// SPDX-License-Identifier: Apache-2.0
#include "sim/report/vllm_json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <string_view>

#include "sim/result/metric_table.hpp"

namespace llmscape::report {
namespace {

using Json = nlohmann::ordered_json;

// vLLM's benchmark notes when each chunk of the stream comes, and a step of drafts sends its tokens in one.
constexpr std::string_view kOfChunks = "itl_ms";

void add_times(Json& json, const std::string& name, const result::Percentiles* p) {
  if (!p) return;
  json["mean_" + name] = p->mean * 1e3;
  json["median_" + name] = p->p50 * 1e3;
  json["std_" + name] = p->std * 1e3;
  json["p90_" + name] = p->p90 * 1e3;
  json["p95_" + name] = p->p95 * 1e3;
  json["p99_" + name] = p->p99 * 1e3;
}

}  // namespace

std::string to_vllm_json(const result::RunResult& r) {
  // vLLM's benchmark measures from its start to the last answer.
  const result::Throughput& whole = r.overall.throughput;
  const std::int64_t output = std::llround(whole.output_tokens_per_s * r.overall.simulated_s);
  const std::int64_t total = std::llround(whole.total_tokens_per_s * r.overall.simulated_s);
  Json json;
  json["backend"] = "llmscape";
  json["model_id"] = r.model;
  json["num_prompts"] = r.requests.injected;
  json["duration"] = r.overall.simulated_s;
  json["completed"] = r.requests.completed;
  json["failed"] = r.requests.dropped + r.requests.timed_out + r.requests.failed;
  json["total_input_tokens"] = total - output;
  json["total_output_tokens"] = output;
  json["request_throughput"] = whole.requests_per_s;
  if (whole.goodput_rps) json["request_goodput"] = *whole.goodput_rps;
  json["output_throughput"] = whole.output_tokens_per_s;
  json["total_token_throughput"] = whole.total_tokens_per_s;
  for (const metrics::Metric& metric : metrics::latencies())
    if (!metric.vllm.empty())
      add_times(json, std::string(metric.vllm),
                metric.vllm != kOfChunks ? r.latency[metric.key]
                : r.chunk_gaps           ? &*r.chunk_gaps
                                         : nullptr);
  return json.dump(2) + '\n';
}

}  // namespace llmscape::report
