// SPDX-License-Identifier: Apache-2.0
#include "sim/report/timeline.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace llmscape::report {
namespace {

// In microseconds, cut to whole nanoseconds first: so steps that touch do not overlap by a rounding.
std::int64_t whole_ns(Seconds time) { return std::llround(time.si() * 1e9); }
std::string microseconds(std::int64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }
std::string microseconds(Seconds time) { return microseconds(whole_ns(time)); }

// Requests have process 0 to themselves, replicas the next ones.
int process_of(int replica) { return replica + 1; }

}  // namespace

Timeline::Timeline(AtomicFile& file) : file_(file) {
  file_.append(R"({"displayTimeUnit":"ms","traceEvents":[)");
  name_process(0);
}

void Timeline::event(std::string_view json) {
  file_.append(first_ ? "\n" : ",\n");
  file_.append(json);
  first_ = false;
}

void Timeline::name_process(int process) {
  for (; named_ < process; ++named_)
    event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", named_ + 1,
                      named_ < 0 ? "requests" : fmt::format("replica {}", named_)));
}

void Timeline::span(const serving::Request& request, std::string_view name, Seconds from, Seconds to) {
  for (const auto& [phase, at] : {std::pair('b', from), std::pair('e', to)})
    event(fmt::format(R"({{"ph":"{}","cat":"request","id":{},"name":"{}","pid":0,"ts":{}}})", phase, request.id, name,
                      microseconds(at)));
}

void Timeline::on_request(const serving::Request& request, serving::Outcome, Seconds at) {
  if (request.id >= kWholeRequests && request.id % kThinning != 0) return;
  const Seconds scheduled = std::min(request.schedule, at), first = std::min(request.first_token, at);
  span(request, fmt::format("request {}", request.id), request.arrival, at);
  span(request, "queue", request.arrival, scheduled);
  if (request.schedule < at) span(request, "prefill", scheduled, first);
  if (request.first_token < at) span(request, "decode", first, at);
}

void Timeline::on_availability(int replica, serving::Availability availability, Seconds at) {
  const int process = process_of(replica);
  name_process(process);
  event(fmt::format(R"({{"ph":"i","s":"p","name":"{}","pid":{},"tid":0,"ts":{}}})",
                    serving::kAvailabilityNames[static_cast<std::size_t>(availability)], process, microseconds(at)));
}

void Timeline::counter(int process, std::string_view name, Seconds at, std::int64_t value) {
  event(fmt::format(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{"{}":{}}}}})", name, process, microseconds(at),
                    name, value));
}

void Timeline::on_step(int replica, Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens,
                       std::int64_t waiting, std::int64_t kv_blocks_used) {
  ++steps_;
  if (steps_ > kWholeSteps && steps_ % kThinning != 0) return;
  const int process = process_of(replica);
  name_process(process);
  const char* kind = prefill_tokens == 0 ? "decode" : decodes == 0 ? "prefill" : "prefill and decode";
  event(fmt::format(R"({{"ph":"X","name":"{}","pid":{},"tid":0,"ts":{},"dur":{},)"
                    R"("args":{{"decodes":{},"prefill_tokens":{}}}}})",
                    kind, process, microseconds(start), microseconds(whole_ns(end) - whole_ns(start)), decodes,
                    prefill_tokens));
  counter(process, "queue", start, waiting);
  counter(process, "batch", start, decodes);
  counter(process, "KV blocks", start, kv_blocks_used);
}

void Timeline::on_power(const std::string& group, const metrics::PowerSeries& power) {
  if (power_process_ < 0) {
    power_process_ = named_ + 1;
    event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"power"}}}})", power_process_));
  }
  const std::string name = nlohmann::json(group).dump();
  const std::size_t windows = power.windows().size();
  for (std::size_t i = 0; i < windows; ++i)
    event(fmt::format(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{"W":{}}}}})", name, power_process_,
                      microseconds(power.window() * static_cast<double>(i)), power.power(i).si()));
}

void Timeline::finish() { file_.append("\n]}\n"); }

}  // namespace llmscape::report
