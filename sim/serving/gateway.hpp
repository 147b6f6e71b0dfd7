// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <vector>

#include "sim/serving/counters.hpp"
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
  // A program has ended.
  virtual void on_task(const workloads::Program& program, Outcome outcome, Seconds at) = 0;
};

struct GatewayConfig {
  Seconds timeout = kNever;                     // of one model call, from its arrival
  std::optional<std::int64_t> max_outstanding;  // calls sent to replicas and not answered; more wait in the gateway ...
  std::int64_t max_waiting = -1;                // ... unless as many wait already: then they are dropped; -1: no limit
  std::int64_t retrieval_servers = 0;           // 0: no queue at the retrieval station
  Seconds horizon = kNever;                     // the run stops here, finished or not
};

// Owns every request from its arrival until it is answered, runs the programs that emit them, and chooses their replicas.
// Plain C++ with the clock handed in.
class Gateway : public OutcomeListener {
 public:
  // `ring(i)` tells that replica i has a message; mistakes in a trace go to `diagnostics`.
  Gateway(GatewayConfig config, workloads::Generator& generator, std::unique_ptr<Router> router,
          std::vector<Replica*> replicas, RequestListener& listener, std::function<void(std::size_t)> ring,
          Diagnostics& diagnostics);
  ~Gateway() override;

  [[nodiscard]] Seconds next_event();
  // Does everything that is due at `now`, in order of time; ties: outcomes, then timers, then new programs.
  void wake(Seconds now);
  // Nothing is open and nothing will come; or the horizon is reached.
  [[nodiscard]] bool done();
  [[nodiscard]] bool stopped_at_horizon() const { return stopped_; }

  void on_outcome(Request& request, Outcome outcome, Seconds at) override;

  // Where everything stands; the open ones are looked up.
  [[nodiscard]] Counters requests() const;
  [[nodiscard]] Counters tasks() const;
  // Calls fn for each request that has not left the system.
  void for_each_open(const std::function<void(const Request&)>& fn) const;
  [[nodiscard]] Seconds last_arrival() const { return last_arrival_; }
  // Throws std::logic_error naming the invariant that does not hold.
  void check_invariants() const;

 private:
  struct ActiveProgram;
  struct Call;
  struct Timer;
  struct Due;

  void start_program(workloads::Program program);
  void start_stage(ActiveProgram& active, int stage, Seconds now);
  void begin_work(ActiveProgram& active, int stage, Seconds now);
  void end_stage(ActiveProgram& active, int stage, Seconds now);
  void end_program(ActiveProgram& active, Seconds now);
  void receive(ActiveProgram& active, int stage, Seconds now);
  void send(Call& call, Seconds now);
  void send_waiting(Seconds now);
  void answer(Call& call, Outcome outcome, Seconds now);
  void run_timer(const Timer& timer);
  void drop_stale_timers();
  void add_timer(Timer timer);
  static void count(Counters& counters, Outcome outcome);

  GatewayConfig config_;
  workloads::Generator& generator_;
  std::unique_ptr<Router> router_;
  std::vector<RoutingTarget> targets_;
  RequestListener& listener_;
  std::function<void(std::size_t)> ring_;
  Station retrieval_;
  Diagnostics& diagnostics_;

  std::deque<ActiveProgram> programs_;
  std::vector<std::size_t> spare_programs_;
  std::deque<Call> calls_;
  std::vector<std::size_t> spare_calls_;
  std::vector<Due> outcomes_;  // reported by replicas, not yet handled
  struct TimerOrder { bool operator()(const Timer& a, const Timer& b) const; };
  std::priority_queue<Timer, std::vector<Timer>, TimerOrder> timers_;
  std::set<std::pair<std::pair<int, std::uint64_t>, std::size_t>> held_;  // ((priority, id), call): wait for admission

  Counters requests_, tasks_;
  std::uint64_t next_request_ = 0;
  std::uint64_t next_program_ = 0;
  std::uint64_t next_timer_ = 0;
  std::uint64_t next_content_ = 0xffffffull << 40;  // answers that no program names: a range that no generator uses
  std::int64_t open_programs_ = 0;
  std::int64_t open_requests_ = 0;
  std::int64_t sent_requests_ = 0;
  Seconds last_arrival_;
  bool stopped_ = false;
};

}  // namespace llmscape::serving
