// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/routers/least_tokens.hpp"

#include <algorithm>

namespace llmscape::serving {

namespace {

class LeastTokensRouter : public Router {
 public:
  std::size_t choose(const Request&, const std::vector<RoutingTarget*>& targets, Seconds) override {
    const auto least = std::min_element(
        targets.begin(), targets.end(),
        [](const RoutingTarget* a, const RoutingTarget* b) { return a->outstanding_tokens < b->outstanding_tokens; });
    return static_cast<std::size_t>(least - targets.begin());
  }
};

}  // namespace

std::unique_ptr<Router> LeastTokens::make() const { return std::make_unique<LeastTokensRouter>(); }

const Fields<LeastTokens>& least_tokens_fields() {
  static const Fields<LeastTokens> fields("least_tokens", "the replica with the fewest outstanding tokens");
  return fields;
}

}  // namespace llmscape::serving
