// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/routers/least_tokens.hpp"

#include <algorithm>
#include <bit>

#include "base/indexed_heap.hpp"

namespace llmscape::serving {

namespace {

// Keeps the replicas by what is outstanding at them, where it is told of them.
class LeastTokensRouter : public Router {
 public:
  std::size_t choose(const Request&, const std::vector<RoutingTarget*>& targets, Seconds) override {
    if (by_tokens_.size() != targets.size()) {
      const auto least = std::ranges::min_element(targets, {}, &RoutingTarget::outstanding_tokens);
      return static_cast<std::size_t>(least - targets.begin());
    }
    const auto least = std::ranges::lower_bound(targets, by_tokens_.front(), {}, &RoutingTarget::index);
    return static_cast<std::size_t>(least - targets.begin());
  }
  void on_targets(const std::vector<RoutingTarget*>& targets) override {
    by_tokens_.clear();
    for (const RoutingTarget* target : targets) by_tokens_.set(target->index, target->outstanding_tokens);
  }
  void on_charge(const RoutingTarget& target) override {
    if (by_tokens_.contains(target.index)) by_tokens_.set(target.index, target.outstanding_tokens);
  }
  // By how far it is behind the first, in its mean calls: by less than a quarter, a half, one, or by more. In calls, so
  // that small fleets and large ones, of short calls and long ones, learn much the same.
  [[nodiscard]] std::size_t standing(const RoutingTarget& target, std::int64_t left) const override {
    if (by_tokens_.size() < 2 || !by_tokens_.contains(target.index)) return 0;
    const std::int64_t behind = target.outstanding_tokens - left - by_tokens_.front_key();
    if (behind <= 0) return 0;
    const std::int64_t quarters = 4 * behind * target.outstanding_requests / target.outstanding_tokens;
    return std::min(1 + static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(quarters))), kStandings - 1);
  }

 private:
  IndexedHeap<std::int64_t> by_tokens_;
};

}  // namespace

std::unique_ptr<Router> LeastTokens::make() const { return std::make_unique<LeastTokensRouter>(); }

const Fields<LeastTokens>& least_tokens_fields() {
  static const Fields<LeastTokens> fields("least_tokens", "the replica with the fewest outstanding tokens");
  return fields;
}

}  // namespace llmscape::serving
