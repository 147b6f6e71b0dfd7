// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/engine_model.hpp"
#include "sim/serving/replica/decode_set.hpp"
#include "sim/serving/replica/ring.hpp"
#include "sim/serving/replica/run_sums.hpp"
#include "sim/serving/replica/step_plan.hpp"

namespace llmscape::serving {

// Of these totals, those that a part of a run can be cut out of.
struct StepUse {
  Seconds busy;
  std::array<Joules, hardware::kEnergyComponents> energy{};
  std::array<Seconds, hardware::kResources> busy_by_resource{};
  Joules drafting{};  // of users' devices

  void add(const StepUse& other, double share);
};

// Hears what one replica does, in the order of its steps.
class StepListener {
 public:
  virtual ~StepListener() = default;
  // `count` tokens are emitted at `at`, each `gap` after the one before it of its request.
  virtual void on_token_gaps(Seconds at, Seconds gap, std::int64_t count) = 0;
  // A step was planned for good.
  virtual void on_step(Seconds start, Seconds end, std::int64_t decodes, std::int64_t prefill_tokens,
                       std::int64_t waiting, std::int64_t kv_blocks_used) = 0;
  // Whether on_step() has to be called.
  [[nodiscard]] virtual bool hears_steps() const { return true; }
  // The dynamic energy of a step, of all devices of the replica, once it has ended or was cut short.
  virtual void on_energy(Seconds start, Seconds end, Joules energy) = 0;
  // The same of users' devices that made its drafts.
  virtual void on_drafting(Seconds /*start*/, Seconds /*end*/, Joules /*energy*/) {}
  // A request's first token is answered at `at`.
  virtual void on_first_token(Seconds /*at*/) {}
};

// What a step costs: whole, or as one of a run of decodes.
struct StepPrice {
  const engine::EngineCost* whole;  // or nullptr, and
  const engine::DecodeRun* run;
  const hardware::OwnAttention* own;
};

// One of a run that follows the one before it without a pause; in a line of a cache of its own.
struct alignas(64) RunStep {
  Seconds end;
  hardware::OwnAttention own;
};
static_assert(sizeof(RunStep) == 64);

// A step that was planned for good and whose time and joules are not counted yet: the run, or its replica, may end
// before it does.
struct alignas(64) UnderWay {
  Seconds start, end;
  std::int64_t sequences = 0;  // decodes and chunks
  std::int64_t decodes = 0;
  std::int64_t prefill_tokens = 0;
  std::int64_t emitted = 0;  // tokens
  std::int64_t late = 0;     // of the decodes, those without their drafts
  bool of_run = false;
  engine::DecodeRun run;  // if it is of one, and
  hardware::OwnAttention own;
  alignas(64) engine::EngineCost whole;  // if it is not
  std::vector<Seconds> stages;           // of a shared pipeline: when each takes it up

  [[nodiscard]] engine::EngineCost cost() const { return of_run ? run.cost(own) : whole; }
  // The share of it that is done at `at`: of the time in between, or of the time that stages work for it, as it waits
  // for them too.
  [[nodiscard]] double share_until(Seconds at) const;
};

// How the parts of a step's cost add up to its time.
struct StepTiming {
  double stages = 1;           // of its pipeline, which a batch passes one after the other
  bool shared_stages = false;  // with other streams: stages are busy for what they take, not until the batch is through
  bool hides_host = false;     // asynchronous scheduling
  bool waits_for_others = false;  // ends with the slowest of the ranks, or when what it sends has arrived
  Watts waiting{};                // what the devices of a stage draw above idle while they wait so
  std::size_t depth = 1;          // most steps in flight, where stages are not shared

  // Launches run beside the device; asynchronous scheduling hides the rest of the host's work too, unless the step is
  // short (docs/serving.md).
  [[nodiscard]] Seconds duration(Seconds device, Seconds host, Seconds launch, Seconds sync) const {
    const Seconds stage = device > launch ? device : launch;
    const Seconds step = hides_host ? std::max(stage * stages, host + launch * stages) : stage * stages + host;
    return step + sync;
  }
  [[nodiscard]] Seconds duration(const engine::EngineCost& cost) const {
    return duration(cost.device, cost.host, cost.launch, cost.sync);
  }
  // How long a step that lasts from `start` to `end` waits inside its collectives: for the slowest rank, or for bytes
  // on busy links.
  [[nodiscard]] Seconds waits(const engine::EngineCost& cost, Seconds start, Seconds end) const {
    return waits_for_others ? end - start - duration(cost) : Seconds();
  }
};

// What the steps of a replica have come to: counts when they are planned for good, time and joules when they end.
class StepLedger {
 public:
  StepLedger(StepTiming timing, StepListener& listener) : timing_(timing), listener_(listener) {}

  // How the replica stands after a step was planned.
  struct Occupancy {
    std::int64_t tokens = 0;     // that the step computes, drafts included
    std::int64_t emitted = 0;    // of them, answered by it
    std::int64_t waiting = 0;    // requests
    std::int64_t kv_blocks = 0;  // used
  };
  // A step was planned for good. `stages`: when each stage takes it up, where they are shared.
  void commit(const StepPrice& price, Seconds start, Seconds end, const StepPlan& plan, const Occupancy& occupancy,
              std::span<const Seconds> stages = {});
  void commit(const engine::EngineCost& cost, Seconds start, Seconds end, const StepPlan& plan,
              const Occupancy& occupancy, std::span<const Seconds> stages = {}) {
    commit(StepPrice{&cost, nullptr, nullptr}, start, end, plan, occupancy, stages);
  }
  // The same of the first `steps_of_run` of `steps`, at least one, which begin at `start` and are alike but for their
  // attention: `last` is how the replica stands after the last of them, `attended` what all of them attended to, by KV
  // law. on_step() is not called.
  struct Alike {
    std::int64_t decodes = 0;
    Occupancy last;
    std::span<const std::int64_t> attended;
  };
  void commit_run(const engine::DecodeRun& run, const Ring<RunStep>& steps, std::size_t steps_of_run, Seconds start,
                  const Alike& alike);
  void count_dummy() { ++totals_.dummy_steps; }
  // A step waits for adapters.
  void count_loading(Seconds loading) { totals_.adapter_loading += loading; }
  // Drafts of passes that were counted turn out to be accepted.
  void count_accepted(std::int64_t tokens) { totals_.decode_tokens += tokens; }
  // So many tokens were never answered, as the replica was lost before the end of their steps.
  void count_unanswered(std::int64_t tokens) { totals_.lost_emitted_tokens += tokens; }

  // Tokens of a request that left, having answered others since `from`, before the step that computes them had ended.
  struct Abandoned {
    Seconds from, left;
    Seconds end;  // of the step
    std::int64_t tokens = 0;
  };
  // A request is about to leave at `now`: the steps under way go on, and answer it what they would have.
  void abandon(const Request& request, const DecodeSet& decoding, Seconds now);
  // Once the run is over: those of steps that it cut short.
  [[nodiscard]] std::span<const Abandoned> abandoned() const { return abandoned_; }

  // The time and joules of steps that have ended by `now` count.
  void spend_ended(Seconds now);
  // Of steps that were cut short.
  struct Cut {
    std::int64_t prefill_tokens = 0, emitted_tokens = 0;
    std::int64_t decode_steps = 0;  // of these steps, those that decode: the last ones
  };
  // The replica is lost at `at`: the time and joules of what runs count until then, and none of its tokens.
  Cut lose(Seconds at);
  // The run is over at `now`: of the steps under way the time and joules until then count and none of their tokens.
  // Once.
  void stop(Seconds now);
  // What the steps had come to by `at`, the present: one under way counts by its share of time.
  [[nodiscard]] StepUse used_until(Seconds at);
  // `busy` of the steps that have ended, their other times and joules once the run is over; the rest of all that were
  // planned.
  [[nodiscard]] const ReplicaTotals& totals() const { return totals_; }

 private:
  void spend(const UnderWay& step, Seconds until);
  void spend_whole(const UnderWay& step, const engine::EngineCost& cost, Seconds until);
  void spend_of_run(const engine::DecodeRun& run, const hardware::OwnAttention& own, Seconds start, Seconds end);
  void spend_front();
  // Spends what is under way up to `until`, and takes off the counts of steps that end later.
  Cut cut_at(Seconds until);
  // So many steps alike; the most of each number is the last one's.
  void count(std::int64_t times, std::int64_t sequences, std::int64_t decodes, const Occupancy& last);

  StepTiming timing_;
  StepListener& listener_;
  Ring<UnderWay> under_way_;  // in the order in which they were planned
  RunSums runs_;              // whole steps of runs that have ended
  std::vector<Abandoned> abandoned_;
  ReplicaTotals totals_;
};

}  // namespace llmscape::serving
