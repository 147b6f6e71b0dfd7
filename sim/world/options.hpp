// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/engine/time_factors.hpp"
#include "sim/metrics/power_series.hpp"
#include "sim/serving/gateway/gateway.hpp"

namespace llmscape::world {

// Looks on while a scenario runs: rows of requests, time lines.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_request(const serving::Request& request, serving::Outcome outcome, Seconds at) = 0;
  // A replica serves, loads, drains or is off from `at` on.
  virtual void on_availability(int /*replica*/, serving::Availability /*availability*/, Seconds /*at*/) {}
  virtual void on_step(int replica, Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens,
                       std::int64_t waiting, std::int64_t kv_blocks_used) = 0;
  // Whether on_step() has to be called.
  [[nodiscard]] virtual bool hears_steps() const { return true; }
  // Once for each group of devices, at the end.
  virtual void on_power(const std::string& /*group*/, const metrics::PowerSeries& /*power*/) {}
};

enum class KernelKind { simgrid, event_queue };

class PriceMemory;

// How a scenario is run; nothing but `time_ranks` changes the result.
struct Options {
  KernelKind kernel = KernelKind::simgrid;  // SimGrid: one run in the life of a process
  std::int64_t lookahead = 64;              // decode steps priced ahead of the clock; 0: an event for each
  Watcher* watcher = nullptr;
  PriceMemory* prices = nullptr;               // of runs before; absent: each run makes its own
  std::function<void(double share)> progress;  // of the requests, where their number is known
  std::vector<engine::TimeRanks> time_ranks;   // of draws of kernel times, one for each group of devices; empty: none
};

}  // namespace llmscape::world
