// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/streaming.hpp"

#include <algorithm>
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
  struct Grant {
    Request* request;
    std::int64_t tokens;  // 0: its entries come back from the host's memory
  };

  // Every prompt that is under way or waits, the first to be served first.
  void line_up(const EngineState& state) {
    line_ = state.prefilling;
    state.waiting.visit([this](Request& request) {
      line_.push_back(&request);
      return true;
    });
    const auto waits = [](const Request& r) { return r.sequence.state == Sequence::State::waiting; };
    std::ranges::stable_sort(line_, [&](const Request* a, const Request* b) {
      if (!order_.before && waits(*a) != waits(*b)) return waits(*b);
      if (a->priority != b->priority) return a->priority < b->priority;
      return order_.before && order_.before(*a, *b);
    });
  }

  // It runs, and nothing is being copied into its blocks.
  static bool may_give_way(const Request& request, Seconds now) {
    return request.sequence.state == Sequence::State::prefilling && request.sequence.kv_ready <= now;
  }

  // Sequences that decode come first; prompts of the lowest priority give way, then the sequences admitted last.
  void plan_decodes(EngineState& state, Seconds now, StepPlan& plan) const {
    while (!state.decodes_fit()) {
      const auto last =
          std::find_if(line_.rbegin(), line_.rend(), [&](const Request* r) { return may_give_way(*r, now); });
      if (last != line_.rend()) state.preempt(**last, now, policy_.victims);
      else if (std::ranges::any_of(line_,
                                   [](const Request* r) { return r->sequence.state == Sequence::State::prefilling; }))
        return;  // their entries are on their way
      else if (!state.preempt_last(now, false, policy_.victims)) return;
    }
    state.schedule_decodes(plan);
  }

  // Phase 1: who is served and who gives way, of which nothing is done yet.
  void test(const EngineState& state, Seconds now, bool full, std::int64_t budget) {
    grants_.clear();
    victims_.clear();
    std::int64_t free = state.kv.pool.available();
    std::int64_t slots = policy_.max_num_seqs - state.running.size();
    std::size_t end = line_.size();  // from here on they give way, or wait behind some that do
    for (std::size_t i = 0; i < end && budget > 0; ++i) {
      Request& request = *line_[i];
      const bool waits = request.sequence.state == Sequence::State::waiting;
      if (request.idle() || request.sequence.kv_ready > now) continue;
      if (waits && (full || slots <= 0 || !state.running.adapters().fits(request.sequence.adapter))) return;
      const bool swapped = request.sequence.swapped > 0;
      const std::int64_t tokens =
          swapped ? 0 : std::min(request.tokens_to_compute() - request.sequence.computed, budget);
      std::int64_t blocks = swapped ? state.kv.blocks_swapped(request) : state.kv.blocks_for_chunk(request, tokens);
      if (waits) blocks += state.kv.window_blocks(request);
      const std::size_t given_way = victims_.size();
      std::size_t last = end;
      for (; free < blocks && last > i + 1; --last) {
        Request& candidate = *line_[last - 1];
        if (!may_give_way(candidate, now)) continue;
        victims_.push_back(&candidate);
        free += candidate.sequence.lease.blocks() + candidate.sequence.window_blocks;
      }
      if (free < blocks) {
        if (order_.before || waits) victims_.resize(given_way);
        else victims_.push_back(&request);  // vLLM preempts from the end on until it comes to the request itself
        return;
      }
      end = last;
      free -= blocks;
      budget -= tokens;
      if (waits) --slots;
      grants_.push_back({&request, tokens});
    }
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
  std::vector<Request*> line_, victims_;
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
