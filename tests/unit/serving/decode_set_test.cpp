// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/decode_set.hpp"

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
  request.computed = context;
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
  CHECK(b.computed == 33);
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
            CHECK(n.request.computed == n.context);
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
