// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/routers/round_robin.hpp"

#include <algorithm>
#include <bit>

namespace llmscape::serving {

namespace {

class RoundRobinRouter : public Router {
 public:
  std::size_t choose(const Request&, const std::vector<RoutingTarget*>& targets, Seconds) override {
    auto next = std::ranges::lower_bound(targets, next_, {}, &RoutingTarget::index);
    if (next == targets.end()) next = targets.begin();
    next_ = (*next)->index + 1;
    return static_cast<std::size_t>(next - targets.begin());
  }
  void on_targets(const std::vector<RoutingTarget*>& targets) override {
    serving_.clear();
    for (const RoutingTarget* target : targets) serving_.push_back(target->index);
  }
  // By the turns before its own: none, one, below four, below eight, or more.
  [[nodiscard]] std::size_t standing(const RoutingTarget& target, std::int64_t) const override {
    const auto place = [this](std::size_t index) { return std::ranges::lower_bound(serving_, index); };
    const auto own = place(target.index), next = place(next_);
    if (own == serving_.end() || *own != target.index) return 0;
    // Behind the last the first is next.
    const std::ptrdiff_t turns = own - next + (own < next ? std::ssize(serving_) : 0);
    return std::min(static_cast<std::size_t>(std::bit_width(static_cast<std::size_t>(turns))), kStandings - 1);
  }

 private:
  std::vector<std::size_t> serving_;  // by index; empty where it is told of none
  std::size_t next_ = 0;  // of all replicas: those that do not serve, or cannot hold the call, are passed over
};

}  // namespace

std::unique_ptr<Router> RoundRobin::make() const { return std::make_unique<RoundRobinRouter>(); }

const Fields<RoundRobin>& round_robin_fields() {
  static const Fields<RoundRobin> fields("round_robin", "replicas in turn");
  return fields;
}

}  // namespace llmscape::serving
