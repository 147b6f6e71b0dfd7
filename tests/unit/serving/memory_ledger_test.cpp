// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/memory_ledger.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace llmscape;
using models::MemoryKind;
using serving::MemoryLedger;

namespace {

// Ten tokens of hidden width, a vocabulary, and nothing else.
models::ModelSpec small_model() {
  models::LayerGroup group;
  group.count = 1;
  group.softmax() = {.heads = 1, .kv_heads = 1, .head_dim = 4};
  group.feed_forward.width = 10;
  models::ModelSpec model;
  model.hidden = 5;
  model.vocabulary = 100;
  model.groups = {group};
  return model;
}

models::Batch prompt(const std::array<models::PrefillChunk, 1>& chunks) {
  models::Batch batch;
  batch.chunks = chunks;
  return batch;
}

}  // namespace

TEST_CASE("the largest step is that of the largest sum, not of the largest kinds") {
  MemoryLedger ledger({.weights = Bytes(1000), .block = Bytes(10), .steps = {small_model(), {}, {}}});
  const std::array wide = {models::PrefillChunk{100, 0, false}}, narrow = {models::PrefillChunk{1, 0, false}};
  // 100 tokens of 2 x 5 + 3 x 10 elements of 16 bits; then more blocks and fewer tokens.
  ledger.count(prompt(wide), 10, Seconds(1));
  CHECK(ledger.peak() == Bytes(1000 + 100 + 8000));
  ledger.count(prompt(narrow), 500, Seconds(2));
  CHECK(ledger.peak() == Bytes(1000 + 100 + 8000));
  CHECK(ledger.largest().start == Seconds(1));
  CHECK(ledger.largest().prompt_tokens == 100);
  ledger.count(prompt(narrow), 900, Seconds(3));
  CHECK(ledger.peak() == Bytes(1000 + 9000 + 80));
  CHECK(ledger.largest().by_kind.of(MemoryKind::kv) == Bytes(9000));
  CHECK(ledger.largest().by_kind.of(MemoryKind::activations) == Bytes(80));
  ledger.check_invariants(0);
}

TEST_CASE("blocks beyond the devices' are on the host, and slots are held whether they are used or not") {
  const std::array chunk = {models::PrefillChunk{1, 0, false}};
  MemoryLedger spills({.weights = Bytes(1), .block = Bytes(10), .device_blocks = 30, .steps = {small_model(), {}, {}}});
  spills.count(prompt(chunk), 500, Seconds(1));
  CHECK(spills.largest().by_kind.of(MemoryKind::kv) == Bytes(300));
  MemoryLedger slots({.weights = Bytes(1), .block = Bytes(10), .slot_blocks = 64, .steps = {small_model(), {}, {}}});
  slots.count(prompt(chunk), 2, Seconds(1));
  CHECK(slots.largest().by_kind.of(MemoryKind::kv) == Bytes(640));
}
