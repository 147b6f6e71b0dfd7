// SPDX-License-Identifier: Apache-2.0
// The parts of the gateway, each alone.
#include <doctest/doctest.h>

#include "sim/serving/gateway/admission.hpp"
#include "sim/serving/gateway/deadlines.hpp"
#include "sim/serving/gateway/front_end.hpp"
#include "sim/serving/gateway/reports.hpp"

namespace llmscape::serving {
namespace {

OpenCall& call_of(CallTable& calls, int priority = 0) {
  OpenCall& call = calls.add();
  call.request.priority = priority;
  return call;
}

}  // namespace

TEST_CASE("a call is found until it is answered, though another one has its place") {
  CallTable calls;
  OpenCall& first = call_of(calls);
  const CallRef name = ref(first.request);
  CHECK(calls.find(name) == &first);
  calls.close(first, Outcome::completed);
  CHECK(calls.find(name) == nullptr);
  OpenCall& second = call_of(calls);
  CHECK(second.request.gateway_slot == name.place);
  CHECK(calls.find(name) == nullptr);
  CHECK(calls.find(ref(second.request)) == &second);
  second.request.replica = 3;
  second.request.sequence.state = Sequence::State::decoding;
  call_of(calls).request.replica = 3;
  call_of(calls);
  const Counters all = calls.counters();
  CHECK(all.injected == 4);
  CHECK(all.completed == 1);
  CHECK(all.running == 1);
  CHECK(all.queued == 1);
  CHECK(all.waiting == 1);
  CHECK(all.accounted() == all.injected);
}

TEST_CASE("admission sends as many as it may, keeps some back by priority, and drops the others") {
  CallTable calls;
  Admission admission({1, 2});
  OpenCall& sent = call_of(calls);
  CHECK(admission.ask(sent, 0) == Admission::Answer::send);
  admission.on_sent();
  OpenCall& late = call_of(calls, 1);
  OpenCall& urgent = call_of(calls, 0);
  CHECK(admission.ask(late, 0) == Admission::Answer::wait);
  CHECK(admission.ask(urgent, 0) == Admission::Answer::wait);
  CHECK(late.stands == OpenCall::Stands::admission);
  CHECK(admission.ask(call_of(calls), 0) == Admission::Answer::drop);
  CHECK(admission.next() == nullptr);
  admission.on_left();
  CHECK(admission.next() == &urgent);
  CHECK(urgent.stands == OpenCall::Stands::admitted);
  admission.give_up(late);
  CHECK(admission.next() == nullptr);
}

TEST_CASE("without a limit every call is sent") {
  CallTable calls;
  Admission admission({});
  for (int i = 0; i < 100; ++i) {
    CHECK(admission.ask(call_of(calls), 0) == Admission::Answer::send);
    admission.on_sent();
  }
}

TEST_CASE("reports are handled by time, then by call, then by kind; what was told before a retry is void") {
  CallTable calls;
  std::vector<std::pair<std::uint64_t, Report::What>> handled;
  Reports reports(calls,
                  [&](OpenCall& call, const Report& report) { handled.emplace_back(call.request.id, report.what); });
  OpenCall& a = call_of(calls);
  OpenCall& b = call_of(calls);
  OpenCall& gone = call_of(calls);
  OpenCall& retried = call_of(calls);
  reports.add(Report::What::outcome, b.request, Seconds(2));
  reports.add(Report::What::reserved, a.request, Seconds(2));
  reports.add(Report::What::prompt_start, a.request, Seconds(2));
  reports.add(Report::What::outcome, gone.request, Seconds(1));
  reports.add(Report::What::outcome, retried.request, Seconds(1));
  reports.add(Report::What::outcome, b.request, Seconds(0.5));
  calls.close(gone, Outcome::cancelled);
  retried.request.begin_retry(Seconds(1));
  CHECK(reports.next_event() == Seconds(0.5));
  while (!reports.empty()) reports.run(reports.next_event());
  using What = Report::What;
  CHECK(handled == std::vector<std::pair<std::uint64_t, What>>{
                       {1, What::outcome}, {0, What::prompt_start}, {0, What::reserved}, {1, What::outcome}});
  CHECK(reports.next_event() == kNever);
}

TEST_CASE("a retry keeps what the call has waited for and counts what was answered as lost") {
  Request request;
  request.arrival = Seconds(1);
  request.clock.start(RequestPhase::front_end, Seconds(1));
  request.clock.enter(RequestPhase::queued, Seconds(2));
  request.replica = 4;
  request.schedule = request.first_token = Seconds(3);
  request.emitted = 7;
  request.begin_retry(Seconds(5));
  CHECK(request.replica == -1);
  CHECK_FALSE(request.answered());
  CHECK(request.schedule == kNever);
  CHECK(request.lost == 7);
  CHECK(request.emitted == 0);
  CHECK(request.attempt == 1);
  CHECK(request.clock.spent()[static_cast<std::size_t>(RequestPhase::front_end)] == Seconds(1));
  CHECK(request.clock.spent()[static_cast<std::size_t>(RequestPhase::lost)] == Seconds(3));
}

TEST_CASE("deadlines come in order, and not of calls that were answered before") {
  CallTable calls;
  std::vector<std::pair<std::uint64_t, Outcome>> given_up;
  Deadlines deadlines(calls,
                      [&](OpenCall& call, Outcome why, Seconds) { given_up.emplace_back(call.request.id, why); });
  OpenCall& a = call_of(calls);
  OpenCall& b = call_of(calls);
  OpenCall& answered = call_of(calls);
  deadlines.add(a, Seconds(5), Outcome::timed_out);
  deadlines.add(b, Seconds(5), Outcome::cancelled);
  deadlines.add(b, kNever, Outcome::timed_out);
  deadlines.add(answered, Seconds(1), Outcome::timed_out);
  calls.close(answered, Outcome::completed);
  CHECK(deadlines.next_event() == Seconds(5));
  deadlines.run(Seconds(5));
  deadlines.run(Seconds(5));
  CHECK(given_up == std::vector<std::pair<std::uint64_t, Outcome>>{{0, Outcome::timed_out}, {1, Outcome::cancelled}});
  CHECK(deadlines.next_event() == kNever);
}

TEST_CASE("the front end reads one call after the other, and passes over those that were given up") {
  CallTable calls;
  std::vector<std::pair<std::uint64_t, double>> passed;
  FrontEnd front_end({Seconds(0.5), Seconds(0.01)}, calls,
                     [&](OpenCall& call, std::size_t, Seconds at) { passed.emplace_back(call.request.id, at.si()); });
  OpenCall& a = call_of(calls);
  OpenCall& given_up = call_of(calls);
  OpenCall& b = call_of(calls);
  front_end.read(a, 0, front_end.takes(50), Seconds(0));         // 0.5 + 50 x 0.01: until 1
  front_end.read(given_up, 0, front_end.takes(50), Seconds(0));  // nobody waits for it
  calls.close(given_up, Outcome::timed_out);
  while (front_end.next_event() <= Seconds(3)) front_end.run(front_end.next_event());
  front_end.read(b, 0, front_end.takes(150), Seconds(3));  // 0.5 + 1.5 from 3: until 5
  while (front_end.next_event() < kNever) front_end.run(front_end.next_event());
  CHECK(passed == std::vector<std::pair<std::uint64_t, double>>{{0, 1.0}, {2, 5.0}});
}

// By hand, a second a call: A is read from 0 to 1 s. B, C and D wait; B is given up at 1.5 s while it is read (to 2 s),
// C and D while they wait. So E, of 1.6 s, is read from 2 to 3 s.
TEST_CASE("the front end passes over calls that were given up while they waited, and reads on one that it reads") {
  CallTable calls;
  std::vector<std::pair<std::uint64_t, double>> read;
  FrontEnd front({Seconds(1), Seconds()}, calls,
                 [&](OpenCall& call, std::size_t, Seconds at) { read.emplace_back(call.request.id, at.si()); });
  const auto arrives = [&](double at) -> OpenCall& {
    OpenCall& call = call_of(calls);
    front.read(call, 0, front.takes(100), Seconds(at));
    return call;
  };
  const auto until = [&](double time) {
    while (front.next_event() <= Seconds(time)) front.run(front.next_event());
  };
  OpenCall& a = arrives(0);
  const std::uint64_t first = a.request.id;
  OpenCall &b = arrives(0.1), &c = arrives(0.2), &d = arrives(0.3);
  until(1.5);
  calls.close(b, Outcome::timed_out);
  calls.close(c, Outcome::timed_out);
  OpenCall& e = arrives(1.6);
  const std::uint64_t last = e.request.id;
  until(1.7);
  calls.close(d, Outcome::timed_out);
  until(10);
  CHECK(read == std::vector<std::pair<std::uint64_t, double>>{{first, 1}, {last, 3}});
  CHECK(front.next_event() == kNever);
}

}  // namespace llmscape::serving
