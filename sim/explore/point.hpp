// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/result.hpp"
#include "sim/run/world.hpp"

namespace llmscape::explore {

// One scenario of many: the base with `overrides` laid over it.
struct Point {
  std::uint64_t index = 0;             // in the plan; numbers of excluded points are not given to others
  std::vector<std::string> values;     // one for each axis, as written: "8 /s"
  std::vector<std::string> overrides;  // "path=value", in the order in which they are laid
  std::int64_t repeat = 0;
  std::int64_t seed = 1;
};

// Time lines of a run for pictures: means over at most kMost windows of equal width, over all replicas or devices.
class Series : public run::Watcher {
 public:
  static constexpr std::size_t kMost = 96;

  void on_request(const serving::Request& request, serving::Outcome outcome, Seconds at) override;
  void on_step(int replica, Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens,
               std::int64_t waiting, std::int64_t kv_blocks_used) override;
  void on_power(const std::string& group, const metrics::PowerSeries& power) override;

  struct Lines {
    double window_s = 0;
    std::vector<double> waiting;    // requests in the queues of replicas
    std::vector<double> batch;      // sequences in the running steps, all replicas together
    std::vector<double> kv_blocks;  // in use, all replicas together
    std::vector<double> power_w;    // all devices
  };
  [[nodiscard]] Lines lines() const;

 private:
  // Of a quantity that is constant between `from` and `to`: its integral in windows.
  class Windows {
   public:
    void add(Seconds from, Seconds to, double value);
    [[nodiscard]] double width() const { return width_; }
    [[nodiscard]] std::vector<double> means(double width, std::size_t count, double end) const;

   private:
    double width_ = 1.0 / 1024;
    std::vector<double> integrals_;
  };
  struct Replica {
    Seconds since;
    std::int64_t waiting = 0, kv_blocks = 0;
  };
  Windows waiting_, batch_, kv_blocks_;
  std::vector<Replica> replicas_;
  metrics::PowerSeries power_;
  Seconds end_;
};

// What points/<id>.json holds (schema point/1, one line per member):
//   schema     "point/1"
//   point, id, repeat, seed     as in results.csv
//   values     {axis: value as written}, in the order of the plan
//   scenario   the base with the point's values laid over it, as YAML text: what 'run --from' repeats
//   result     run/1, as 'run --format json' prints it
//   curves     {"levels": [0, 0.01, ...], "ttft_s": [...], "tpot_s": [...], "itl_s": [...], "e2e_s": [...]}: quantiles
//   series     {"window_s": w, "waiting": [...], "batch": [...], "kv_blocks": [...], "power_w": [...]}
std::string point_json(const Point& point, const std::string& id, const std::vector<std::string>& axes,
                       const std::string& scenario, const run::RunResult& result, const Series::Lines& series);

}  // namespace llmscape::explore
