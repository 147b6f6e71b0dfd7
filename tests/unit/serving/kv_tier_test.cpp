// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_tier.hpp"

#include <doctest/doctest.h>

#include "base/random.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape;
using namespace llmscape::serving;
using llmscape::testing::approx;

namespace {

// A byte a block and 16 tokens a block: bandwidths are blocks per second.
KvTierConfig config(std::int64_t blocks, double bandwidth = 1, double latency = 0) {
  KvTierConfig c;
  c.name = "tier";
  c.blocks = blocks;
  c.block_bytes = Bytes(1);
  c.read = c.write = BytesPerSecond(bandwidth);
  c.latency = Seconds(latency);
  return c;
}

Channel links(double bandwidth) { return Channel(BytesPerSecond(bandwidth), Seconds()); }
Channel any_links() { return Channel(KvPrefixes::kAnyLinks, Seconds()); }

Prompt prompt(std::uint64_t id, std::int64_t blocks) { return {{id, 16 * blocks, 0}}; }

}  // namespace

TEST_CASE("transfers follow one another, and each pays the latency") {
  Channel channel(BytesPerSecond(10), Seconds(0.5));
  CHECK(channel.send(Bytes(20), Seconds(1)) == Seconds(3.5));
  CHECK(channel.arrival(Bytes(10), Seconds(2)) == Seconds(4.5));  // one second after the first
  CHECK(channel.send(Bytes(10), Seconds(2)) == Seconds(4.5));
  CHECK(channel.send(Bytes(10), Seconds(10)) == Seconds(11.5));
  CHECK(channel.busy(Seconds(10.5)).si() == approx(3.5));
  CHECK(channel.busy(Seconds(20)) == Seconds(4));
}

// 20 bytes are asked for at 1 s and 10 at 2 s, at 10 a second: at 3.5 s 25 of them have moved.
TEST_CASE("a link has moved no more than it could") {
  Channel channel(BytesPerSecond(10), Seconds(0.5));
  channel.send(Bytes(20), Seconds(1));
  channel.send(Bytes(10), Seconds(2));
  CHECK(channel.moved(Bytes(30), Seconds(3.5)).si() == approx(25));
  CHECK(channel.moved(Bytes(30), Seconds(4)) == Bytes(30));
}

TEST_CASE("blocks can be found when they have been written, and only new ones are") {
  KvTier tier(config(100, 2, 0.5), nullptr);
  tier.store(prompt(1, 4), 4, Seconds(0));
  CHECK(tier.match(prompt(1, 9), 9, Seconds(2.4)) == 0);
  CHECK(tier.match(prompt(1, 9), 9, Seconds(2.5)) == 4);
  tier.store(prompt(1, 6), 6, Seconds(3));
  CHECK(tier.match(prompt(1, 9), 9, Seconds(4.4)) == 4);  // the head stays readable meanwhile
  CHECK(tier.match(prompt(1, 9), 9, Seconds(4.5)) == 6);
  CHECK(tier.totals().blocks_written == 6);
}

// Four blocks in 0.4 s; over links that carry two a second they take 2 s, while the tier is free for others. The second
// ones over those links wait for the first: 12 + 2 + 0.5, though the tier has sent them by 11.2.
TEST_CASE("a reader's own links hold it up, one read after another, and nobody else") {
  KvTier tier(config(100, 10, 0.5), nullptr);
  Channel own = links(2), others = any_links();
  tier.store(prompt(1, 4), 4, Seconds(0));
  CHECK(tier.read_time(4, Seconds(10), others).si() == approx(0.9));
  CHECK(tier.read_time(4, Seconds(10), own).si() == approx(2.5));
  const auto slow = tier.read(prompt(1, 4), 0, 4, Seconds(10), own);
  const auto next = tier.read(prompt(1, 4), 0, 4, Seconds(10), others);
  CHECK(slow.arrival.si() == approx(12.5));
  CHECK(next.arrival.si() == approx(11.3));
  CHECK(tier.read_time(4, Seconds(10), own).si() == approx(4.5));
  const auto queued = tier.read(prompt(1, 4), 0, 4, Seconds(10), own);
  CHECK(queued.arrival.si() == approx(14.5));
  for (const auto& read : {slow, next, queued}) tier.release(read.tip);
}

// The tier is busy until 10.4, and so the links until then idle: 2 s behind that, not behind 10.
TEST_CASE("a read over own links begins when the store has come to it") {
  KvTier tier(config(100, 10, 0.5), nullptr);
  Channel own = links(2), others = any_links();
  tier.store(prompt(1, 4), 4, Seconds(0));
  const auto first = tier.read(prompt(1, 4), 0, 4, Seconds(10), others);
  const auto behind = tier.read(prompt(1, 4), 0, 4, Seconds(10), own);
  CHECK(behind.arrival.si() == approx(12.9));
  tier.release(first.tip);
  tier.release(behind.tip);
}

TEST_CASE("what was used longest ago is evicted, the tail before the head, and goes to the tier below") {
  KvTier below(config(100), nullptr);
  KvTier tier(config(10, 100), &below);
  tier.store(prompt(1, 4), 4, Seconds(0));
  tier.store(prompt(2, 4), 4, Seconds(1));
  tier.store(prompt(1, 4), 4, Seconds(2));  // used again
  tier.store(prompt(3, 5), 5, Seconds(3));
  CHECK(tier.match(prompt(1, 4), 4, Seconds(10)) == 4);
  CHECK(tier.match(prompt(2, 4), 4, Seconds(10)) == 1);  // three went for the five
  CHECK(tier.match(prompt(3, 5), 5, Seconds(10)) == 5);
  CHECK(below.match(prompt(2, 4), 4, Seconds(10)) == 4);  // as a whole
  CHECK(tier.totals().evicted == 3);
  tier.check_invariants();
  tier.forget();
  CHECK(tier.held() == 0);
  tier.check_invariants();
}

TEST_CASE("what is being written or read stays; what does not fit is not kept") {
  KvTier tier(config(10, 1), nullptr);
  tier.store(prompt(1, 6), 6, Seconds(0));
  tier.store(prompt(2, 6), 6, Seconds(1));
  CHECK(tier.totals().rejected == 2);
  CHECK(tier.match(prompt(2, 6), 6, Seconds(100)) == 4);
  Channel all = any_links();
  const KvTier::Read read = tier.read(prompt(1, 6), 2, 6, Seconds(100), all);
  CHECK(read.arrival == Seconds(104));
  CHECK(tier.read_time(3, Seconds(101), all) == Seconds(6));  // three seconds of queue
  tier.store(prompt(3, 9), 9, Seconds(101));
  CHECK(tier.match(prompt(1, 6), 6, Seconds(102)) == 6);
  CHECK(tier.match(prompt(3, 9), 9, Seconds(200)) == 4);
  tier.release(read.tip);
  tier.store(prompt(3, 9), 9, Seconds(200));
  CHECK(tier.match(prompt(3, 9), 9, Seconds(300)) == 9);
  tier.check_invariants();
}

TEST_CASE("a tier never holds more than it can, and its blocks add up, whatever comes (INV-16)") {
  RandomStream random(7);
  KvTier below(config(60, 3), nullptr);
  KvTier tier(config(40, 5), &below);
  Channel all = any_links();
  std::vector<PrefixNode*> reads;
  double now = 0;
  for (int i = 0; i < 20'000; ++i) {
    now += random.exponential(1);
    const std::uint64_t id = random.below(12);
    const std::int64_t blocks = random.integer(1, 20);
    if (random.chance(0.6)) {
      tier.store(prompt(id, blocks), blocks, Seconds(now));
    } else if (const std::int64_t held = tier.match(prompt(id, blocks), blocks, Seconds(now)); held > 0) {
      reads.push_back(tier.read(prompt(id, blocks), 0, held, Seconds(now), all).tip);
    }
    if (!reads.empty() && random.chance(0.5)) {
      tier.release(reads.back());
      reads.pop_back();
    }
    tier.check_invariants();
    below.check_invariants();
    if (reads.empty() && random.chance(0.001)) tier.forget();
  }
  CHECK(tier.totals().evicted > 1000);
  CHECK(below.totals().evicted > 100);
}
