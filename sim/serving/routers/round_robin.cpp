// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/routers/round_robin.hpp"

#include <algorithm>

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

 private:
  std::size_t next_ = 0;  // of all replicas: those that do not serve, or cannot hold the call, are passed over
};

}  // namespace

std::unique_ptr<Router> RoundRobin::make() const { return std::make_unique<RoundRobinRouter>(); }

const Fields<RoundRobin>& round_robin_fields() {
  static const Fields<RoundRobin> fields("round_robin", "replicas in turn");
  return fields;
}

}  // namespace llmscape::serving
