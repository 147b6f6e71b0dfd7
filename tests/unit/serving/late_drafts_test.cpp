// SPDX-License-Identifier: Apache-2.0
// Sequences with drafts beside those whose drafts would be late.
#include <doctest/doctest.h>

#include <deque>

#include "base/random.hpp"
#include "sim/serving/replica/decode_set.hpp"

namespace late_drafts_test {

using namespace llmscape;
using namespace llmscape::serving;

namespace {

Request request_with(std::uint64_t id, std::int64_t context, std::int64_t output) {
  Request request;
  request.id = id;
  request.sequence.computed = context;
  request.emitted = 1;
  request.output_tokens = output;
  return request;
}

}  // namespace

TEST_CASE("two sequences, of which one is late: five tokens and one, and each sees its own context") {
  DecodeSet set({0}, 16, {4, 1, RandomStreams(1), 120});  // all drafts are accepted
  Request close = request_with(1, 100, 31), far = request_with(2, 500, 31);
  set.join(close);
  set.join(far);
  CHECK(set.size() == 2);
  CHECK(set.late() == 1);
  CHECK(set.attended()[0] == models::Attended{105 + 501, 501});
  CHECK(set.drafted()[0] == models::Attended{105, 105});
  CHECK(set.attended(2)[0] == models::Attended{115 + 503, 503});
  CHECK(set.steps_to_finish() == 4);  // then the first reaches further than drafts in time
  std::vector<Request*> finished;
  for (int pass = 0; pass < 4; ++pass) set.advance(finished);
  CHECK(finished.empty());
  CHECK(set.late() == 2);
  CHECK(set.drafted().empty());
  CHECK(close.emitted == 21);
  CHECK(set.accepted() == 20 - 4);
  CHECK(set.accepted(close) == 0);
  CHECK(set.has_decoded(close));
  CHECK(set.attended()[0] == models::Attended{121 + 505, 505});
  CHECK(set.most_tokens() == 1);
  CHECK(set.tokens_to_finish() == 10 + 26);
  for (int pass = 0; pass < 10; ++pass) set.advance(finished);
  REQUIRE(finished.size() == 1);
  CHECK(finished[0] == &close);
  CHECK(close.sequence.computed == 130);
  CHECK(far.emitted + set.answered(far) == 15);
}

TEST_CASE(
    "the blocks that are taken and given back are those of all that is computed, through joins, leaves and ends") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed);
    const int block = static_cast<int>(random.integer(1, 20));
    const auto blocks_for = [&](std::int64_t tokens) { return (tokens + block - 1) / block; };
    DecodeSet set({0, 40, 100}, block, {4, 0.8, RandomStreams(1), 150});
    std::deque<Request> requests;
    std::vector<Request*> in, finished;
    std::int64_t held = 0, went_late = 0, answered = 0;
    const auto gone = [&](Request& request) {
      held -= blocks_for(request.sequence.allocated);
      std::erase(in, &request);
    };
    for (int round = 0; round < 400; ++round) {
      if (random.chance(0.3)) {
        const std::int64_t context = random.integer(1, 200);
        Request& request = requests.emplace_back(request_with(requests.size(), context, random.integer(2, 200)));
        held += blocks_for(context);
        in.push_back(&request);
        set.join(request);
        CHECK_FALSE(set.has_decoded(request));
      }
      if (!in.empty() && random.chance(0.05)) {
        Request& request = *in[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(in.size()) - 1))];
        set.leave(request);
        CHECK(request.emitted < request.output_tokens);
        gone(request);
      }
      held += set.blocks_needed();
      const std::int64_t ahead = std::min(set.steps_to_crossing(), set.steps_to_finish() - 1);
      std::vector<models::Attended> foreseen;
      if (ahead >= 1 && !in.empty()) foreseen.assign(set.attended(1).begin(), set.attended(1).end());
      const std::int64_t blocks = ahead >= 1 ? set.blocks_needed(1) : 0;
      finished.clear();
      set.advance(finished);
      for (Request* request : finished) {
        CHECK(request->emitted == request->output_tokens);
        went_late += request->sequence.outgrew_drafts ? 1 : 0;
        gone(*request);
      }
      if (!foreseen.empty()) {
        CHECK(std::vector(set.attended().begin(), set.attended().end()) == foreseen);
        CHECK(set.blocks_needed() == blocks);
      }
      REQUIRE(set.size() == static_cast<std::int64_t>(in.size()));
      for (const Request* request : in) answered += set.answered(*request) > 0 ? 1 : 0;
    }
    while (!in.empty()) {
      Request& request = *in.front();
      set.leave(request);
      gone(request);
    }
    CHECK(held == 0);
    CHECK(set.attended()[0].sum == 0);
    CHECK(went_late > 5);
    CHECK(answered > 0);
  }
}

TEST_CASE("a limit that no context reaches changes nothing") {
  DecodeSet plain({0, 100}, 16, {4, 0.8, RandomStreams(1)}), limited({0, 100}, 16, {4, 0.8, RandomStreams(1), 1 << 20});
  std::deque<Request> ones, others;
  std::vector<Request*> finished;
  for (std::uint64_t id = 0; id < 8; ++id) {
    for (auto* set : {&plain, &limited}) {
      auto& requests = set == &plain ? ones : others;
      set->join(requests.emplace_back(request_with(id, 50 + 20 * static_cast<std::int64_t>(id), 100)));
    }
  }
  for (int pass = 0; pass < 60; ++pass) {
    CHECK(plain.attended()[0] == limited.attended()[0]);
    CHECK(plain.attended()[1] == limited.attended()[1]);
    CHECK(plain.blocks_needed() == limited.blocks_needed());
    CHECK(plain.last_growth() == limited.last_growth());
    plain.advance(finished);
    limited.advance(finished);
  }
  CHECK(finished.size() == 16);
  CHECK(limited.late() == 0);
}

}  // namespace late_drafts_test
