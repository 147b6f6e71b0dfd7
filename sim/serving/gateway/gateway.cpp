// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/gateway.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace llmscape::serving {

using workloads::Program;
using workloads::Stage;

Gateway::Gateway(GatewayConfig config, workloads::Generator& generator, std::vector<Pool> pools,
                 RequestListener& listener, std::function<void(std::size_t)> ring, Diagnostics& diagnostics)
    : config_(std::move(config)), generator_(generator), listener_(listener), diagnostics_(diagnostics),
      admission_(config_.admission), reports_(calls_,
                                              [this](OpenCall& call, const Report& report) {
                                                if (transfers_.contains(call)) return transfers_.handle(call, report);
                                                if (report.what == Report::What::outcome)
                                                  answer(call, call.ends_with(report.outcome), report.at);
                                              }),
      state_(std::move(pools), std::move(ring)),
      fleet_(state_, unplaced_, admission_.waiting(),
             {[this](std::size_t i, Availability is, Seconds at) { listener_.on_availability(i, is, at); },
              [this](std::size_t i, const std::vector<Request*>& calls, Seconds at) { on_replica_lost(i, calls, at); },
              [this](Seconds at) { offer_waiting(at); }}),
      placer_(config_.placement, state_, fleet_, config_.controllers),
      programs_(config_.retrieval_servers, config_.retrieval ? &*config_.retrieval : nullptr, config_.streaming_input,
                *this),
      deadlines_(calls_, [this](OpenCall& call, Outcome why, Seconds at) { give_up(call, why, at); }),
      front_end_(config_.front_end, calls_,
                 [this](OpenCall& call, std::size_t version, Seconds at) {
                   if (version > 0) versions_.pass_on(call, version, at);
                   else if (call.stands == OpenCall::Stands::front_end) admit(call, at);
                 }),
      transfers_(config_.move_by_layer, config_.move_kv, {calls_, state_, fleet_, placer_, reports_, *this}),
      versions_(config_.streaming_input, {calls_, programs_, state_, front_end_}) {}

Seconds Gateway::next_event() { return std::min(next_of_others(), reports_.next_event()); }

Seconds Gateway::next_of_others() {
  if (!others_known_) {
    first_other_ = first_of_others();
    others_known_ = true;
  }
  return std::min(config_.horizon, first_other_.at);
}

Gateway::Due Gateway::first_of_others() {
  Due first;
  const auto ask = [&first](auto* source) {
    const Seconds at = source->next_event();
    if (at < first.at) first = {source, at};
  };
  std::apply([&ask](auto*... sources) { (ask(sources), ...); }, others_);
  return first;
}

bool Gateway::done() {
  // A call that was given up outlives its program until its replica has left it.
  return stopped_ || (programs_.idle() && calls_.open() == 0 && reports_.empty() && generator_.next_start() == kNever);
}

void Gateway::wake(Seconds now) {
  // What follows from what a replica did at this instant comes after all steps that were to be planned at it, also
  // those that were planned ahead: a replica that is told something, or asked, plans them first.
  settling_ = replicas_woke_ == now;
  Due other = others_known_ ? first_other_ : first_of_others();
  others_known_ = false;
  for (;;) {
    const Due report{&reports_, reports_.next_event()};
    const Due& first = report.at <= other.at ? report : other;
    if (first.at > now) break;
    first.source->run(first.at);
    if (stands_still_) break;
    other = first_of_others();
  }
  if (now >= std::min(config_.horizon, config_.clock_end) || stands_still_) stopped_ = true;
  if (settling_ && done()) fleet_.settle(now);
  settling_ = false;
  first_other_ = other;
  others_known_ = true;
}

void Gateway::Arrivals::run(Seconds now) {
  auto program = gateway_.generator_.next(gateway_.diagnostics_);
  if (!program) return;
  gateway_.listener_.on_task_start(*program, now);
  gateway_.programs_.start(std::move(*program));
}

Seconds Gateway::Controllers::next_event() {
  Seconds next = kNever;
  for (const Controller* controller : gateway_.config_.controllers) next = std::min(next, controller->next_event());
  return next;
}

void Gateway::Controllers::run(Seconds now) {
  for (Controller* controller : gateway_.config_.controllers)
    if (controller->next_event() <= now) controller->act(gateway_.fleet_, now);
  gateway_.offer_waiting(now);
  gateway_.check_that_something_comes();
}

// A controller that acts at intervals must not hide that nothing else will ever happen.
void Gateway::check_that_something_comes() {
  if (calls_.open() == 0 || !unplaced_.empty() || transfers_.moving() > 0 || fleet_.works()) return;
  const auto comes = [](EventSource* source) { return source->moves_calls() && source->next_event() < kNever; };
  if (comes(&reports_) || std::apply([&comes](auto*... others) { return (comes(others) || ...); }, others_)) return;
  throw std::logic_error("INV-1: " + std::to_string(calls_.open()) + " calls are open and nobody goes on with them");
}

void Gateway::on_program_end(const Program& program, const TaskRun& run, Outcome outcome, Seconds now) {
  generator_.finished(program, now);
  listener_.on_task(program, run, outcome, now);
}

// A model call arrives.
void Gateway::on_call(std::size_t slot, int stage, Seconds now) {
  OpenCall& call = calls_.add();
  const Program& program = programs_.program(slot);
  const Stage& what = program.stages[static_cast<std::size_t>(stage)];
  call.program = slot;
  call.stage = stage;
  Request& request = call.request;
  if (what.versions.empty()) {
    request.prompt = what.prompt;
    request.prompt_tokens = tokens_of(request.prompt);
    request.context_complete = request.latest_version = now;
  } else {
    versions_.begin(call, now);
  }
  call.prompt_tokens = request.prompt_tokens;
  request.output_tokens = what.output_tokens;
  request.output = what.output ? what.output : ++next_content_;
  request.priority = program.priority;
  request.slo_class = program.slo_class;
  request.model = what.model;
  request.session = program.session;
  request.arrival = last_arrival_ = now;
  request.clock.start(RequestPhase::front_end, now);
  listener_.on_arrival(request, calls_.open());
  deadlines_.add(call, now + config_.timeout, Outcome::timed_out);
  // Patience counts from the start of the stage, not from when its prompt was sent.
  const Seconds waited = what.versions.empty() ? Seconds() : versions_.waited(call);
  deadlines_.add(call, std::max(now, now + what.give_up - waited), Outcome::cancelled);
  const Seconds reading = front_end_.takes(request.prompt_tokens);
  if (reading == Seconds()) return admit(call, now);
  call.stands = OpenCall::Stands::front_end;
  front_end_.read(call, 0, reading, now);
}

void Gateway::admit(OpenCall& call, Seconds now) {
  switch (admission_.ask(call, unsent_)) {
    case Admission::Answer::send: return send(call, now);
    case Admission::Answer::wait: return call.request.clock.enter(RequestPhase::held, now);
    case Admission::Answer::drop: return reject(call, Outcome::dropped, Reason::queue_full, now);
  }
}

void Gateway::send(OpenCall& call, Seconds now) {
  Request& request = call.request;
  const auto refuse = [&](Reason reason) {
    reject(call, reason == Reason::no_replica ? Outcome::failed : Outcome::dropped, reason, now);
  };
  const Placer::Choice choice = placer_.choose(false, request, now);
  call.uncached = choice.uncached;
  if (!choice.replica) return choice.reason == Reason::none ? wait_for_replica(call, now) : refuse(choice.reason);
  if (state_.pool_of(*choice.replica).role == Role::prefill && request.output_tokens > 1) {
    if (const Reason never = placer_.hopeless(true, request, request.prompt_tokens); never != Reason::none)
      return refuse(never);
    transfers_.begin(call, *choice.replica);
  }
  request.replica = static_cast<int>(*choice.replica);
  request.prompt_pool = static_cast<int>(fleet_.pool_of(*choice.replica));
  call.announced = call.let_wait = false;
  admission_.on_sent();
  fleet_.charge(*choice.replica, call, +1, now);
  state_.replica(*choice.replica).submit(request, transfers_.contains(call), now);
  state_.ring(*choice.replica);
}

void Gateway::wait_for_replica(OpenCall& call, Seconds now) {
  if (!std::exchange(call.announced, true))
    for (Controller* controller : config_.controllers) controller->on_waiting(call.request, now);
  // One that is at no replica yet waits beside those that wait for admission.
  if (call.request.replica < 0 && !call.let_wait && admission_.too_many(unsent_))
    return reject(call, Outcome::dropped, Reason::queue_full, now);
  // A call may look for a decoder while its prompt is computed.
  const bool computed_elsewhere = transfers_.contains(call) && !transfers_.between_replicas(call);
  if (!call.request.answered() && !computed_elsewhere) call.request.clock.enter(RequestPhase::held, now);
  if (std::exchange(call.waits_for_replica, true)) return;
  unplaced_.add(call);
  if (call.request.replica < 0) {
    call.let_wait = call.waits_unsent = true;
    ++unsent_;
  }
}

void Gateway::stop_waiting(OpenCall& call) {
  if (std::exchange(call.waits_for_replica, false)) unplaced_.erase(call);
  if (std::exchange(call.waits_unsent, false)) --unsent_;
}

// Calls for which no replica was there look again.
void Gateway::offer_waiting(Seconds now) {
  unplaced_.take_all([&](OpenCall& call) {
    call.waits_for_replica = false;
    if (std::exchange(call.waits_unsent, false)) --unsent_;
    if (transfers_.contains(call)) transfers_.expect(call, now);
    else admit(call, now);
  });
}

void Gateway::reject(OpenCall& call, Outcome outcome, Reason reason, Seconds now) {
  call.request.reason = reason;
  if (reason == Reason::queue_full || reason == Reason::no_replica) watch_time(call, now);
  on_outcome(call.request, outcome, now);
}

// Nothing changes within an instant: a user who is refused at once for want of room, and asks again at once, would do
// so for ever. Each may ask once and more.
void Gateway::watch_time(const OpenCall& call, Seconds now) {
  const int user = programs_.program(call.program).user;
  if (user < 0 || call.request.arrival < now) return;
  if (std::exchange(refused_at_, now) != now) refused_at_once_ = 0;
  users_ = std::max<std::int64_t>(users_, user + 1);
  if (++refused_at_once_ > kMostRefusedAtOnce + 2 * users_) stands_still_ = true;
}

void Gateway::answer(OpenCall& call, Outcome outcome, Seconds now) {
  const Request& request = call.request;
  stop_waiting(call);
  calls_.close(call, outcome);
  if (request.replica >= 0) {
    admission_.on_left();
    fleet_.charge(static_cast<std::size_t>(request.replica), call, -1, now);
  }
  listener_.on_request(request, outcome, now);
  tell_controllers(call, outcome, now);
  if (!call.unwanted) programs_.answered(call.program, call.stage, outcome, call.request.prefilled, now);
  while (OpenCall* const next = admission_.next()) send(*next, now);
}

void Gateway::tell_controllers(const OpenCall& call, Outcome outcome, Seconds now) {
  const auto concerns = [this, &call](std::size_t pool) {
    const Request& request = call.request;
    if (request.prompt_pool >= 0) return request.prompt_pool == static_cast<int>(pool);
    return takes(state_.pools[pool], false, request, call.uncached.value_or(call.prompt_tokens));
  };
  for (Controller* controller : config_.controllers) controller->on_request(call.request, concerns, outcome, now);
}

void Gateway::give_up(OpenCall& call, Outcome why, Seconds now) {
  stop_waiting(call);
  if (call.stands == OpenCall::Stands::admission) admission_.give_up(call);
  call.stands = OpenCall::Stands::admitted;
  if (call.request.replica < 0) return on_outcome(call.request, why, now);
  if (call.unwanted) return;
  if (transfers_.between_replicas(call)) return on_outcome(call.request, why, now);
  const auto replica = static_cast<std::size_t>(call.request.replica);
  // At equal times outcomes come first.
  if (!transfers_.contains(call) && state_.replica(replica).answers_now(call.request, now)) return;
  call.unwanted = why;
  state_.replica(replica).cancel(call.request, why, now);
  state_.ring(replica);
  // Whoever waited for it does so no longer; the replica hears of it when it next plans.
  programs_.answered(call.program, call.stage, why, call.request.prefilled, now);
}

void Gateway::on_replica_lost(std::size_t replica, const std::vector<Request*>& requests, Seconds now) {
  std::set<std::size_t> places;
  for (const Request* request : requests) places.insert(request->gateway_slot);
  transfers_.on_lost(replica, places, now);
  // Tried again by priority and arrival, wherever they are kept.
  std::vector<OpenCall*> again;
  for (const std::size_t place : places) again.push_back(&calls_.at(place));
  std::ranges::sort(again, {},
                    [](const OpenCall* call) { return std::pair(call->request.priority, call->request.id); });
  for (OpenCall* call : again) retry(*call, now);
}

// The client hears nothing more of the answer that broke off: all of it comes again.
void Gateway::retry(OpenCall& call, Seconds now) {
  Request& request = call.request;
  transfers_.withdraw(call, now);
  stop_waiting(call);
  call.announced = false;
  fleet_.charge(static_cast<std::size_t>(request.replica), call, -1, now);
  admission_.on_left();
  lost_tokens_ += request.emitted;
  request.begin_retry(now);
  if (call.unwanted) return answer(call, *call.unwanted, now);
  versions_.restore(call, now);
  if (request.attempt > config_.retries) return reject(call, Outcome::failed, Reason::replica_lost, now);
  ++retried_;
  admit(call, now);
}

void Gateway::check_invariants() const {
  const auto check = [](const char* what, const Counters& c) {
    if (c.accounted() != c.injected)
      throw std::logic_error("INV-1: " + std::string(what) + ": injected " + std::to_string(c.injected) +
                             ", accounted for " + std::to_string(c.accounted()));
  };
  check("requests", calls_.counters());
  check("tasks", programs_.counters());
}

}  // namespace llmscape::serving
