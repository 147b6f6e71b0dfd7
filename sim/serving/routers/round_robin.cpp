// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/routers/round_robin.hpp"

namespace llmscape::serving {

namespace {

class RoundRobinRouter : public Router {
 public:
  std::size_t choose(const Request&, const std::vector<RoutingTarget*>& targets, Seconds) override {
    return next_++ % targets.size();
  }

 private:
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Router> RoundRobin::make() const { return std::make_unique<RoundRobinRouter>(); }

const Fields<RoundRobin>& round_robin_fields() {
  static const Fields<RoundRobin> fields("round_robin", "replicas in turn");
  return fields;
}

}  // namespace llmscape::serving
