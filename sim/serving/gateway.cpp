// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace llmscape::serving {

using workloads::Program;
using workloads::Stage;

struct Gateway::ActiveProgram {
  Program program;
  std::size_t slot = 0;
  std::vector<int> missing;  // per stage: predecessors that have not ended
  int open_stages = 0;
  int open_calls = 0;
  bool called = false;       // a model call was made
  Outcome outcome = Outcome::completed;
};

struct Gateway::Call {
  Request request;
  std::size_t slot = 0;
  std::size_t program = 0;
  int stage = 0;
  bool open = false;
  bool held = false;      // waits in the gateway for admission
  bool unwanted = false;  // its replica was told to stop
};

struct Gateway::Timer {
  enum class Kind : std::uint8_t { start_stage, end_stage, give_up, timeout };
  Seconds at;
  std::uint64_t order;
  Kind kind;
  int stage;            // of start_stage and end_stage
  std::size_t slot;     // of the program, or of the call
  std::uint64_t request;  // of give_up and timeout: the call it was set for
};

struct Gateway::Due {
  Seconds at;
  std::size_t call;
  Outcome outcome;
  std::uint64_t request;
};

bool Gateway::TimerOrder::operator()(const Timer& a, const Timer& b) const {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
}

Gateway::Gateway(GatewayConfig config, workloads::Generator& generator, std::unique_ptr<Router> router,
                 std::vector<Replica*> replicas, RequestListener& listener, std::function<void(std::size_t)> ring,
                 Diagnostics& diagnostics)
    : config_(config),
      generator_(generator),
      router_(std::move(router)),
      listener_(listener),
      ring_(std::move(ring)),
      retrieval_(config.retrieval_servers),
      diagnostics_(diagnostics) {
  for (Replica* replica : replicas) targets_.push_back({replica, 0, 0});
}

Gateway::~Gateway() = default;

void Gateway::add_timer(Timer timer) {
  if (timer.at == kNever) return;
  timer.order = next_timer_++;
  timers_.push(timer);
}

// Timers of calls that were answered before: most of them, where there are time-outs.
void Gateway::drop_stale_timers() {
  while (!timers_.empty()) {
    const Timer& timer = timers_.top();
    if (timer.kind == Timer::Kind::start_stage || timer.kind == Timer::Kind::end_stage) return;
    if (calls_[timer.slot].open && calls_[timer.slot].request.id == timer.request) return;
    timers_.pop();
  }
}

Seconds Gateway::next_event() {
  drop_stale_timers();
  Seconds next = std::min(generator_.next_start(), config_.horizon);
  if (!timers_.empty()) next = std::min(next, timers_.top().at);
  for (const Due& due : outcomes_) next = std::min(next, due.at);
  return next;
}

bool Gateway::done() {
  return stopped_ || (open_programs_ == 0 && outcomes_.empty() && generator_.next_start() == kNever);
}

void Gateway::wake(Seconds now) {
  for (;;) {
    std::sort(outcomes_.begin(), outcomes_.end(), [](const Due& a, const Due& b) {
      return a.at != b.at ? a.at > b.at : a.request > b.request;  // the earliest last
    });
    const Seconds outcome = outcomes_.empty() ? kNever : outcomes_.back().at;
    drop_stale_timers();
    const Seconds timer = timers_.empty() ? kNever : timers_.top().at;
    const Seconds start = generator_.next_start();
    const Seconds next = std::min({outcome, timer, start});
    if (next > now || next == kNever) break;
    if (outcome == next) {
      const Due due = outcomes_.back();
      outcomes_.pop_back();
      answer(calls_[due.call], due.outcome, due.at);
    } else if (timer == next) {
      const Timer due = timers_.top();
      timers_.pop();
      run_timer(due);
    } else if (auto program = generator_.next(diagnostics_)) {
      start_program(std::move(*program));
    }
  }
  if (now >= config_.horizon) stopped_ = true;
}

void Gateway::on_outcome(Request& request, Outcome outcome, Seconds at) {
  outcomes_.push_back({at, request.gateway_slot, outcome, request.id});
}

void Gateway::start_program(Program program) {
  if (spare_programs_.empty()) {
    const std::size_t slot = programs_.size();
    programs_.emplace_back().slot = slot;
    spare_programs_.push_back(slot);
  }
  ActiveProgram& active = programs_[spare_programs_.back()];
  spare_programs_.pop_back();
  program.id = next_program_++;
  active.program = std::move(program);
  active.open_stages = static_cast<int>(active.program.stages.size());
  active.open_calls = 0;
  active.called = false;
  active.outcome = Outcome::completed;
  active.missing.clear();
  for (const Stage& stage : active.program.stages) active.missing.push_back(static_cast<int>(stage.after.size()));
  ++tasks_.injected;
  ++open_programs_;
  const Seconds start = active.program.start;
  for (std::size_t i = 0; i < active.program.stages.size(); ++i)
    if (active.missing[i] == 0) start_stage(active, static_cast<int>(i), start);
}

// The stage is ready at `now`: its delay begins.
void Gateway::start_stage(ActiveProgram& active, int stage, Seconds now) {
  const Stage& what = active.program.stages[static_cast<std::size_t>(stage)];
  if (what.delay > Seconds(0)) {
    add_timer({now + what.delay, 0, Timer::Kind::start_stage, stage, active.slot, 0});
  } else {
    begin_work(active, stage, now);
  }
}

void Gateway::begin_work(ActiveProgram& active, int stage, Seconds now) {
  const Stage& what = active.program.stages[static_cast<std::size_t>(stage)];
  switch (what.kind) {
    case Stage::Kind::model_call: receive(active, stage, now); break;
    case Stage::Kind::retrieval:
      add_timer({retrieval_.serve(now, what.service), 0, Timer::Kind::end_stage, stage, active.slot, 0});
      break;
    case Stage::Kind::tool:
    case Stage::Kind::pause:
      add_timer({now + what.service, 0, Timer::Kind::end_stage, stage, active.slot, 0});
      break;
  }
}

void Gateway::end_stage(ActiveProgram& active, int stage, Seconds now) {
  if (--active.open_stages == 0) return end_program(active, now);
  const std::vector<Stage>& stages = active.program.stages;
  for (std::size_t later = static_cast<std::size_t>(stage) + 1; later < stages.size(); ++later)
    for (const int before : stages[later].after)
      if (before == stage && --active.missing[later] == 0) start_stage(active, static_cast<int>(later), now);
}

void Gateway::end_program(ActiveProgram& active, Seconds now) {
  count(tasks_, active.outcome);
  --open_programs_;
  listener_.on_task(active.program, active.outcome, now);
  generator_.finished(active.program, now);
  spare_programs_.push_back(active.slot);
}

// A model call arrives.
void Gateway::receive(ActiveProgram& active, int stage, Seconds now) {
  if (spare_calls_.empty()) {
    const std::size_t slot = calls_.size();
    calls_.emplace_back().slot = slot;
    spare_calls_.push_back(slot);
  }
  Call& call = calls_[spare_calls_.back()];
  spare_calls_.pop_back();
  Stage& what = active.program.stages[static_cast<std::size_t>(stage)];
  call.program = active.slot;
  call.stage = stage;
  call.open = true;
  call.held = call.unwanted = false;
  Request& request = call.request;
  request = Request{};
  request.id = next_request_++;
  request.gateway_slot = call.slot;
  request.prompt = std::move(what.prompt);
  request.prompt_tokens = tokens_of(request.prompt);
  request.output_tokens = what.output_tokens;
  request.output = what.output ? what.output : ++next_content_;
  request.priority = active.program.priority;
  request.slo_class = active.program.slo_class;
  request.session = active.program.session;
  request.arrival = now;
  last_arrival_ = now;
  ++requests_.injected;
  ++open_requests_;
  ++active.open_calls;
  active.called = true;
  listener_.on_arrival(request, open_requests_);
  add_timer({now + config_.timeout, 0, Timer::Kind::timeout, stage, call.slot, request.id});
  add_timer({now + what.give_up, 0, Timer::Kind::give_up, stage, call.slot, request.id});

  if (!config_.max_outstanding || sent_requests_ < *config_.max_outstanding) {
    send(call, now);
  } else if (config_.max_waiting < 0 || static_cast<std::int64_t>(held_.size()) < config_.max_waiting) {
    call.held = true;
    held_.insert({{request.priority, request.id}, call.slot});
  } else {
    on_outcome(request, Outcome::dropped, now);
  }
}

void Gateway::send(Call& call, Seconds now) {
  Request& request = call.request;
  const std::size_t chosen = router_->choose(request, targets_, now);
  request.replica = static_cast<int>(chosen);
  RoutingTarget& target = targets_[chosen];
  ++sent_requests_;
  ++target.outstanding_requests;
  target.outstanding_tokens += request.prompt_tokens + request.output_tokens;
  target.replica->submit(request, now);
  ring_(chosen);
}

void Gateway::send_waiting(Seconds now) {
  while (!held_.empty() && sent_requests_ < *config_.max_outstanding) {
    Call& call = calls_[held_.begin()->second];
    held_.erase(held_.begin());
    call.held = false;
    send(call, now);
  }
}

void Gateway::run_timer(const Timer& timer) {
  if (timer.kind == Timer::Kind::start_stage) return begin_work(programs_[timer.slot], timer.stage, timer.at);
  if (timer.kind == Timer::Kind::end_stage) return end_stage(programs_[timer.slot], timer.stage, timer.at);
  const Outcome why = timer.kind == Timer::Kind::timeout ? Outcome::timed_out : Outcome::cancelled;
  Call& call = calls_[timer.slot];
  if (call.held) {
    held_.erase({{call.request.priority, call.request.id}, call.slot});
    call.held = false;
    on_outcome(call.request, why, timer.at);
  } else if (!std::exchange(call.unwanted, true)) {
    const auto replica = static_cast<std::size_t>(call.request.replica);
    targets_[replica].replica->cancel(call.request, why, timer.at);
    ring_(replica);
  }
}

void Gateway::answer(Call& call, Outcome outcome, Seconds now) {
  Request& request = call.request;
  call.open = false;
  count(requests_, outcome);
  --open_requests_;
  if (request.replica >= 0) {
    RoutingTarget& target = targets_[static_cast<std::size_t>(request.replica)];
    --sent_requests_;
    --target.outstanding_requests;
    target.outstanding_tokens -= request.prompt_tokens + request.output_tokens;
  }
  listener_.on_request(request, outcome, now);
  ActiveProgram& active = programs_[call.program];
  --active.open_calls;
  // An abandoned suggestion is part of the plan; whatever else ends a call early ends its task in the same way.
  if (outcome != Outcome::completed && outcome != Outcome::cancelled && active.outcome == Outcome::completed)
    active.outcome = outcome;
  spare_calls_.push_back(call.slot);
  end_stage(active, call.stage, now);
  if (config_.max_outstanding) send_waiting(now);
}

void Gateway::count(Counters& counters, Outcome outcome) {
  switch (outcome) {
    case Outcome::completed: ++counters.completed; break;
    case Outcome::cancelled: ++counters.cancelled; break;
    case Outcome::timed_out: ++counters.timed_out; break;
    case Outcome::dropped: ++counters.dropped; break;
    case Outcome::failed: ++counters.failed; break;
  }
}

void Gateway::for_each_open(const std::function<void(const Request&)>& fn) const {
  for (const Call& call : calls_)
    if (call.open) fn(call.request);
}

Counters Gateway::requests() const {
  Counters now = requests_;
  for (const Call& call : calls_) {
    if (!call.open) continue;
    if (call.request.replica < 0) {
      ++now.waiting;
    } else if (call.request.state == Request::State::waiting) {
      ++now.queued;
    } else {
      ++now.running;
    }
  }
  return now;
}

Counters Gateway::tasks() const {
  Counters now = tasks_;
  std::vector<bool> spare(programs_.size(), false);
  for (const std::size_t slot : spare_programs_) spare[slot] = true;
  for (const ActiveProgram& active : programs_) {
    if (spare[active.slot]) continue;
    if (active.open_calls > 0) {
      ++now.running;
    } else if (active.called) {
      ++now.waiting;
    } else {
      ++now.queued;
    }
  }
  return now;
}

void Gateway::check_invariants() const {
  const auto check = [](const char* what, const Counters& c) {
    if (c.accounted() != c.injected)
      throw std::logic_error("INV-1: " + std::string(what) + ": injected " + std::to_string(c.injected) + ", accounted for " +
                             std::to_string(c.accounted()));
  };
  check("requests", requests());
  check("tasks", tasks());
}

}  // namespace llmscape::serving
