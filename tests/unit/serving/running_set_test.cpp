// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "sim/serving/replica/kv_exchange.hpp"
#include "sim/serving/replica/running_set.hpp"

using namespace llmscape;
using namespace llmscape::serving;

TEST_CASE("running sequences stand in order of admission, and a slot that is kept counts") {
  RunningSet running(1);
  Request a, b, c;
  running.enter(a);
  running.enter(b);
  running.enter(c);
  CHECK(running.last() == &c);
  running.leave(b);
  CHECK(running.last() == &c);
  CHECK(c.sequence.previous == &a);
  CHECK(a.sequence.next == &c);
  running.leave(c);
  CHECK(running.last() == &a);
  CHECK(running.fits(2, -1));
  running.keep_slot(-1);
  CHECK(running.size() == 2);
  CHECK_FALSE(running.fits(2, -1));
  CHECK(running.fits(3, -1));
  running.free_slot(-1);
  running.leave(a);
  CHECK(running.size() == 0);
  CHECK(running.last() == nullptr);
}

TEST_CASE("an adapter in use leaves none for another") {
  RunningSet running(1);
  Request a, b;
  a.sequence.adapter = 4;
  running.enter(a);
  CHECK(running.fits(100, 4));
  CHECK_FALSE(running.fits(100, 5));
  b.sequence.adapter = 4;
  running.enter(b);
  running.leave(a);
  CHECK_FALSE(running.fits(100, 5));
  running.leave(b);
  CHECK(running.fits(100, 5));
}

TEST_CASE("a sequence counts the bubbles between its admission and its end") {
  RunningSet running(1);
  Request early, late;
  running.count_bubble(Seconds(1));
  running.enter(early);
  running.count_bubble(Seconds(2));
  running.enter(late);
  running.count_bubble(Seconds(4));
  running.leave(early);
  running.count_bubble(Seconds(8));
  running.leave(late);
  CHECK(early.bubble == Seconds(6));
  CHECK(late.bubble == Seconds(12));
}

TEST_CASE("expected sequences are given slots and blocks in order: one that does not fit holds up those behind it") {
  EngineConfig config;
  config.kv.blocks = 10;
  config.kv_laws = {0};
  EngineState state(config);
  KvExchange exchange(state, 8);
  Request large, small, tiny;
  std::uint64_t id = 0;
  for (auto [request, tokens] : {std::pair{&large, 140}, {&small, 40}, {&tiny, 5}}) {
    request->id = ++id;
    request->prompt = {{id, tokens, 0}};
    request->prompt_tokens = tokens;
    request->output_tokens = 5;
    exchange.expect(*request, id, -1);
  }
  const KvImport* first = exchange.reserve_next();
  REQUIRE(first != nullptr);
  CHECK(first->request == &large);
  CHECK(state.kv.pool.used() == 9);
  CHECK(exchange.reserve_next() == nullptr);  // three blocks of one that is free; the last would fit
  exchange.forget(2);
  REQUIRE(exchange.reserve_next() != nullptr);
  CHECK(state.running.size() == 2);

  large.sequence.computed = 140;
  large.emitted = 1;
  large.latest_token = Seconds(1);
  exchange.join(1);
  CHECK(large.sequence.state == Sequence::State::decoding);
  CHECK(state.decoding.size() == 1);
  CHECK(state.running.size() == 2);
  tiny.sequence.computed = 5;
  exchange.join(3);  // its first token is answered here: the last token of the prompt is computed again
  CHECK(tiny.sequence.state == Sequence::State::prefilling);
  CHECK(tiny.sequence.computed == 4);
  CHECK(state.prefilling.size() == 1);
}

TEST_CASE("lent blocks stay until they are read, and all is given back when the engine is lost") {
  EngineConfig config;
  config.kv.blocks = 10;
  config.kv_laws = {0};
  EngineState state(config);
  KvExchange exchange(state, 8);
  StepPlan plan;
  Request request;
  request.id = 1;
  request.prompt = {{1, 40, 0}};
  request.prompt_tokens = 40;
  request.output_tokens = 5;
  request.sequence.decodes_elsewhere = true;
  state.waiting.push(request);
  state.admit(request, 0, Seconds(1));
  state.schedule_chunk(request, 40, plan);
  REQUIRE(plan.finished.size() == 1);
  exchange.lend(request);
  CHECK(state.running.size() == 0);
  CHECK(exchange.lends());
  CHECK(state.kv.pool.used() == 3);

  SUBCASE("read") {
    exchange.release(1);
    CHECK_FALSE(exchange.lends());
    CHECK(state.kv.pool.used() == 0);
  }
  SUBCASE("lost") {
    Request other;
    other.id = 2;
    other.prompt = {{2, 20, 0}};
    other.prompt_tokens = 20;
    exchange.expect(other, 2, -1);
    REQUIRE(exchange.reserve_next() != nullptr);
    CHECK(state.kv.pool.used() == 5);
    exchange.lose();
    CHECK(state.kv.pool.used() == 0);
    CHECK(state.running.size() == 0);
    CHECK_FALSE(exchange.lends());
  }
}

TEST_CASE("a queue of several priorities is in order whoever comes and leaves, and moves nobody who waits behind") {
  WaitingQueue queue;
  std::vector<Request> requests(8);  // priorities 5, 1, 5, 1, ..., by arrival
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].id = i;
    requests[i].priority = i % 2 == 0 ? 5 : 1;
    queue.push(requests[i]);
  }
  const auto ids = [&queue] {
    std::vector<std::uint64_t> all;
    queue.visit([&all](const Request& request) {
      all.push_back(request.id);
      return true;
    });
    return all;
  };
  using Ids = std::vector<std::uint64_t>;
  CHECK(ids() == Ids{1, 3, 5, 7, 0, 2, 4, 6});
  queue.erase(requests[1]);
  queue.erase(requests[0]);  // has waited for too long
  queue.erase(requests[0]);  // does not wait
  CHECK(queue.front().id == 3);
  CHECK(queue.size() == 6);
  CHECK(queue.moved() == 0);
  queue.erase(requests[5]);  // between two
  CHECK(queue.moved() == 1);
  requests[0].priority = -1;
  queue.push(requests[0]);
  CHECK(ids() == Ids{0, 3, 7, 2, 4, 6});
  queue.erase(requests[0]);
  queue.push(requests[1]);  // preempted: at the front of its own
  CHECK(ids() == Ids{1, 3, 7, 2, 4, 6});
  CHECK(queue.moved() == 1);

  const auto by_tokens = [](const Request& r) {
    return Standing{r.priority, false, -static_cast<double>(r.sequence.swapped), r.id};
  };
  const auto standing = [&] {
    Ids all;
    for (const auto& [place, request] : queue.in_order(by_tokens)) all.push_back(request->id);
    return all;
  };
  CHECK(standing() == Ids{1, 3, 7, 2, 4, 6});
  requests[7].sequence.swapped = requests[6].sequence.swapped = requests[0].sequence.swapped = 10;
  queue.restand(requests[7]);
  queue.restand(requests[6]);
  queue.restand(requests[0]);  // does not wait
  CHECK(standing() == Ids{7, 1, 3, 6, 2, 4});
  queue.erase(requests[7]);
  queue.erase(requests[2]);
  CHECK(standing() == Ids{1, 3, 6, 4});
  for (const std::uint64_t id : Ids{1, 3, 6, 4}) queue.erase(requests[id]);
  CHECK(queue.empty());
  CHECK(standing().empty());
}
