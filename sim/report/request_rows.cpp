// SPDX-License-Identifier: Apache-2.0
#include "sim/report/request_rows.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <string_view>

namespace llmscape::report {
namespace {

// What AIPerf would say of a call without an answer.
std::string_view error_of(serving::Outcome outcome) {
  static constexpr std::array<std::string_view, 5> kErrors = {
      "null", R"({"type":"cancelled"})", R"({"type":"timed_out"})", R"({"type":"dropped"})", R"({"type":"failed"})"};
  return kErrors[static_cast<std::size_t>(outcome)];
}

std::int64_t nanoseconds(Seconds time) { return std::llround(time.si() * 1e9); }

void add(std::string& metrics, std::string_view name, double value, std::string_view unit) {
  fmt::format_to(std::back_inserter(metrics), R"({}"{}":{{"value":{},"unit":"{}"}})", metrics.empty() ? "" : ",", name,
                 value, unit);
}

void add_time(std::string& metrics, std::string_view name, Seconds time) { add(metrics, name, time.si() * 1e3, "ms"); }

std::string metrics_of(const serving::Request& r, serving::Outcome outcome) {
  std::string metrics;
  if (r.schedule != serving::kNever) {
    add_time(metrics, "time_to_queue", r.enqueue - r.arrival);
    add_time(metrics, "queue_time", r.schedule - r.arrival);
  }
  if (r.first_token != serving::kNever) add_time(metrics, "time_to_first_token", r.first_token - r.arrival);
  if (outcome == serving::Outcome::completed) {
    add_time(metrics, "request_latency", r.last_token - r.arrival);
    if (r.output_tokens > 1)
      add_time(metrics, "inter_token_latency",
               (r.last_token - r.first_token) / static_cast<double>(r.output_tokens - 1));
  }
  add(metrics, "input_sequence_length", static_cast<double>(r.prompt_tokens), "tokens");
  add(metrics, "output_sequence_length", static_cast<double>(r.emitted), "tokens");
  add(metrics, "prefix_hit_tokens", static_cast<double>(r.reused), "tokens");
  add(metrics, "preemptions", r.preemptions, "count");
  return metrics;
}

}  // namespace

RequestRows::RequestRows(OutputFile& file, const run::Scenario& scenario)
    : file_(file), warmup_(scenario.config.workload.warmup) {
  for (const std::string& name : scenario.slo_classes) classes_.push_back(nlohmann::json(name).dump());
}

void RequestRows::on_request(const serving::Request& r, serving::Outcome outcome, Seconds at) {
  file_.write(
      fmt::format(R"({{"metadata":{{"request":{},"session":{},"slo_class":{},"priority":{},"replica":{},)"
                  R"("attempt":{},"reason":"{}","benchmark_phase":"{}",)"
                  R"("request_start_ns":{},"request_end_ns":{},"was_cancelled":{}}},"metrics":{{{}}},"error":{}}})"
                  "\n",
                  r.id, r.session, classes_[static_cast<std::size_t>(r.slo_class)], r.priority, r.replica, r.attempt,
                  serving::kReasonNames[static_cast<std::size_t>(r.reason)],
                  r.arrival < warmup_ ? "warmup" : "profiling", nanoseconds(r.arrival), nanoseconds(at),
                  outcome == serving::Outcome::cancelled, metrics_of(r, outcome), error_of(outcome)));
}

}  // namespace llmscape::report
