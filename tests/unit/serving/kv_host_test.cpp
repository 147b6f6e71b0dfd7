// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_host.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace llmscape;
using llmscape::testing::approx;
using serving::KvCopies;
using serving::KvHost;
using serving::KvHostConfig;
using serving::KvStepCopies;

namespace {

// 1,000 blocks behind 600 in HBM. Of a token 600 B are of layers that attend to everything, 400 B of layers with a
// window of 50; 4 layers in all, over 1 MB/s in and 2 MB/s out, 1 ms a copy.
KvHostConfig host(std::int64_t device_blocks, KvCopies copies) {
  return {device_blocks,
          {{0, 0, {}, 600}, {1, 50, {}, 400}},
          4,
          BytesPerSecond(1e6),
          BytesPerSecond(2e6),
          Seconds(1e-3),
          copies,
          false,
          Bytes(16e3)};
}

// A chunk of 160 tokens behind 320 and two decodes that see 1,002 entries each.
struct Step {
  std::array<models::PrefillChunk, 1> chunks{{{160, 320, false}}};
  std::array<models::Attended, 2> attended{{{2004, 1002}, {100, 50}}};
  models::Batch batch;
  Step() {
    batch.chunks = chunks;
    batch.decodes = 2;
    batch.attended = attended;
  }
};

}  // namespace

TEST_CASE("all on the host: a step writes what it computes and reads what it attends to") {
  const Step step;
  const KvHost all(host(0, KvCopies::in_turn));
  const KvStepCopies traffic = all.copies(step.batch, 100, 112, Seconds(1));
  CHECK(traffic.written.si() == 162 * 1000);
  // 320 + 2 x 1,001 entries of the full layers; 49 of the chunk's window, 2 x 49 of the decodes'.
  CHECK(traffic.read.si() == 2322 * 600 + (49 + 98) * 400);
  CHECK(traffic.wait.si() == approx(traffic.read.si() / 1e6 + traffic.written.si() / 2e6 + 8e-3));
}

TEST_CASE("overlapped, the layers of a step pass a line of three: in, compute, out") {
  const Step step;
  const KvStepCopies in_turn = KvHost(host(0, KvCopies::in_turn)).copies(step.batch, 100, 112, Seconds(1));
  const double in = in_turn.read.si() / 1e6 + 4e-3, out = in_turn.written.si() / 2e6 + 4e-3;
  const KvHost lined_up(host(0, KvCopies::overlapped));
  for (const double compute : {0.01, 1.0, 100.0}) {
    CAPTURE(compute);
    const double longest = std::max({in, out, compute});
    const KvStepCopies traffic = lined_up.copies(step.batch, 100, 112, Seconds(compute));
    CHECK(traffic.wait.si() + compute == approx((in + compute + out + 3 * longest) / 4));
    CHECK(traffic.wait < in_turn.wait);
    CHECK(traffic.read == in_turn.read);
  }
}

TEST_CASE("blocks in use fill HBM first: what overflows is written, and its share of the entries read") {
  const Step step;
  const KvHost behind(host(600, KvCopies::in_turn));
  const KvStepCopies none = behind.copies(step.batch, 500, 600, Seconds(1));
  CHECK(none.read + none.written == Bytes());
  CHECK(none.wait == Seconds());
  const double all_written = 162e3, all_read = 2322 * 600 + 147 * 400;
  const KvStepCopies half = behind.copies(step.batch, 590, 610, Seconds(1));  // half of the new blocks
  CHECK(half.written.si() == approx(all_written / 2));
  CHECK(half.read == Bytes());
  const KvStepCopies beyond = behind.copies(step.batch, 800, 812, Seconds(1));
  CHECK(beyond.written.si() == approx(all_written));
  CHECK(beyond.read.si() == approx(all_read * 200 / 800));
  // Tokens of blocks that were taken before, beside others that are on the host.
  CHECK(behind.copies(step.batch, 800, 800, Seconds(1)).written.si() == approx(all_written));
}

TEST_CASE("a chunk that passes a part of the layers moves the entries of that part") {
  Step step;
  step.batch.decodes = 0;
  const KvHost all(host(0, KvCopies::in_turn));
  const KvStepCopies whole = all.copies(step.batch, 100, 112, Seconds(1));
  step.batch.prefill_layers = 0.25;
  const KvStepCopies quarter = all.copies(step.batch, 100, 112, Seconds(1));
  CHECK(quarter.read.si() == approx(whole.read.si() / 4));
  CHECK(quarter.written.si() == approx(whole.written.si() / 4));
}
