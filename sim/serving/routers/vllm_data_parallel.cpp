// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/routers/vllm_data_parallel.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace llmscape::serving {
namespace {

class VllmDataParallelRouter : public Router {
 public:
  explicit VllmDataParallelRouter(Seconds interval) : interval_(interval) {}

  std::size_t choose(const Request&, const std::vector<RoutingTarget*>& targets, Seconds now) override {
    if (now >= published_) publish(targets, now);
    std::size_t best = 0;
    for (std::size_t i = 1; i < targets.size(); ++i)
      if (score(*targets[i]) < score(*targets[best])) best = i;
    scores_[targets[best]->index] += kWaiting;
    return best;
  }

 private:
  static constexpr std::int64_t kWaiting = 4;

  // The counts are those at the first call after each multiple of the interval.
  void publish(const std::vector<RoutingTarget*>& targets, Seconds now) {
    for (const RoutingTarget* target : targets) {
      const std::int64_t running = std::min(target->replica->state().running.size(), target->outstanding_requests);
      scores_[target->index] = kWaiting * (target->outstanding_requests - running) + running;
    }
    published_ = (std::floor(now / interval_) + 1) * interval_;
  }
  [[nodiscard]] std::int64_t score(const RoutingTarget& target) const {
    const auto found = scores_.find(target.index);
    return found == scores_.end() ? 0 : found->second;
  }

  Seconds interval_;
  Seconds published_;  // next
  std::map<std::size_t, std::int64_t> scores_;
};

}  // namespace

std::unique_ptr<Router> VllmDataParallel::make() const { return std::make_unique<VllmDataParallelRouter>(interval); }

const Fields<VllmDataParallel>& vllm_data_parallel_fields() {
  static const auto fields = [] {
    Fields<VllmDataParallel> f("vllm_data_parallel", "least 4 x waiting + running, as vLLM balances its ranks");
    f.add("interval", &VllmDataParallel::interval, "between two publications of the counts").above(0);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
