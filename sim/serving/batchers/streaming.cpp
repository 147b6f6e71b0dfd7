// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/streaming.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/serving/batchers/streaming_orders.hpp"

namespace llmscape::serving {

namespace {

class StreamingBatcher : public Batcher {
 public:
  explicit StreamingBatcher(Streaming policy)
      : policy_(std::move(policy)),
        order_(*std::ranges::find(streaming_orders(), std::string_view(policy_.order), &StreamingOrder::name)) {}

  void plan(EngineState& state, Seconds now, StepPlan& plan) override {
    const std::int64_t preempted_before = state.counts.preemptions;
    line_up(state);
    plan_decodes(state, now, plan);
    const bool full = state.counts.preemptions > preempted_before;  // then nobody is admitted
    test(state, now, full, policy_.max_num_batched_tokens - plan.decode_tokens());
    for (Request* victim : victims_) state.preempt(*victim, now, policy_.victims);
    for (const Grant& grant : grants_) allocate(state, grant, now, plan);
    plan.steady = plan.chunks.empty() && state.counts.preemptions == preempted_before && state.prefilling.empty() &&
                  state.waiting.empty();
  }

 private:
  using Place = std::pair<Standing, Request*>;
  struct Grant {
    Request* request;
    std::int64_t tokens;  // 0: its entries come back from the host's memory
  };

  // The prompts under way, the first to be served first. Those that wait have an order already, and stay in it.
  void line_up(EngineState& state) {
    line_.clear();
    for (Request* request : state.prefilling)
      line_.emplace_back(order_.standing ? order_.standing(*request) : Standing{request->priority}, request);
    state.counts.touched += static_cast<std::int64_t>(line_.size());
    std::ranges::stable_sort(line_, {}, &Place::first);
  }

  // It runs, and nothing is being copied into its blocks.
  static bool may_give_way(const Request& request, Seconds now) {
    return request.sequence.state == Sequence::State::prefilling && request.sequence.kv_ready <= now;
  }

  // One of those under way from there on cannot give way yet, because its entries are on their way. Were a request
  // preempted instead of it, its own would be copied back before the others' are there, for ever.
  [[nodiscard]] bool copied_behind(std::size_t behind, Seconds now) const {
    return std::any_of(line_.begin() + static_cast<std::ptrdiff_t>(behind), line_.end(), [now](const Place& place) {
      const Sequence& sequence = place.second->sequence;
      return sequence.state == Sequence::State::prefilling && sequence.kv_ready > now;
    });
  }

  // Sequences that decode come first; prompts of the lowest priority give way, then the sequences admitted last.
  void plan_decodes(EngineState& state, Seconds now, StepPlan& plan) const {
    while (!state.decodes_fit()) {
      const auto last =
          std::find_if(line_.rbegin(), line_.rend(), [&](const Place& p) { return may_give_way(*p.second, now); });
      if (last != line_.rend()) state.preempt(*last->second, now, policy_.victims);
      else if (std::ranges::any_of(
                   line_, [](const Place& p) { return p.second->sequence.state == Sequence::State::prefilling; }))
        return;  // their entries are on their way
      else if (!state.preempt_last(now, false, policy_.victims)) return;
    }
    state.schedule_decodes(plan);
  }

  // Phase 1: who is served and who gives way, of which nothing is done yet.
  void test(EngineState& state, Seconds now, bool full, std::int64_t budget) {
    grants_.clear();
    victims_.clear();
    Phase1 so_far{state.kv.pool.available(), policy_.max_num_seqs - state.running.size(), budget, line_.size(), full};
    std::size_t next = 0;                               // of those under way
    const auto serve_until = [&](const Standing* at) {  // null: all of them
      while (next < so_far.end && (!at || line_[next].first < *at)) {
        Request& request = *line_[next++].second;
        if (!grant(state, request, next, now, so_far)) return false;
      }
      return true;
    };
    if (!order_.standing) {
      if (!serve_until(nullptr) || so_far.end < line_.size()) return;
      state.waiting.visit([&](Request& request) { return grant(state, request, next, now, so_far); });
      return;
    }
    for (const auto& [standing, request] : state.waiting.in_order(order_.standing)) {
      if (!serve_until(&standing)) return;
      if (so_far.end < line_.size() && line_[so_far.end].first < standing) return;
      if (!grant(state, *request, next, now, so_far)) return;
    }
    serve_until(nullptr);
  }

  struct Phase1 {
    std::int64_t free, slots, budget;
    std::size_t end;  // those under way from here on give way, and all behind the first of them wait
    bool full;
  };

  // Tests one. Those under way that may give way to it begin at `behind`. Returns whether another one may be tested.
  bool grant(EngineState& state, Request& request, std::size_t behind, Seconds now, Phase1& so_far) {
    if (so_far.budget <= 0) return false;
    ++state.counts.touched;
    const bool waits = request.sequence.state == Sequence::State::waiting;
    if (request.idle() || request.sequence.kv_ready > now) return true;
    if (waits && (so_far.full || so_far.slots <= 0 || !state.running.adapters().fits(request.sequence.adapter)))
      return false;
    const bool swapped = request.sequence.swapped > 0;
    const std::int64_t tokens =
        swapped ? 0 : std::min(request.tokens_to_compute() - request.sequence.computed, so_far.budget);
    std::int64_t blocks = swapped ? state.kv.blocks_swapped(request) : state.kv.blocks_for_chunk(request, tokens);
    if (waits) blocks += state.kv.window_blocks(request);
    const std::size_t given_way = victims_.size();
    while (so_far.free < blocks && so_far.end > behind) {
      Request& candidate = *line_[--so_far.end].second;
      if (!may_give_way(candidate, now)) continue;
      victims_.push_back(&candidate);
      so_far.free += candidate.sequence.lease.blocks() + candidate.sequence.window_blocks;
    }
    if (so_far.free < blocks) {
      if (order_.standing || waits || copied_behind(behind, now)) victims_.resize(given_way);
      else victims_.push_back(&request);  // vLLM preempts from the end on until it comes to the request itself
      return false;
    }
    so_far.free -= blocks;
    so_far.budget -= tokens;
    if (waits) --so_far.slots;
    grants_.push_back({&request, tokens});
    return true;
  }

  // Phase 2.
  static void allocate(EngineState& state, const Grant& grant, Seconds now, StepPlan& plan) {
    Request& request = *grant.request;
    // Those admitted before it in this step may have taken the last place of an adapter.
    if (request.sequence.state == Sequence::State::waiting && !state.running.adapters().fits(request.sequence.adapter))
      return;
    if (grant.tokens == 0) return state.swap_in(request, now);
    if (request.sequence.state == Sequence::State::waiting) state.admit(request, 0, now);
    state.schedule_chunk(request, grant.tokens, plan);
  }

  Streaming policy_;
  StreamingOrder order_;
  std::vector<Place> line_;  // prompts under way
  std::vector<Request*> victims_;
  std::vector<Grant> grants_;
};

}  // namespace

std::unique_ptr<Batcher> Streaming::make() const { return std::make_unique<StreamingBatcher>(*this); }

const Fields<Streaming>& streaming_fields() {
  static const Fields<Streaming> fields = [] {
    Fields<Streaming> f("streaming", "streaming prompts in two phases (Stream2LLM)");
    std::vector<std::string> orders;
    for (const StreamingOrder& order : streaming_orders()) orders.emplace_back(order.name);
    f.add("order", &Streaming::order,
          "who comes first. default: those under way, then by arrival, as vLLM; fcfs: complete prompts before partial "
          "ones, each by arrival; lcas: complete ones before partial ones, each by the arrival of its last chunk; "
          "mcps: the most computed tokens")
        .one_of(orders);
    f.add_enum("victims", &Streaming::victims,
               {{"recompute", Preempted::recompute}, {"swap", Preempted::swap}, {"by_cost", Preempted::by_cost}},
               "what becomes of the KV entries of a preempted one: lost, kept in the memory of serving.kv_swap, or "
               "what takes less time");
    add_token_budget(f);
    f.add("async_scheduling", &Streaming::async_scheduling, "plans the next step while the present one runs");
    check_token_budget(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
