// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/decode_set.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/random.hpp"

using namespace llmscape;
using namespace llmscape::serving;

namespace {

Request request_with(std::int64_t context, std::int64_t emitted, std::int64_t output) {
  Request request;
  request.sequence.computed = context;
  request.emitted = emitted;
  request.output_tokens = output;
  return request;
}

}  // namespace

TEST_CASE("contexts grow by one token a step, the new one included") {
  DecodeSet set({0}, 16);
  Request a = request_with(100, 1, 10);
  Request b = request_with(30, 1, 4);
  set.join(a);
  set.join(b);
  CHECK(set.attended()[0].sum == 101 + 31);
  CHECK(set.attended()[0].max == 101);
  CHECK(set.attended(2)[0].sum == 103 + 33);
  CHECK(set.tokens_to_finish() == 9 + 3);
  CHECK(set.steps_to_finish() == 3);
  std::vector<Request*> finished;
  set.advance(finished);
  set.advance(finished);
  CHECK(finished.empty());
  set.advance(finished);
  REQUIRE(finished.size() == 1);
  CHECK(finished[0] == &b);
  CHECK(b.sequence.computed == 33);
  CHECK(b.emitted == 4);
  CHECK(set.attended()[0].sum == 104);
  CHECK(set.tokens_to_finish() == 6);
}

TEST_CASE("the aggregates equal sums over the sequences, through joins, leaves, ends and windows") {
  const std::vector<std::int64_t> laws = {0, 40, 100};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed);
    DecodeSet set(laws, 16);
    struct Naive {
      Request request;
      std::int64_t context;
      std::int64_t left;
      bool in = true;
    };
    std::deque<Naive> all;
    std::vector<Request*> finished;
    for (int round = 0; round < 400; ++round) {
      if (random.chance(0.3)) {
        const std::int64_t context = random.integer(1, 130);
        const std::int64_t output = random.integer(2, 60);
        Naive& n = all.emplace_back(Naive{request_with(context, 1, output), context, output - 1});
        set.join(n.request);
      }
      if (random.chance(0.05))
        for (Naive& n : all)
          if (n.in) {
            set.leave(n.request);
            CHECK(n.request.sequence.computed == n.context);
            n.in = false;
            break;
          }
      // Compare up to the next crossing, as a replica looks ahead.
      for (std::int64_t ahead = 0; ahead <= std::min<std::int64_t>(3, set.steps_to_crossing()); ++ahead) {
        const auto attended = set.attended(ahead);
        for (std::size_t law = 0; law < laws.size(); ++law) {
          std::int64_t sum = 0;
          std::int64_t max = 0;
          for (const Naive& n : all) {
            if (!n.in) continue;
            const std::int64_t seen =
                laws[law] > 0 ? std::min(laws[law], n.context + ahead + 1) : n.context + ahead + 1;
            sum += seen;
            max = std::max(max, seen);
          }
          REQUIRE(attended[law].sum == sum);
          REQUIRE(attended[law].max == max);
        }
        std::int64_t blocks = 0;
        for (const Naive& n : all) blocks += n.in && (n.context + ahead) % 16 == 0 ? 1 : 0;
        REQUIRE(set.blocks_needed(ahead) == blocks);
      }
      finished.clear();
      set.advance(finished);
      std::size_t ended = 0;
      for (Naive& n : all) {
        if (!n.in) continue;
        ++n.context;
        if (--n.left > 0) continue;
        n.in = false;
        REQUIRE(ended < finished.size());
        CHECK(finished[ended++] == &n.request);
      }
      REQUIRE(ended == finished.size());
    }
  }
}

TEST_CASE("steps in which nothing but the contexts changes come to the same at once and one by one") {
  const std::vector<std::int64_t> laws = {0, 40, 100};
  int together = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed);
    const Speculation speculation{seed % 2 == 0 ? 3 : 0, 0.7, RandomStreams(seed)};
    const std::int64_t ring = seed % 3 == 0 ? 64 : 0;
    DecodeSet set(laws, 16, speculation, ring), at_once(laws, 16, speculation, ring);
    std::deque<Request> all;
    std::vector<Request*> finished;
    for (int round = 0; round < 200; ++round) {
      if (random.chance(0.1)) {
        Request request = request_with(random.integer(1, 130), 1, random.integer(2, 300));
        request.id = all.size();
        for (DecodeSet* one : {&set, &at_once}) {
          all.push_back(request);
          one->join(all.back());
        }
      }
      if (set.size() > 0 && set.even_steps() > 0) {
        const std::int64_t steps = std::min(set.even_steps(), random.integer(1, 12));
        std::vector<std::int64_t> attended(laws.size()), summed(laws.size());
        at_once.add_attended(steps, attended);
        std::int64_t blocks = at_once.blocks_of(steps);
        at_once.advance_evenly(steps);
        for (std::int64_t step = 0; step < steps; ++step) {
          for (std::size_t law = 0; law < laws.size(); ++law) summed[law] += set.attended()[law].sum;
          blocks -= set.blocks_needed();
          set.advance(finished);
        }
        REQUIRE(attended == summed);
        REQUIRE(blocks == 0);
        REQUIRE(finished.empty());
        for (std::size_t law = 0; law < laws.size(); ++law) {
          REQUIRE(at_once.attended()[law].sum == set.attended()[law].sum);
          REQUIRE(at_once.attended()[law].max == set.attended()[law].max);
        }
        REQUIRE(at_once.step() == set.step());
        REQUIRE(at_once.blocks_needed() == set.blocks_needed());
        REQUIRE(at_once.last_growth() == set.last_growth());
        REQUIRE(at_once.tokens_to_finish() == set.tokens_to_finish());
        REQUIRE(at_once.steps_to_finish() == set.steps_to_finish());
        REQUIRE(at_once.steps_to_crossing() == set.steps_to_crossing());
        together += steps > 1 ? 1 : 0;
      }
      set.advance(finished);
      at_once.advance(finished);
      finished.clear();
    }
  }
  CHECK(together > 1000);
}

TEST_CASE("under speculation too: every sequence grows alike, and holds the blocks of all that it computes") {
  const Speculation speculation{4, 0.8, RandomStreams(1)};
  const std::vector<std::int64_t> laws = {0, 40, 100};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    RandomStream random(seed);
    const int block = static_cast<int>(random.integer(1, 20));
    DecodeSet set(laws, block, speculation);
    const auto blocks_for = [&](std::int64_t tokens) { return (tokens + block - 1) / block; };
    struct Naive {
      Request request;
      std::int64_t context;
      std::int64_t held;  // blocks
      bool in = true;
    };
    std::deque<Naive> all;
    std::vector<Request*> finished;
    const auto check_end = [&](Naive& n) {
      n.in = false;
      CHECK(blocks_for(n.request.sequence.allocated) == n.held);
    };
    for (std::int64_t round = 0; round < 400; ++round) {
      if (random.chance(0.3)) {
        const std::int64_t context = random.integer(1, 130);
        Naive& n =
            all.emplace_back(Naive{request_with(context, 1, random.integer(2, 200)), context, blocks_for(context)});
        n.request.id = all.size();
        set.join(n.request);
      }
      if (random.chance(0.05))
        for (Naive& n : all)
          if (n.in) {
            const std::int64_t steps = set.step() - n.request.sequence.joined_step;
            set.leave(n.request);
            CHECK(n.request.emitted >= 1 + steps);
            CHECK(n.request.emitted < n.request.output_tokens);
            check_end(n);
            break;
          }
      for (std::int64_t ahead = 0; ahead <= std::min<std::int64_t>(3, set.steps_to_crossing()); ++ahead) {
        const std::int64_t more = speculation.growth(set.step() + ahead) - speculation.growth(set.step()) + 5;
        const auto attended = set.attended(ahead);
        for (std::size_t law = 0; law < laws.size(); ++law) {
          std::int64_t sum = 0, max = 0;
          for (const Naive& n : all) {
            if (!n.in) continue;
            const std::int64_t seen = laws[law] > 0 ? std::min(laws[law], n.context + more) : n.context + more;
            sum += seen;
            max = std::max(max, seen);
          }
          REQUIRE(attended[law].sum == sum);
          REQUIRE(attended[law].max == max);
        }
      }
      std::int64_t blocks = 0;
      for (Naive& n : all) {
        if (!n.in) continue;
        const std::int64_t due = blocks_for(n.context + 5);
        blocks += due - n.held;
        n.held = due;
      }
      REQUIRE(set.blocks_needed() == blocks);
      const std::int64_t growth = speculation.growth(set.step() + 1) - speculation.growth(set.step());
      CHECK((growth == 3 || growth == 4));  // 3.3616 in the mean
      finished.clear();
      set.advance(finished);
      for (Naive& n : all) n.context += growth;
      for (Naive& n : all)
        if (n.in && n.request.sequence.end_step == set.step()) {
          CHECK(std::find(finished.begin(), finished.end(), &n.request) != finished.end());
          CHECK(n.request.emitted == n.request.output_tokens);
          check_end(n);
        }
    }
  }
}
