// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <vector>

#include "sim/serving/counters.hpp"
#include "sim/serving/fleet.hpp"
#include "sim/serving/program_runner.hpp"
#include "sim/serving/provisioned.hpp"
#include "sim/serving/router.hpp"
#include "sim/serving/station.hpp"
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
  // A program has ended, and `clock` with it; its generator has heard so.
  virtual void on_task(const workloads::Program& program, const TaskClock& clock, Outcome outcome, Seconds at) = 0;
  // A replica serves, loads, drains or is off from `at` on.
  virtual void on_availability(std::size_t, Availability, Seconds) {}
};

// The process in front of the engines: reads a call and tokenises its prompt, one call after the other.
struct FrontEnd {
  Seconds per_call;
  Seconds per_token;  // of the prompt
  [[nodiscard]] Seconds of(std::int64_t prompt_tokens) const {
    return per_call + static_cast<double>(prompt_tokens) * per_token;
  }
};

// Which calls a pool takes; all, if nothing is said.
struct Acceptance {
  std::int64_t longer_than = -1;  // prompt tokens that are in no cache of the pools that could take the call
  std::int64_t up_to = std::numeric_limits<std::int64_t>::max();
  std::vector<int> slo_classes;  // none: any
  [[nodiscard]] bool by_length() const { return longer_than >= 0 || up_to < std::numeric_limits<std::int64_t>::max(); }
};

// Replicas that are alike to the gateway.
struct Pool {
  Role role = Role::any;
  std::unique_ptr<Router> router;
  std::vector<Replica*> replicas;
  Bytes kv_per_token;  // what a hand-over moves of each prompt token, all ranks together
  int model = 0;       // index into the scenario's models
  Acceptance accepts{};
  std::int64_t off = 0;  // of its replicas, the last ones: not started yet
  // What a hand-over moves of so many prompt tokens, where that is not `kv_per_token` for each.
  std::function<Bytes(std::int64_t tokens)> kv_of_prompt{};
};

// Which of the pools that take a call is sent it.
enum class Placement {
  in_order,     // the first that has a replica that serves
  least_loaded  // the one with the fewest outstanding tokens per replica
};

// Moves KV entries between two replicas, numbered over all pools; tells when they have come, or that they were lost.
using MoveKv = std::function<void(std::size_t from, std::size_t to, Bytes bytes, Seconds now,
                                  std::function<void(bool arrived, Seconds at)> done)>;

struct GatewayConfig {
  FrontEnd front_end;
  Seconds timeout = kNever;                     // of one model call, from its arrival
  std::optional<std::int64_t> max_outstanding;  // calls sent to replicas and not answered; more wait in the gateway ...
  std::int64_t max_waiting = -1;                // ... unless as many wait already: then they are dropped; -1: no limit
  std::int64_t retrieval_servers = 0;           // 0: no queue at the retrieval station
  std::optional<hardware::Retrieval> retrieval;  // hosts of the stages that bring a query
  Seconds horizon = kNever;                      // the run stops here, finished or not
  MoveKv move_kv;                                // needed where there are prefill pools
  bool move_by_layer = true;  // entries go as their layers are computed, not when the whole prompt is
  Placement placement = Placement::in_order;
  std::int64_t retries = 3;      // times that a call begins anew after its replica was lost; then it fails
  bool streaming_input = false;  // a prompt that comes bit by bit is sent as it comes; else when all of it is there
  std::vector<Controller*> controllers{};  // in the order in which they act at one instant
};

// Owns every request from its arrival until it is answered, and chooses its replica; so that a replica that is lost
// loses none. Plain C++ with the clock handed in.
class Gateway : public OutcomeListener, public Fleet, private ProgramHost {
 public:
  // `ring(i)` tells that replica i has a message; replicas are numbered over all pools in order. Mistakes in a trace go
  // to `diagnostics`. Where there are prefill pools there must be a decode pool of the same model, and a way to move
  // KV.
  Gateway(GatewayConfig config, workloads::Generator& generator, std::vector<Pool> pools, RequestListener& listener,
          std::function<void(std::size_t)> ring, Diagnostics& diagnostics);

  [[nodiscard]] Seconds next_event();
  // Does everything that is due at `now`, in order of time; ties: outcomes, then controllers and replicas that become
  // ready, then programs under way, then later versions of prompts, then calls that run out of time, then new programs,
  // then what leaves the front end.
  void wake(Seconds now);
  // Nothing is open and nothing will come; or the horizon is reached.
  [[nodiscard]] bool done();
  [[nodiscard]] bool stopped_at_horizon() const { return stopped_; }

  void on_wake(Seconds now) override { replicas_woke_ = now; }
  void on_outcome(Request& request, Outcome outcome, Seconds at) override;
  void on_prompt_start(Request& request, Seconds at) override;
  void on_reserved(Request& request, std::int64_t tokens, Seconds at) override;

  // Fleet (gateway_fleet.cpp)
  [[nodiscard]] std::size_t pools() const override { return pools_.size(); }
  [[nodiscard]] PoolLoad load(std::size_t pool) const override;
  [[nodiscard]] std::size_t replicas() const override { return members_.size(); }
  [[nodiscard]] std::size_t pool_of(std::size_t replica) const override { return members_[replica].pool; }
  [[nodiscard]] Availability availability(std::size_t replica) const override { return members_[replica].availability; }
  [[nodiscard]] std::int64_t outstanding(std::size_t replica) const override {
    return members_[replica].outstanding_requests;
  }
  void start(std::size_t replica, Seconds ready, Seconds now) override;
  void drain(std::size_t replica, Seconds now) override;
  void convert(std::size_t replica, std::size_t pool, Seconds takes, Seconds now) override;
  void split_by_length(std::size_t shorter, std::size_t longer, std::int64_t tokens, Seconds now) override;
  void hold(std::size_t replica, bool for_good, Seconds now) override;
  void lose(std::size_t replica, bool for_good, Seconds now) override;
  void mend(std::size_t replica, Seconds takes, Seconds now) override;
  // When a replica has been switched on: serving, loading or draining.
  [[nodiscard]] const Provisioned& provisioned(std::size_t replica) const { return members_[replica].provisioned; }
  [[nodiscard]] PoolHistory history(std::size_t pool, Seconds end) const;
  // Times that calls began anew because their replica was lost, and the tokens that had been answered.
  [[nodiscard]] std::int64_t begun_anew() const { return begun_anew_; }
  [[nodiscard]] std::int64_t lost_tokens() const { return lost_tokens_; }

  // Where everything stands; the open ones are looked up.
  [[nodiscard]] Counters requests() const;
  [[nodiscard]] Counters tasks() const { return programs_.counters(); }
  [[nodiscard]] const ProgramRunner& programs() const { return programs_; }
  // Calls fn for each request that has not left the system.
  void for_each_open(const std::function<void(const Request&)>& fn) const;
  [[nodiscard]] Seconds last_arrival() const { return last_arrival_; }
  // Throws std::logic_error naming the invariant that does not hold.
  void check_invariants() const;

 private:
  struct Call {
    Request request;
    std::size_t program = 0;  // slot in programs_
    int stage = 0;
    bool open = false;
    bool in_front = false;            // in the front end, or waiting for it
    bool held = false;                // waits in the gateway for admission
    bool unplaced = false;            // waits in the gateway for a replica that could go on with it
    bool announced = false;           // controllers have heard that it does
    std::int64_t uncached = 0;        // of its prompt, when it last looked for a replica
    std::int64_t prompt_tokens = 0;   // as the gateway knows them: its replica may not have read the latest version yet
    std::size_t read_versions = 0;    // of its prompt, those that the front end is done with
    std::optional<Outcome> unwanted;  // its replica was told to stop
  };
  struct Due {  // what was reported and is not yet handled
    enum class What : std::uint8_t { outcome, prompt_start, reserved, arrived, lost };
    What what;
    Seconds at;
    std::size_t call;
    std::uint64_t request;
    std::int32_t version;
    Outcome outcome;      // of an outcome
    std::int64_t tokens;  // to be moved, of a reservation
  };
  // A call on its way from the replica that computes its prompt to the one that decodes.
  struct HandOver {
    std::size_t call = 0;
    std::size_t from = 0, to = 0;
    bool expected = false;  // `to` was asked for room
    bool prefilled = false, arrived = false;
  };
  struct PoolState {
    Role role;
    std::unique_ptr<Router> router;
    Bytes kv_per_token;
    int model;
    Acceptance accepts;
    std::function<Bytes(std::int64_t)> kv_of_prompt;
    std::vector<RoutingTarget*> targets{};  // its replicas that serve
    PoolHistory history{};                  // as of the last change of each replica
  };
  struct Member : RoutingTarget {
    std::size_t pool = 0;
    Availability availability = Availability::serving;
    bool wanted = true;           // it is to serve: not off, nor draining to be off
    int holds = 0;                // hold() and lose() that are not mended
    bool for_good = false;        // one of them never is
    std::size_t next_pool = 0;    // of one that is to be converted: where it serves after draining ...
    Seconds conversion = kNever;  // ... and this; kNever: it is not
    Seconds ready;                // of one that loads
    Seconds since;                // it has been as it is
    Provisioned provisioned;
  };
  // What could be found for a call.
  struct Choice {
    Member* member = nullptr;
    std::int64_t uncached = 0;     // of the prompt, in no cache of those that could compute it
    Reason reason = Reason::none;  // why there will never be one; none: there may be one later
  };
  struct Deadline {
    Seconds at;
    std::uint64_t order;
    std::size_t call;
    std::uint64_t request;  // the call's place may hold another one by then
    Outcome why;
    bool operator>(const Deadline& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  struct Read {  // a call that the front end is done with, or a later version of its prompt
    Seconds at;
    std::size_t call;
    std::uint64_t request;
    std::size_t version = 0;
  };
  struct NextVersion {  // of a prompt that comes bit by bit
    Seconds at;
    std::uint64_t order;
    std::size_t call;
    std::uint64_t request;
    std::size_t version;
    bool operator>(const NextVersion& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  struct Held {
    int priority;
    std::uint64_t request;
    std::size_t call;
    bool operator<(const Held& o) const { return priority != o.priority ? priority < o.priority : request < o.request; }
  };

  void on_call(std::size_t slot, int stage, Seconds now) override;
  void on_program_end(const workloads::Program& program, const TaskClock& clock, Outcome outcome, Seconds now) override;
  void pass_front_end();

  // Prompts that come bit by bit (gateway_versions.cpp).
  void expect_version(std::size_t call, std::size_t version, Seconds previous);
  void receive_version();
  void pass_on_version(Call& call, std::size_t version, Seconds now);
  static void set_prompt(Request& request, const std::vector<workloads::PromptVersion>& versions, std::size_t version,
                         Seconds now);
  [[nodiscard]] const std::vector<workloads::PromptVersion>& versions_of(const Call& call) const;

  void admit(std::size_t call, Seconds now);
  void admit_held(Seconds now);
  void send(Call& call, Seconds now);
  void wait_for_replica(Call& call, Seconds now);
  void stop_waiting(Call& call);
  void reject(Call& call, Outcome outcome, Reason reason, Seconds now);
  void answer(std::size_t call, Outcome outcome, Seconds now);
  void handle(const Due& due);

  // Which replica (gateway_placement.cpp).
  Choice choose(bool to_decode, const Request& request, Seconds now);
  [[nodiscard]] bool takes(const PoolState& pool, bool to_decode, const Request& request, std::int64_t uncached) const;
  [[nodiscard]] std::int64_t uncached_tokens(const Request& request, Seconds now);
  [[nodiscard]] bool holds(const PoolState& pool, const Request& request) const;
  [[nodiscard]] Reason hopeless(bool to_decode, const Request& request, std::int64_t uncached) const;

  void charge(std::size_t replica, const Request& request, std::int64_t sign, Seconds now);
  [[nodiscard]] static std::int32_t version(Due::What what, const Request& request);
  void report(Due::What what, const Request& request, Seconds at, Outcome outcome = {}, std::int64_t tokens = 0);

  // The life of replicas (gateway_fleet.cpp).
  void set_availability(Member& member, Availability availability, Seconds now);
  static void spend(PoolHistory& history, const Member& member, Seconds until);
  void refresh_targets();
  void begin_loading(Member& member, Seconds ready, Seconds now);
  void leave_when_drained(Member& member, Seconds now);
  [[nodiscard]] bool returns(const Member& member) const;
  [[nodiscard]] const PoolState& future_pool(const Member& member) const;
  void check_that_something_comes();
  void drained(Member& member, Seconds now);
  void make_ready(Seconds now);
  [[nodiscard]] Seconds next_ready() const;
  [[nodiscard]] Seconds next_control() const;
  void send_waiting(Seconds now);
  void begin_anew(std::size_t call, Seconds now);

  // Hand-overs (gateway_hand_over.cpp).
  void hand_over(Call& call, HandOver& hand_over, const Due& due);
  void expect(Call& call, HandOver& hand_over, Seconds now);
  void start_moving(Call& call, HandOver& hand_over, std::int64_t tokens, Seconds now);
  void finish_prompt(Call& call, HandOver& hand_over, Seconds now);
  void join(Call& call, const HandOver& hand_over, Seconds now);
  void recompute(Call& call, const HandOver& hand_over, Seconds now);
  void abandon(Call& call, const HandOver& hand_over, Seconds now);
  void give_up(const Deadline& deadline);
  void add_deadline(std::size_t call, Seconds at, Outcome why);
  void drop_stale_deadlines();

  GatewayConfig config_;
  workloads::Generator& generator_;
  std::vector<PoolState> pools_;
  std::deque<Member> members_;  // by replica
  RequestListener& listener_;
  std::function<void(std::size_t)> ring_;
  Diagnostics& diagnostics_;
  ProgramRunner programs_;

  std::deque<Call> calls_;
  std::vector<std::size_t> spare_calls_;
  std::vector<Due> due_;
  std::map<std::uint64_t, HandOver> hand_overs_;  // by request
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines_;
  std::set<std::pair<Seconds, std::size_t>> loading_;  // replicas by when they are ready
  bool by_length_ = false;                             // a pool takes calls by the length of their prompts
  Station front_end_{1};
  std::deque<Read> read_;  // in order of time; given-up calls are passed over
  std::priority_queue<NextVersion, std::vector<NextVersion>, std::greater<>> versions_;  // the next one of each call
  std::set<Held> held_;
  std::set<Held> unplaced_;

  Counters requests_;
  std::uint64_t next_request_ = 0;
  std::uint64_t next_deadline_ = 0, next_version_ = 0;
  std::uint64_t next_content_ = 0xffffffull << 40;  // answers that no program names: a range that no generator uses
  std::int64_t open_requests_ = 0;
  std::int64_t sent_requests_ = 0;
  std::int64_t moves_ = 0;  // of KV entries, under way
  std::int64_t begun_anew_ = 0, lost_tokens_ = 0;
  Seconds last_arrival_;
  Seconds replicas_woke_ = kNever;
  bool stopped_ = false;
};

}  // namespace llmscape::serving
