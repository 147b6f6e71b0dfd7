// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/world/options.hpp"

namespace llmscape::explore {

// Means over windows of equal width, over all replicas or devices; the last one ends where the run does.
struct TimeLines {
  double window_s = 0;
  std::vector<double> waiting;     // requests in the queues of replicas that run a step
  std::vector<double> batch;       // decoding sequences in steps
  std::vector<double> kv_blocks;   // in use by replicas that run a step
  std::vector<double> power_w;     // of all devices
  std::int64_t largest_batch = 0;  // decoding sequences in one step of one replica
};

// Time lines of a run for pictures: at most kMost windows, as wide as it takes.
class Series : public world::Watcher {
 public:
  static constexpr std::size_t kMost = 96;
  static constexpr double kNarrowest = 1.0 / 1024;  // s; widths are powers of two, so that windows join exactly

  void on_request(const serving::Request&, serving::Outcome, Seconds) override {}
  void on_step(int replica, Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens,
               std::int64_t waiting, std::int64_t kv_blocks_used) override;
  void on_power(const std::string&, const metrics::PowerSeries& power) override { power_.add(power); }

  [[nodiscard]] TimeLines lines() const;

 private:
  // Integrals over a window.
  struct Window {
    double waiting = 0, batch = 0, kv_blocks = 0;
    void add(const Window& value, double seconds) {
      waiting += value.waiting * seconds;
      batch += value.batch * seconds;
      kv_blocks += value.kv_blocks * seconds;
    }
  };
  // Pairs of neighbours are joined, as there are too many.
  void widen();

  double width_ = kNarrowest, per_window_ = 1 / kNarrowest;  // and its inverse, exact
  std::vector<Window> windows_;
  metrics::PowerSeries power_;
  double end_ = 0;  // s, of the last step
  std::int64_t largest_batch_ = 0;
};

}  // namespace llmscape::explore
