// SPDX-License-Identifier: Apache-2.0
#include "sim/report/request_rows.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <string_view>

namespace llmscape::report {
namespace {

// What AIPerf says of a call without an answer; the code would be HTTP's, which nobody spoke.
std::string error_of(serving::Outcome outcome, serving::Reason reason) {
  static constexpr std::array<std::string_view, 5> kTypes = {"", "cancelled", "timed_out", "dropped", "failed"};
  if (outcome == serving::Outcome::completed) return "null";
  const std::string_view message = outcome == serving::Outcome::cancelled ? "given up by its user"
                                   : outcome == serving::Outcome::timed_out
                                       ? "no answer within the timeout"
                                       : serving::kReasonNames[static_cast<std::size_t>(reason)];
  return fmt::format(R"({{"code":null,"type":"{}","message":"{}"}})", kTypes[static_cast<std::size_t>(outcome)],
                     message);
}

std::int64_t nanoseconds(Seconds time) { return std::llround(time.si() * 1e9); }

std::string nanoseconds_or_null(Seconds time, bool known) { return known ? fmt::to_string(nanoseconds(time)) : "null"; }

void add(std::string& metrics, std::string_view name, double value, std::string_view unit) {
  fmt::format_to(std::back_inserter(metrics), R"({}"{}":{{"value":{},"unit":"{}"}})", metrics.empty() ? "" : ",", name,
                 value, unit);
}

void add_time(std::string& metrics, std::string_view name, Seconds time) { add(metrics, name, time.si() * 1e3, "ms"); }

std::string metrics_of(const serving::Request& r, serving::Outcome outcome) {
  std::string metrics;
  if (r.enqueue != serving::kNever) add_time(metrics, "time_to_queue", r.enqueue - r.arrival);
  if (r.schedule != serving::kNever) add_time(metrics, "queue_time", r.schedule - r.arrival);
  if (r.seen.first != serving::kNever) add_time(metrics, "time_to_first_token", r.ttft());
  if (outcome == serving::Outcome::completed) {
    add_time(metrics, "request_latency", r.e2e());
    if (const auto tpot = r.tpot()) {
      add_time(metrics, "inter_token_latency", *tpot);
      if (*tpot > Seconds{}) add(metrics, "output_token_throughput_per_user", 1 / tpot->si(), "tokens/sec/user");
    }
  }
  add(metrics, "input_sequence_length", static_cast<double>(r.prompt_tokens), "tokens");
  add(metrics, "output_token_count", static_cast<double>(r.emitted), "tokens");
  add(metrics, "output_sequence_length", static_cast<double>(r.emitted), "tokens");
  add(metrics, "prefix_hit_tokens", static_cast<double>(r.reused), "tokens");
  add(metrics, "preemptions", r.preemptions, "count");
  return metrics;
}

}  // namespace

RequestRows::RequestRows(AtomicFile& file, const scenario::Scenario& scenario)
    : file_(file), warmup_(scenario.config.workload.warmup) {
  for (const std::string& name : scenario.slo_classes) classes_.push_back(nlohmann::json(name).dump());
}

void RequestRows::on_request(const serving::Request& r, serving::Outcome outcome, Seconds at) {
  const bool cancelled = outcome == serving::Outcome::cancelled;
  file_.append(fmt::format(
      R"({{"metadata":{{"session_num":{},"x_request_id":"{}","x_correlation_id":"{}","conversation_id":"{}",)"
      R"("request_start_ns":{},"request_ack_ns":{},"request_end_ns":{},"worker_id":"gateway",)"
      R"("record_processor_id":"gateway","benchmark_phase":"{}","was_cancelled":{},"cancellation_time_ns":{},)"
      R"("slo_class":{},"priority":{},"replica":{},"attempt":{}}},"metrics":{{{}}},"error":{}}})"
      "\n",
      r.id, r.id, r.session, r.session, nanoseconds(r.arrival),
      nanoseconds_or_null(r.enqueue, r.enqueue != serving::kNever), nanoseconds(at),
      r.arrival < warmup_ ? "warmup" : "profiling", cancelled, nanoseconds_or_null(at, cancelled),
      classes_[static_cast<std::size_t>(r.slo_class)], r.priority, r.replica, r.attempt, metrics_of(r, outcome),
      error_of(outcome, r.reason)));
}

}  // namespace llmscape::report
