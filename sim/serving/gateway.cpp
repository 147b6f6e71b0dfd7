// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace llmscape::serving {

using workloads::Program;
using workloads::Stage;

Gateway::Gateway(GatewayConfig config, workloads::Generator& generator, std::vector<Pool> pools,
                 RequestListener& listener, std::function<void(std::size_t)> ring, Diagnostics& diagnostics)
    : config_(std::move(config)), generator_(generator), listener_(listener), ring_(std::move(ring)),
      diagnostics_(diagnostics), programs_(config_.retrieval_servers, config_.retrieval ? &*config_.retrieval : nullptr,
                                           config_.streaming_input, *this) {
  for (Pool& pool : pools) {
    by_length_ = by_length_ || pool.accepts.by_length();
    const std::int64_t started = static_cast<std::int64_t>(pool.replicas.size()) - pool.off;
    std::int64_t place = 0;
    for (Replica* replica : pool.replicas) {
      Member& member = members_.emplace_back();
      member.replica = replica;
      member.index = members_.size() - 1;
      member.pool = pools_.size();
      member.wanted = place++ < started;
      if (member.wanted) member.provisioned.switch_on(Seconds());
      else member.availability = Availability::off;
    }
    pools_.push_back({pool.role, std::move(pool.router), pool.kv_per_token, pool.model, std::move(pool.accepts),
                      std::move(pool.kv_of_prompt)});
  }
  refresh_targets();
}

Seconds Gateway::next_event() {
  drop_stale_deadlines();
  Seconds next =
      std::min({generator_.next_start(), programs_.next_event(), next_control(), next_ready(), config_.horizon});
  if (!deadlines_.empty()) next = std::min(next, deadlines_.top().at);
  if (!read_.empty()) next = std::min(next, read_.front().at);
  if (!versions_.empty()) next = std::min(next, versions_.top().at);
  for (const Due& due : due_) next = std::min(next, due.at);
  return next;
}

bool Gateway::done() { return stopped_ || (programs_.idle() && due_.empty() && generator_.next_start() == kNever); }

void Gateway::wake(Seconds now) {
  // What follows from what a replica did at this instant comes after all steps that were to be planned at it, also
  // those that were planned ahead.
  if (replicas_woke_ == now)
    for (Member& member : members_) member.replica->settle(now);
  for (;;) {
    std::sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) {
      if (a.at != b.at) return a.at > b.at;  // the earliest last
      return a.request != b.request ? a.request > b.request : a.what > b.what;
    });
    drop_stale_deadlines();
    const Seconds reported = due_.empty() ? kNever : due_.back().at;
    const Seconds deadline = deadlines_.empty() ? kNever : deadlines_.top().at;
    const Seconds read = read_.empty() ? kNever : read_.front().at;
    const Seconds version = versions_.empty() ? kNever : versions_.top().at;
    const Seconds control = next_control(), ready = next_ready();
    const Seconds next =
        std::min({reported, control, ready, programs_.next_event(), version, deadline, generator_.next_start(), read});
    if (next > now || next == kNever) break;
    if (reported == next) {
      const Due due = due_.back();
      due_.pop_back();
      handle(due);
    } else if (control == next) {
      for (Controller* controller : config_.controllers)
        if (controller->next_event() <= next) controller->act(*this, next);
      send_waiting(next);
      check_that_something_comes();
    } else if (ready == next) {
      make_ready(next);
    } else if (programs_.next_event() == next) {
      programs_.run_next();
    } else if (version == next) {
      receive_version();
    } else if (deadline == next) {
      const Deadline due = deadlines_.top();
      deadlines_.pop();
      give_up(due);
    } else if (generator_.next_start() == next) {
      if (auto program = generator_.next(diagnostics_)) {
        listener_.on_task_start(*program, next);
        programs_.start(std::move(*program));
      }
    } else {
      pass_front_end();
    }
  }
  if (now >= config_.horizon) stopped_ = true;
}

// What was reported before the request began anew, or before another replica was asked to decode it, is void.
std::int32_t Gateway::version(Due::What what, const Request& request) {
  const bool of_decoder = what == Due::What::reserved || what == Due::What::arrived || what == Due::What::lost;
  return of_decoder ? request.asked : request.attempt;
}

void Gateway::report(Due::What what, const Request& request, Seconds at, Outcome outcome, std::int64_t tokens) {
  due_.push_back({what, at, request.gateway_slot, request.id, version(what, request), outcome, tokens});
}

void Gateway::on_outcome(Request& request, Outcome outcome, Seconds at) {
  report(Due::What::outcome, request, at, outcome);
}

void Gateway::on_program_end(const Program& program, const TaskClock& clock, Outcome outcome, Seconds now) {
  generator_.finished(program, now);
  listener_.on_task(program, clock, outcome, now);
}

// A model call arrives.
void Gateway::on_call(std::size_t slot, int stage, Seconds now) {
  if (spare_calls_.empty()) {
    spare_calls_.push_back(calls_.size());
    calls_.emplace_back();
  }
  const std::size_t place = spare_calls_.back();
  spare_calls_.pop_back();
  Call& call = calls_[place];
  const Program& program = programs_.program(slot);
  const Stage& what = program.stages[static_cast<std::size_t>(stage)];
  call = Call{};
  call.program = slot;
  call.stage = stage;
  call.open = true;
  Request& request = call.request;
  request.id = next_request_++;
  request.gateway_slot = place;
  if (what.versions.empty()) {
    request.prompt = what.prompt;
    request.prompt_tokens = tokens_of(request.prompt);
    request.context_complete = request.latest_version = now;
  } else {
    request.versioned = true;
    set_prompt(request, what.versions, config_.streaming_input ? 0 : what.versions.size() - 1, now);
  }
  call.prompt_tokens = request.prompt_tokens;
  request.output_tokens = what.output_tokens;
  request.output = what.output ? what.output : ++next_content_;
  request.priority = program.priority;
  request.slo_class = program.slo_class;
  request.model = what.model;
  request.session = program.session;
  request.arrival = now;
  request.clock.start(RequestPhase::front_end, now);
  last_arrival_ = now;
  ++requests_.injected;
  ++open_requests_;
  listener_.on_arrival(request, open_requests_);
  add_deadline(place, now + config_.timeout, Outcome::timed_out);
  // Patience counts from the start of the stage, not from when its prompt was sent.
  const Seconds waited = what.versions.empty()     ? Seconds()
                         : config_.streaming_input ? what.versions.front().at
                                                   : what.versions.back().at;
  add_deadline(place, std::max(now, now + what.give_up - waited), Outcome::cancelled);
  if (!request.complete) expect_version(place, 1, now);
  const Seconds reading = config_.front_end.of(request.prompt_tokens);
  if (reading == Seconds()) return admit(place, now);
  call.in_front = true;
  read_.push_back({front_end_.serve(now, reading), place, request.id});
}

void Gateway::pass_front_end() {
  const Read read = read_.front();
  read_.pop_front();
  Call& call = calls_[read.call];
  if (call.request.id != read.request || !call.open) return;
  if (read.version > 0) return pass_on_version(call, read.version, read.at);
  if (!call.in_front) return;
  call.in_front = false;
  admit(read.call, read.at);
}

void Gateway::admit(std::size_t place, Seconds now) {
  Call& call = calls_[place];
  if (!config_.max_outstanding || sent_requests_ < *config_.max_outstanding) {
    send(call, now);
  } else if (config_.max_waiting < 0 || static_cast<std::int64_t>(held_.size()) < config_.max_waiting) {
    call.held = true;
    call.request.clock.enter(RequestPhase::held, now);
    held_.insert({call.request.priority, call.request.id, place});
  } else {
    reject(call, Outcome::dropped, Reason::queue_full, now);
  }
}

void Gateway::admit_held(Seconds now) {
  while (!held_.empty() && sent_requests_ < *config_.max_outstanding) {
    Call& call = calls_[held_.begin()->call];
    held_.erase(held_.begin());
    call.held = false;
    send(call, now);
  }
}

void Gateway::wait_for_replica(Call& call, Seconds now) {
  if (!std::exchange(call.announced, true))
    for (Controller* controller : config_.controllers) controller->on_waiting(call.request, now);
  call.unplaced = true;
  if (!call.request.answered()) call.request.clock.enter(RequestPhase::held, now);
  unplaced_.insert({call.request.priority, call.request.id, call.request.gateway_slot});
}

void Gateway::stop_waiting(Call& call) {
  call.unplaced = false;
  unplaced_.erase({call.request.priority, call.request.id, call.request.gateway_slot});
}

void Gateway::reject(Call& call, Outcome outcome, Reason reason, Seconds now) {
  call.request.reason = reason;
  on_outcome(call.request, outcome, now);
}

void Gateway::charge(std::size_t replica, const Request& request, std::int64_t sign, Seconds now) {
  Member& charged = members_[replica];
  charged.outstanding_requests += sign;
  charged.outstanding_tokens += sign * (calls_[request.gateway_slot].prompt_tokens + request.output_tokens);
  if (charged.outstanding_requests == 0 && charged.availability == Availability::draining) drained(charged, now);
}

void Gateway::send(Call& call, Seconds now) {
  Request& request = call.request;
  const Choice choice = choose(false, request, now);
  call.uncached = choice.uncached;
  if (!choice.member) {
    if (choice.reason == Reason::none) return wait_for_replica(call, now);
    return reject(call, choice.reason == Reason::no_replica ? Outcome::failed : Outcome::dropped, choice.reason, now);
  }
  Member& member = *choice.member;
  if (pools_[member.pool].role == Role::prefill && request.output_tokens > 1) {
    if (const Reason never = hopeless(true, request, request.prompt_tokens); never != Reason::none)
      return reject(call, never == Reason::no_replica ? Outcome::failed : Outcome::dropped, never, now);
    request.hand_over = true;
    hand_overs_[request.id] = {request.gateway_slot, member.index};
  }
  request.replica = static_cast<int>(member.index);
  call.announced = false;
  ++sent_requests_;
  charge(member.index, request, +1, now);
  member.replica->submit(request, now);
  ring_(member.index);
}

void Gateway::handle(const Due& due) {
  Call& call = calls_[due.call];
  // What was moved for a call that has been given up, or what a replica said that has been lost since.
  if (!call.open || call.request.id != due.request || due.version != version(due.what, call.request)) return;
  const auto found = hand_overs_.find(due.request);
  if (found != hand_overs_.end()) return hand_over(call, found->second, due);
  if (due.what == Due::What::outcome) answer(due.call, due.outcome, due.at);
}

void Gateway::answer(std::size_t place, Outcome outcome, Seconds now) {
  Call& call = calls_[place];
  const Request& request = call.request;
  call.open = false;
  requests_.count(outcome);
  --open_requests_;
  if (request.replica >= 0) {
    --sent_requests_;
    charge(static_cast<std::size_t>(request.replica), request, -1, now);
  }
  listener_.on_request(request, outcome, now);
  for (Controller* controller : config_.controllers) controller->on_request(request, outcome, now);
  spare_calls_.push_back(place);
  programs_.answered(call.program, call.stage, outcome, now);
  if (config_.max_outstanding) admit_held(now);
}

void Gateway::add_deadline(std::size_t place, Seconds at, Outcome why) {
  if (at != kNever) deadlines_.push({at, next_deadline_++, place, calls_[place].request.id, why});
}

// Deadlines of calls that were answered before: most of them.
void Gateway::drop_stale_deadlines() {
  while (!deadlines_.empty()) {
    const Deadline& next = deadlines_.top();
    if (calls_[next.call].open && calls_[next.call].request.id == next.request) return;
    deadlines_.pop();
  }
}

void Gateway::give_up(const Deadline& deadline) {
  Call& call = calls_[deadline.call];
  if (call.unplaced) stop_waiting(call);
  if (call.in_front) {
    call.in_front = false;
    on_outcome(call.request, deadline.why, deadline.at);
  } else if (call.held) {
    held_.erase({call.request.priority, call.request.id, deadline.call});
    call.held = false;
    on_outcome(call.request, deadline.why, deadline.at);
  } else if (call.request.replica < 0) {
    on_outcome(call.request, deadline.why, deadline.at);
  } else if (!call.unwanted) {
    call.unwanted = deadline.why;
    const auto found = hand_overs_.find(call.request.id);
    if (found != hand_overs_.end() && found->second.prefilled) {  // between two replicas
      on_outcome(call.request, deadline.why, deadline.at);
      return;
    }
    const auto replica = static_cast<std::size_t>(call.request.replica);
    members_[replica].replica->cancel(call.request, deadline.why, deadline.at);
    ring_(replica);
  }
}

void Gateway::for_each_open(const std::function<void(const Request&)>& fn) const {
  for (const Call& call : calls_)
    if (call.open) fn(call.request);
}

Counters Gateway::requests() const {
  Counters now = requests_;
  for_each_open([&](const Request& request) {
    if (request.replica < 0) {
      ++now.waiting;
    } else if (request.state == Request::State::waiting) {
      ++now.queued;
    } else {
      ++now.running;
    }
  });
  return now;
}

void Gateway::check_invariants() const {
  const auto check = [](const char* what, const Counters& c) {
    if (c.accounted() != c.injected)
      throw std::logic_error("INV-1: " + std::string(what) + ": injected " + std::to_string(c.injected) +
                             ", accounted for " + std::to_string(c.accounted()));
  };
  check("requests", requests());
  check("tasks", tasks());
}

}  // namespace llmscape::serving
