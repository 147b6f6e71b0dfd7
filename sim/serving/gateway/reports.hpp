// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/serving/gateway/call_table.hpp"
#include "sim/serving/gateway/event_source.hpp"

namespace llmscape::serving {

// What a replica, or the fabric, has told of a call.
struct Report {
  enum class What : std::uint8_t { outcome, prompt_start, reserved, arrived, lost };
  What what;
  Seconds at;
  CallRef call;
  std::int32_t version;     // version_of() when it was told
  Outcome outcome{};        // of an outcome
  std::int64_t tokens = 0;  // to be moved, of a reservation
};

// What was told before the call was tried again, or before another replica was asked to decode it, is void.
inline std::int32_t version_of(Report::What what, const Request& request) {
  const bool of_decoder = what == Report::What::reserved || what == Report::What::arrived || what == Report::What::lost;
  return of_decoder ? request.asked : request.attempt;
}

// Reports that are not handled yet, by time, then by call.
class Reports final : public EventSource {
 public:
  using Handle = std::function<void(OpenCall& call, const Report& report)>;
  Reports(CallTable& calls, Handle handle) : calls_(calls), handle_(std::move(handle)) {}

  void add(const Report& report) {
    reports_.push_back(report);
    std::ranges::push_heap(reports_, later);
  }
  void add(Report::What what, const Request& request, Seconds at, Outcome outcome = {}, std::int64_t tokens = 0) {
    add({what, at, ref(request), version_of(what, request), outcome, tokens});
  }
  [[nodiscard]] bool empty() const { return reports_.empty(); }
  [[nodiscard]] Seconds next_event() override { return reports_.empty() ? kNever : reports_.front().at; }
  void run(Seconds) override {
    std::ranges::pop_heap(reports_, later);
    const Report report = reports_.back();
    reports_.pop_back();
    OpenCall* const call = calls_.find(report.call);
    if (call && report.version == version_of(report.what, call->request)) handle_(*call, report);
  }

 private:
  static bool later(const Report& a, const Report& b) {
    if (a.at != b.at) return a.at > b.at;
    return a.call.id != b.call.id ? a.call.id > b.call.id : a.what > b.what;
  }
  CallTable& calls_;
  Handle handle_;
  std::vector<Report> reports_;  // a heap, the first in front
};

}  // namespace llmscape::serving
