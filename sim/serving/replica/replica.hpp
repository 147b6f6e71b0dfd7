// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/engine_model.hpp"
#include "sim/serving/batcher.hpp"
#include "sim/serving/replica/ahead_steps.hpp"
#include "sim/serving/replica/device_turns.hpp"
#include "sim/serving/replica/kv_exchange.hpp"
#include "sim/serving/replica/memory_ledger.hpp"
#include "sim/serving/replica/step_exchange.hpp"
#include "sim/serving/replica/step_scheduler.hpp"
#include "sim/serving/replica/step_work.hpp"
#include "sim/serving/replica/stream_reports.hpp"

namespace llmscape::serving {

// Hears that requests have left a replica, and how KV transfers go on: the gateway.
class OutcomeListener {
 public:
  virtual ~OutcomeListener() = default;
  // A replica is woken at `now`, and with it every other one that would plan a step at this instant.
  virtual void on_wake(Seconds now) = 0;
  // Also, as completed, of a request that decodes elsewhere: its prompt is computed and its first token answered.
  virtual void on_outcome(Request& request, Outcome outcome, Seconds at) = 0;
  // The first chunk of a request that decodes elsewhere starts to be computed.
  virtual void on_prompt_start(Request& request, Seconds at) = 0;
  // A slot and blocks are kept for an import; `tokens` of its KV entries have to come.
  virtual void on_reserved(Request& request, std::int64_t tokens, Seconds at) = 0;
  // As far as is known, no replica gets a message before this time, unless it follows from what replicas have told; and
  // when that is looked at next.
  [[nodiscard]] virtual Seconds next_message() { return kNever; }
  [[nodiscard]] virtual Seconds next_report() { return kNever; }
  // Of the replica with this index, once so many of its outstanding tokens have left it that the gateway has not heard
  // of: Router::standing().
  [[nodiscard]] virtual std::size_t standing(int /*replica*/, std::int64_t /*left*/) { return 0; }
  // What happens now, at `at`, follows from what a replica did at that instant: it comes after all steps that were to
  // be planned at it, also those that were planned ahead.
  [[nodiscard]] virtual bool settled(Seconds /*at*/) const { return false; }
};

struct ReplicaConfig {
  // First what each waking reads.
  DeviceTurns* turns = nullptr;      // where its devices are shared with other models
  StepExchange* exchange = nullptr;  // where its collectives leave a node as flows: steps then end when these have
  std::int64_t lookahead = 64;  // decode-only steps planned ahead of the clock; 0: each step is an event of its own
  int index = 0;
  std::int64_t kv_blocks = 0;
  int block_tokens = 16;
  int pipeline_stages = 1;         // a batch passes them one after the other
  Pipeline* pipeline = nullptr;    // their timelines, shared with other streams; nullptr: a batch is alone on them
  bool chunks_follow = false;      // with a pipeline: a prompt's next chunk enters it when the last has left stage 0
  std::int64_t max_model_len = 0;  // longest prompt + answer
  bool rank_of_group = false;      // steps with the other ranks of a RankGroup, which wakes it
  Watts waiting_power;             // what its devices draw above idle while they wait for others inside collectives
  FirstToken first_token = FirstToken::prefill;  // of requests that decode elsewhere
  StreamInterval stream{};
  std::vector<WindowLayers> windows{};  // as EngineState has them
  std::vector<WindowPool> window_pools{};
  Speculation speculation{};
  AdapterConfig adapters{};
  models::Sharing sharing = models::Sharing::any_block;  // what the batcher, if it keeps prefixes, keeps of them
  models::PoolBudget budget{};                           // of entries that stay of a prompt
  MemoryConfig memory{};                                 // of a rank
  // Shared with others that plan while this one does not; nothing, its own: whose plans stand for longer, or that tells
  // others of a prompt's start while it plans.
  std::shared_ptr<StepWork> work{};
  KvBelow below{};  // where KV entries may lie besides; `kv_blocks` counts the blocks of one that spills
};

// One serving engine on its devices: queue, batcher, KV blocks and the steps in flight. Plain C++ with the clock handed
// in.
//
// A step is planned when fewer than `depth` steps are in flight, and costs what the EngineModel says. Where the batcher
// says that the next steps would be planned alike, they are planned ahead of the clock; a message takes back those that
// would have been planned after it came. Step ends are added one by one either way, so results are the same bytes
// (INV-14).
class Replica {
 public:
  Replica(ReplicaConfig config, const BatcherPolicy& policy, std::unique_ptr<engine::EngineModel> step_model,
          const std::vector<std::int64_t>& kv_laws, OutcomeListener& outcomes, StepListener& steps);

  // Whether the pool could hold the request and its answer if it were alone.
  [[nodiscard]] bool servable(const Request& request, bool decodes_elsewhere) const;
  // Whether the one can hold whatever the other can.
  [[nodiscard]] bool holds_as_much_as(const Replica& other) const;
  // A request arrives, or is no longer wanted, at `at`; the engine reads it when it next plans.
  // `decodes_elsewhere`: another replica decodes it.
  void submit(Request& request, bool decodes_elsewhere, Seconds at);
  void cancel(Request& request, Outcome why, Seconds at);
  // A later version of its prompt; nothing if the request has left meanwhile.
  void revise(Request& request, const Prompt& prompt, bool complete, Seconds at);

  // The decoding side of a KV transfer: asks for a slot and blocks, which on_reserved() grants; the entries have come,
  // and the request with its first token; nothing will come.
  void expect(Request& request, Seconds at);
  void join(Request& request, Seconds at);
  void forget(std::uint64_t request_id, Seconds at);
  // The computing side: nobody reads the entries of the request any more.
  void release(std::uint64_t request_id, Seconds at);
  // The replica is lost at `at`, with its KV entries and the steps that run; those that end at `at` count. Returns the
  // requests that were on it; those lent or expected belong to others.
  std::vector<Request*> crash(Seconds at);

  // What is planned ahead for `at` stands: whoever else was due at that instant has been woken.
  void settle(Seconds at) { commit_ahead(at, true); }
  // Its weights leave the devices' memory for another model's, and its adapters with them; none of its steps runs.
  void unload() { state_.running.evict_adapters(); }
  // Takes back steps that are planned ahead for a time after `at`.
  void interrupt(Seconds at);
  // A step that ends at `at`, the present, answers the request, though nobody has heard so.
  [[nodiscard]] bool answers_now(const Request& request, Seconds at);
  // The run is over at `now`: what is planned ahead is taken back, and of the steps under way the time and joules until
  // then count and none of their tokens. Once, before totals() are read.
  void stop(Seconds now);
  // Nothing runs, waits or is to be read.
  [[nodiscard]] bool quiet() const;

  // When wake() must be called next; kNever if nothing is to be done until a message comes.
  [[nodiscard]] Seconds next_event() const;
  // `now` is what next_event() said: the planned time, not a clock that was read.
  void wake(Seconds now);

  // Tokens of the prompt that this replica's cache holds at `at`, and those that a tier below it spares it.
  [[nodiscard]] std::int64_t cached_tokens(const Prompt& prompt, std::int64_t tokens, Seconds at);
  // Of which prompts they are not 0 at most: those whose first block is known here. Steps that are planned ahead bring
  // none. Not where a tier may spare some.
  void follow_first_blocks(PrefixTree::OnFirstBlock hear) { state_.kv.pool.follow_first_blocks(std::move(hear)); }

  [[nodiscard]] const EngineState& state() const { return state_; }
  // Time and joules of the steps that have ended when it was last woken; the rest of all that were planned.
  [[nodiscard]] const ReplicaTotals& totals() const { return ledger_.totals(); }
  [[nodiscard]] std::span<const StepLedger::Abandoned> abandoned() const { return ledger_.abandoned(); }
  // What its steps had come to by `at`, the present: a step under way counts by its share of time. The same bytes
  // however far steps are planned ahead (INV-14).
  [[nodiscard]] StepUse used_until(Seconds at);
  [[nodiscard]] const engine::EngineModel& step_model() const { return *step_model_; }
  // What a rank of it held.
  [[nodiscard]] const MemoryLedger& memory() const { return memory_; }
  // Loop turns over single requests plus entries of the decode set and of the queue, and what evictions took: must grow
  // neither with the batch, nor with those that wait, nor with blocks (test).
  [[nodiscard]] std::int64_t work() const {
    return state_.counts.touched + state_.waiting.moved() + state_.kv.pool.eviction_work() + state_.decoding.work();
  }
  // Throws std::logic_error naming the invariant that does not hold.
  void check_invariants(Seconds now) const;

 private:
  friend class RankGroup;
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // The parts of a wake-up, for ranks that step together. First: what has ended or come until `now`.
  void receive(Seconds now);
  [[nodiscard]] bool may_plan(Seconds now) const;
  // Plans the own part of a step; false: there is nothing to compute, and the part is a dummy pass.
  bool draft(Seconds now);
  // Tokens of that part, those of this rank alone.
  [[nodiscard]] models::RankTokens drafted_tokens() const;
  // When the part would end if it were the slowest, `tokens` being those of all ranks.
  [[nodiscard]] Seconds price_draft(Seconds now, const models::RankTokens& tokens);
  // It runs until `end`, when the slowest rank is done.
  void run_draft(Seconds now, Seconds end);
  // It runs until nobody knows when: `expected`, if nobody is in the way of what it sends.
  void hold_draft(Seconds now, Seconds expected) { held_ = {scheduler_->earliest_start(now), expected}; }
  // Of the draft's price, what its bytes between nodes take.
  [[nodiscard]] Seconds exchanged() const { return exchanged_.bytes; }

  struct Message {
    enum class Kind : std::uint8_t { submit, cancel, revise, expect, join, forget, release };
    Kind kind;
    Request* request;
    std::uint64_t id;  // of the request: its place may hold another one when a late message is read
    Outcome why;       // of a cancellation
    Seconds at;
    Prompt prompt{};  // of a revision, and whether that is the last
    bool complete = true;
  };
  struct Step {
    Seconds end;
    std::vector<Request*> finished{};
  };

  void post(const Message& message);
  void read_messages(Seconds now);
  void read(const Message& message, Seconds now);
  void reserve_imports(Seconds now);
  void end_steps(Seconds now);
  void plan_steps(Seconds now);
  void end_held(Seconds end);
  bool plan_step(Seconds now);
  void plan_ahead();
  bool begin_run(const models::Batch& batch);
  [[nodiscard]] Seconds duration_of_own() const;
  void commit_ahead(Seconds until, bool inclusive);
  std::size_t commit_evenly(std::size_t most);
  void tell_evenly(std::size_t count);
  [[nodiscard]] std::size_t standing(Seconds until, bool inclusive) const;
  // What is planned ahead stands as far as it comes before what happens at `at`.
  void commit_before(Seconds at) { commit_ahead(at, outcomes_.settled(at)); }
  [[nodiscard]] EngineConfig engine_config(const BatcherPolicy& policy, const std::vector<std::int64_t>& kv_laws);
  [[nodiscard]] int adapter_of(const Request& request) const;
  [[nodiscard]] bool answers(const PlannedChunk& chunk) const;
  void stamp_tokens(Seconds end);
  void stamp_first(Request& request, Seconds at);
  void stamp_accepted(Seconds at);
  void commit(const StepPrice& price, Seconds start, Seconds end, std::span<const Seconds> stages = {});
  void commit(const engine::EngineCost& cost, Seconds start, Seconds end, std::span<const Seconds> stages = {}) {
    commit({&cost, nullptr, nullptr}, start, end, stages);
  }
  void tell_drafts(models::Batch& batch, std::int64_t decodes, std::int64_t late,
                   std::span<const models::Attended> drafted) const;
  [[nodiscard]] engine::EngineCost price(const models::Batch& batch);
  [[nodiscard]] models::Batch batch_of_plan();
  [[nodiscard]] engine::EngineCost cost_of_plan(const models::RankTokens& ranks = {});
  [[nodiscard]] engine::EngineCost chunk_cost(std::int64_t cached, std::int64_t tokens);
  [[nodiscard]] Seconds prefill_time(std::int64_t cached, std::int64_t tokens);
  [[nodiscard]] std::size_t depth() const { return scheduler_->timing().depth; }
  // Of a step that is planned for good, or ahead, counted from the first that has not ended.
  [[nodiscard]] Seconds end_of(std::size_t place) const {
    return place < steps_.size() ? steps_[place].end : ahead_.end(place - steps_.size());
  }
  [[nodiscard]] Seconds depth_before() const;
  void announce_prompts(Seconds start);

  // First what each waking reads, side by side: in a fleet nothing of a replica is in the caches when its turn comes.
  Ring<Step> steps_;  // planned for good, not ended
  AheadSteps ahead_;  // decode-only steps after these; taken back when a message comes first
  Seconds woken_;     // last
  std::unique_ptr<Batcher> batcher_;
  std::unique_ptr<engine::EngineModel> step_model_;
  std::unique_ptr<StepScheduler> scheduler_;
  OutcomeListener& outcomes_;
  StepListener& listener_;
  ExchangedStep exchange_of_step_;          // of a replica that is no rank of a group
  std::unique_ptr<StreamReports> reports_;  // where tokens are held back
  Ring<Message> messages_;
  // When steps were priced ahead: the next message, how it stood, and whether they went as far past that message, or
  // past a report, as they may.
  Seconds foreseen_;
  std::size_t standing_ = 0;
  bool reached_message_ = false, reached_report_ = false;
  std::int64_t left_ = 0;  // tokens of calls that have ended since it was woken: the gateway hears of them later
  // Of a draft that runs until its bytes have arrived.
  struct Held {
    Seconds start, expected;
  };
  std::optional<Held> held_;
  StepExchange::Share exchanged_;     // of the draft's price
  std::int64_t occupied_before_ = 0;  // KV blocks when plan_ was begun
  Seconds tried_turn_;                // the turn at its devices in which it last tried to plan a step, by when it began
  std::int64_t accepted_ = 0;         // drafts that were stamped
  std::int64_t loads_ = 0;            // of adapters, that a step has waited for
  bool prices_runs_;                  // steps of decodes, by their attention alone
  bool steady_ = false;               // StepPlan::steady of the step that was planned last
  const std::shared_ptr<StepWork> work_;  // of the step that is being planned
  ReplicaConfig config_;
  std::int64_t max_sequences_;
  std::int64_t max_tokens_;
  EngineState state_;
  StepLedger ledger_;
  MemoryLedger memory_;
  KvExchange exchange_;

  engine::EngineCost draft_cost_;
  std::size_t kv_laws_;
  std::vector<models::Attended> dummy_attended_;
};

}  // namespace llmscape::serving
