// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/routers/vllm_data_parallel.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/indexed_heap.hpp"

namespace llmscape::serving {
namespace {

class VllmDataParallelRouter : public Router {
 public:
  explicit VllmDataParallelRouter(Seconds interval) : interval_(interval) {}

  std::size_t choose(const Request&, const std::vector<RoutingTarget*>& targets, Seconds now) override {
    if (now >= published_) publish(all_.empty() ? targets : all_, now);
    const std::size_t best = least(targets);
    count(targets[best]->index, score(targets[best]->index) + kWaiting);
    return best;
  }
  void on_targets(const std::vector<RoutingTarget*>& targets) override {
    all_ = targets;
    by_score_.clear();
    for (const RoutingTarget* target : targets) by_score_.set(target->index, score(target->index));
  }

 private:
  static constexpr std::int64_t kWaiting = 4;

  // The counts are those at the first call after each multiple of the interval.
  void publish(const std::vector<RoutingTarget*>& targets, Seconds now) {
    for (const RoutingTarget* target : targets) {
      const std::int64_t running = std::min(target->replica->state().running.size(), target->outstanding_requests);
      count(target->index, kWaiting * (target->outstanding_requests - running) + running);
    }
    published_ = (std::floor(now / interval_) + 1) * interval_;
  }
  // The first of those with the least score: from the heap, where it was told of them.
  [[nodiscard]] std::size_t least(const std::vector<RoutingTarget*>& targets) const {
    const auto found = by_score_.size() == targets.size()
                           ? std::ranges::lower_bound(targets, by_score_.front(), {}, &RoutingTarget::index)
                           : std::ranges::min_element(targets, {}, [this](const auto* t) { return score(t->index); });
    return static_cast<std::size_t>(found - targets.begin());
  }
  [[nodiscard]] std::int64_t score(std::size_t replica) const {
    return replica < scores_.size() ? scores_[replica] : 0;
  }
  void count(std::size_t replica, std::int64_t score) {
    if (replica >= scores_.size()) scores_.resize(replica + 1);
    scores_[replica] = score;
    if (by_score_.contains(replica)) by_score_.set(replica, score);
  }

  Seconds interval_;
  Seconds published_;                   // next
  std::vector<RoutingTarget*> all_;     // that serve, whether they can hold a call or not
  std::vector<std::int64_t> scores_;    // of each replica
  IndexedHeap<std::int64_t> by_score_;  // of those that serve
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
