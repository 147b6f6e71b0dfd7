// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/serving/gateway/admission.hpp"
#include "sim/serving/gateway/deadlines.hpp"
#include "sim/serving/gateway/kv_transfers.hpp"
#include "sim/serving/gateway/versioned_prompts.hpp"
#include "workloads/generator.hpp"

namespace llmscape::serving {

// Hears what the users of the system see.
class RequestListener {
 public:
  virtual ~RequestListener() = default;
  // A model call was received; `open` calls are unanswered now.
  virtual void on_arrival(const Request& request, std::int64_t open) = 0;
  // A model call has left the system at `at` (then request.last_token, unless it ended early).
  virtual void on_request(const Request& request, Outcome outcome, Seconds at) = 0;
  // A program starts.
  virtual void on_task_start(const workloads::Program&, Seconds) {}
  // A program has ended, and the clock of `run` with it; its generator has heard so.
  virtual void on_task(const workloads::Program& program, const TaskRun& run, Outcome outcome, Seconds at) = 0;
  // A replica serves, loads, drains or is off from `at` on.
  virtual void on_availability(std::size_t, Availability, Seconds) {}
};

struct GatewayConfig {
  FrontEndCost front_end;
  Seconds timeout = kNever;  // of one model call, from its arrival
  AdmissionLimits admission;
  std::int64_t retrieval_servers = 0;            // 0: no queue at the retrieval station
  std::optional<hardware::Retrieval> retrieval;  // hosts of the stages that bring a query
  Seconds horizon = kNever;                      // the run stops here, finished or not
  Seconds clock_end = kNever;                    // and here, though nobody wakes the gateway to see it
  MoveKv move_kv;                                // needed where there are prefill pools
  bool move_by_layer = true;  // entries go as their layers are computed, not when the whole prompt is
  Placement placement = Placement::in_order;
  std::int64_t retries = 3;      // times that a call is tried again after its replica was lost; then it fails
  bool streaming_input = false;  // a streaming prompt is sent as its versions come; else when all of it is there
  std::vector<Controller*> controllers{};  // in the order in which they act at one instant
};

// Owns every request from its arrival until it is answered, and chooses its replica; so that a replica that is lost
// loses none. It passes events on between its parts, and does what happens to a call between them. Plain C++ with the
// clock handed in.
class Gateway : public OutcomeListener, private ProgramHost, private CallFlow {
 public:
  // `ring(i)` tells that replica i has a message; replicas are numbered over all pools in order. Mistakes in a trace go
  // to `diagnostics`. Where there are prefill pools there must be a decode pool of the same model, and a way to move
  // KV.
  Gateway(GatewayConfig config, workloads::Generator& generator, std::vector<Pool> pools, RequestListener& listener,
          std::function<void(std::size_t)> ring, Diagnostics& diagnostics);

  [[nodiscard]] Seconds next_event();
  // Does everything that is due at `now`, in order of time and then of its sources.
  void wake(Seconds now);
  // Nothing is open and nothing will come; or the horizon or the end of the clock is reached.
  [[nodiscard]] bool done();
  [[nodiscard]] bool stopped_at_horizon() const { return stopped_; }
  // It ended because users without think time asked again and again at one instant, and were refused at once.
  [[nodiscard]] bool stands_still() const { return stands_still_; }

  void on_wake(Seconds now) override { replicas_woke_ = now; }
  void on_outcome(Request& request, Outcome outcome, Seconds at) override {
    reports_.add(Report::What::outcome, request, at, outcome);
  }
  void on_prompt_start(Request& request, Seconds at) override { reports_.add(Report::What::prompt_start, request, at); }
  void on_reserved(Request& request, std::int64_t tokens, Seconds at) override {
    reports_.add(Report::What::reserved, request, at, {}, tokens);
  }

  [[nodiscard]] Seconds next_message() override { return std::min(next_of_others(), config_.clock_end); }
  [[nodiscard]] Seconds next_report() override { return reports_.next_event(); }
  [[nodiscard]] std::size_t standing(int replica, std::int64_t left) override {
    const Member& member = state_.members[static_cast<std::size_t>(replica)];
    return state_.pools[member.pool].router->standing(member, left);
  }
  [[nodiscard]] bool settled(Seconds at) const override { return settling_ && at == replicas_woke_; }

  [[nodiscard]] const FleetManager& fleet() const { return fleet_; }
  [[nodiscard]] const CallTable& calls() const { return calls_; }
  [[nodiscard]] const ProgramRunner& programs() const { return programs_; }
  // Times that calls were tried again because their replica was lost, and the tokens that had been answered.
  [[nodiscard]] std::int64_t retried() const { return retried_; }
  [[nodiscard]] std::int64_t lost_tokens() const { return lost_tokens_ + transfers_.lost_tokens(); }
  [[nodiscard]] Seconds last_arrival() const { return last_arrival_; }
  // Throws std::logic_error naming the invariant that does not hold.
  void check_invariants() const;

 private:
  // What arrives.
  class Arrivals final : public EventSource {
   public:
    explicit Arrivals(Gateway& gateway) : gateway_(gateway) {}
    [[nodiscard]] Seconds next_event() override { return gateway_.generator_.next_start(); }
    void run(Seconds now) override;

   private:
    Gateway& gateway_;
  };
  // Controllers that act at times of their own.
  class Controllers final : public EventSource {
   public:
    explicit Controllers(Gateway& gateway) : gateway_(gateway) {}
    [[nodiscard]] Seconds next_event() override;
    void run(Seconds now) override;
    [[nodiscard]] bool moves_calls() const override { return false; }

   private:
    Gateway& gateway_;
  };

  struct Due {
    EventSource* source = nullptr;
    Seconds at = kNever;
  };
  [[nodiscard]] Due first_of_others();
  // Next event of all sources but the reports, which alone change between two wakings.
  [[nodiscard]] Seconds next_of_others();

  void on_call(std::size_t slot, int stage, Seconds now) override;
  void on_program_end(const workloads::Program& program, const TaskRun& run, Outcome outcome, Seconds now) override;

  void admit(OpenCall& call, Seconds now) override;
  void wait_for_replica(OpenCall& call, Seconds now) override;
  void stop_waiting(OpenCall& call) override;
  void reject(OpenCall& call, Outcome outcome, Reason reason, Seconds now) override;
  void answer(OpenCall& call, Outcome outcome, Seconds now) override;
  void retry(OpenCall& call, Seconds now) override;
  void send(OpenCall& call, Seconds now);
  void tell_controllers(const OpenCall& call, Outcome outcome, Seconds now);
  void give_up(OpenCall& call, Outcome why, Seconds now);
  void offer_waiting(Seconds now);
  void on_replica_lost(std::size_t replica, const std::vector<Request*>& requests, Seconds now);
  void check_that_something_comes();
  void watch_time(const OpenCall& call, Seconds now);

  GatewayConfig config_;
  workloads::Generator& generator_;
  RequestListener& listener_;
  Diagnostics& diagnostics_;

  CallTable calls_;
  WaitingCalls unplaced_;    // calls for which no replica serves
  std::int64_t unsent_ = 0;  // of these, those that are at no replica yet
  Admission admission_;
  Reports reports_;
  FleetState state_;  // of pools and replicas
  FleetManager fleet_;
  Placer placer_;
  ProgramRunner programs_;
  Deadlines deadlines_;
  FrontEnd front_end_;
  KvTransfers transfers_;
  VersionedPrompts versions_;
  Controllers controllers_{*this};
  Arrivals arrivals_{*this};
  // What acts after reports, in the order in which it does at one instant. By their types: they are asked for their
  // next events at every wake-up.
  std::tuple<Controllers*, FleetManager*, ProgramRunner*, VersionedPrompts*, Deadlines*, Arrivals*, FrontEnd*> others_ =
      {&controllers_, &fleet_, &programs_, &versions_, &deadlines_, &arrivals_, &front_end_};

  std::uint64_t next_content_ = 0xffffffull << 40;  // answers that no program names: a range that no generator uses
  std::int64_t retried_ = 0, lost_tokens_ = 0;
  Seconds last_arrival_;
  Seconds replicas_woke_ = kNever;
  bool settling_ = false;  // it acts on what replicas did at this instant
  Due first_other_;        // as of the last wake-up, or of what was asked first in the present one
  bool others_known_ = false;
  bool stopped_ = false;
  static constexpr std::int64_t kMostRefusedAtOnce = 100;
  std::int64_t users_ = 0;            // of closed loops, seen so far
  std::int64_t refused_at_once_ = 0;  // of their calls, at the one instant `refused_at_`
  Seconds refused_at_ = kNever;
  bool stands_still_ = false;
};

}  // namespace llmscape::serving
