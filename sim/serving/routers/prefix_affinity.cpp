// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/routers/prefix_affinity.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/indexed_heap.hpp"

namespace llmscape::serving {

namespace {

// Asks the replicas that know the first block of the prompt, and those with tiers; of the rest the one with the least
// load is best.
class PrefixAffinityRouter : public Router {
 public:
  explicit PrefixAffinityRouter(double load_weight) : load_weight_(load_weight) {}

  std::size_t choose(const Request& request, const std::vector<RoutingTarget*>& targets, Seconds now) override {
    if (by_tokens_.size() != targets.size() || !tells_apart(request)) {
      Best best;
      for (std::size_t i = 0; i < targets.size(); ++i) ask(request, targets, i, now, best);
      return best.place;
    }
    Best best;
    const std::size_t rest =
        load_weight_ == 0 ? 0 : *place_of(by_tokens_.front(), targets);  // the first of the least loaded
    best = {rest, work(request, *targets[rest], 0)};
    const auto ask_known = [&](const std::vector<std::size_t>& replicas) {
      for (const std::size_t replica : replicas)
        if (const auto place = place_of(replica, targets)) ask(request, targets, *place, now, best);
    };
    for (const int block_tokens : block_tokens_) {
      const auto known = knowing_.find(PrefixTree::first_block_of(request.prompt, block_tokens));
      if (known != knowing_.end()) ask_known(known->second);
    }
    ask_known(with_tiers_);
    return best.place;
  }

  void on_targets(const std::vector<RoutingTarget*>& targets) override {
    by_tokens_.clear();
    for (const RoutingTarget* target : targets) {
      by_tokens_.set(target->index, target->outstanding_tokens);
      follow(*target);
    }
  }
  void on_charge(const RoutingTarget& target) override {
    if (by_tokens_.contains(target.index)) by_tokens_.set(target.index, target.outstanding_tokens);
  }

 private:
  struct Best {
    std::size_t place = 0;
    double work = std::numeric_limits<double>::infinity();
  };

  [[nodiscard]] double work(const Request& request, std::int64_t outstanding, std::int64_t cached) const {
    return static_cast<double>(request.prompt_tokens - cached) + load_weight_ * static_cast<double>(outstanding);
  }
  [[nodiscard]] double work(const Request& request, const RoutingTarget& target, std::int64_t cached) const {
    return work(request, target.outstanding_tokens, cached);
  }
  // A token more is more work, and not the same when rounded: then the place would decide between such replicas.
  [[nodiscard]] bool tells_apart(const Request& request) const {
    return load_weight_ == 0 || work(request, by_tokens_.front_key(), 0) < work(request, by_tokens_.front_key() + 1, 0);
  }
  void ask(const Request& request, const std::vector<RoutingTarget*>& targets, std::size_t place, Seconds now,
           Best& best) const {
    const RoutingTarget& target = *targets[place];
    const double here =
        work(request, target, target.replica->cached_tokens(request.prompt, request.prompt_tokens, now));
    if (here < best.work || (here == best.work && place < best.place)) best = {place, here};
  }
  static std::optional<std::size_t> place_of(std::size_t replica, const std::vector<RoutingTarget*>& targets) {
    const auto found = std::ranges::lower_bound(targets, replica, {}, &RoutingTarget::index);
    if (found == targets.end() || (*found)->index != replica) return std::nullopt;
    return static_cast<std::size_t>(found - targets.begin());
  }
  void follow(const RoutingTarget& target) {
    if (target.index < followed_.size() && followed_[target.index]) return;
    if (target.index >= followed_.size()) followed_.resize(target.index + 1);
    followed_[target.index] = true;
    const KvMemory& kv = target.replica->state().kv;
    if (kv.offload.active()) with_tiers_.push_back(target.index);
    if (std::ranges::find(block_tokens_, kv.pool.block_tokens()) == block_tokens_.end())
      block_tokens_.push_back(kv.pool.block_tokens());
    target.replica->follow_first_blocks([this, replica = target.index](std::uint64_t hash, bool known) {
      std::vector<std::size_t>& here = knowing_[hash];
      if (known) return here.push_back(replica);
      here.erase(std::ranges::find(here, replica));
      if (here.empty()) knowing_.erase(hash);
    });
  }

  double load_weight_;
  IndexedHeap<std::int64_t> by_tokens_;                                  // of those that serve, what is outstanding
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> knowing_;  // replicas, by the first block that they know
  std::vector<std::size_t> with_tiers_;
  std::vector<bool> followed_;
  std::vector<int> block_tokens_;  // of all that were followed
};

}  // namespace

std::unique_ptr<Router> PrefixAffinity::make() const { return std::make_unique<PrefixAffinityRouter>(load_weight); }

const Fields<PrefixAffinity>& prefix_affinity_fields() {
  static const Fields<PrefixAffinity> fields = [] {
    Fields<PrefixAffinity> f("prefix_affinity",
                             "the replica that has to compute least: longest cached prefix against load");
    f.add("load_weight", &PrefixAffinity::load_weight,
          "what one outstanding token of a replica counts against one uncached token of the prompt")
        .between(0, 10);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
