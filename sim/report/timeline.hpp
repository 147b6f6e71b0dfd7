// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string_view>

#include "base/files.hpp"
#include "sim/world/options.hpp"

namespace llmscape::report {

// timeline.json: a Chrome trace for ui.perfetto.dev. One track per replica for its steps, one per request with what it
// waited for, instants where a replica starts, drains or is lost, counters for queue, batch and KV blocks; power by
// group of devices. Long runs are thinned: see kWholeRequests and kWholeSteps.
class Timeline : public world::Watcher {
 public:
  // Of the requests, those with a smaller id are all there, then every kThinning-th; of a run's steps likewise.
  static constexpr std::uint64_t kWholeRequests = 10'000;
  static constexpr std::int64_t kWholeSteps = 50'000;
  static constexpr int kThinning = 100;

  explicit Timeline(AtomicFile& file);
  void on_request(const serving::Request& request, serving::Outcome outcome, Seconds at) override;
  void on_step(int replica, Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens,
               std::int64_t waiting, std::int64_t kv_blocks_used) override;
  void on_power(const std::string& group, const metrics::PowerSeries& power) override;
  void on_availability(int replica, serving::Availability availability, Seconds at) override;
  // Call once, at the end: before that the file is no JSON.
  void finish();

 private:
  void event(std::string_view json);
  void span(const serving::Request& request, std::string_view name, Seconds from, Seconds to);
  void counter(int process, std::string_view name, Seconds at, std::int64_t value);
  void name_process(int process);

  AtomicFile& file_;
  bool first_ = true;
  std::int64_t steps_ = 0;
  int named_ = -1;          // processes up to this one have their names
  int power_process_ = -1;  // behind those of the replicas; -1: not named yet
};

}  // namespace llmscape::report
