// SPDX-License-Identifier: Apache-2.0
// What a step takes of a device's memory beside weights and KV entries, against figures worked out by hand.
#include "models/step_memory.hpp"

#include <array>

#include "model_fixtures.hpp"

using namespace llmscape::models;
using namespace llmscape;

namespace {

// Llama-3.1-8B: a chunk of so many tokens behind 10,000, the last of its prompt, beside two decodes over 5,000 entries.
MemoryByKind taken(const Execution& execution, std::int64_t tokens = 256) {
  const std::array chunks = {PrefillChunk{tokens, 10'000, true}};
  const std::array attended = {Attended{5'000, 3'000}};
  Batch batch;
  batch.chunks = chunks;
  batch.decodes = 2;
  batch.attended = attended;
  MemoryByKind memory;
  StepMemory(catalogued("llama-3.1-8b"), {}, execution).tell(batch, memory);
  return memory;
}

constexpr double kInMixer = (2 * 4096 + 6144 + 4096) * 2, kInFeedForward = (2 * 4096 + 3 * 14'336) * 2;

}  // namespace

TEST_CASE("usually the feed-forward takes most: two hidden states and three of its widths a token") {
  const MemoryByKind memory = taken({});
  CHECK(memory.of(MemoryKind::activations).si() == 258 * kInFeedForward);
  CHECK(memory.total() == memory.of(MemoryKind::activations));
  // What pools are sized by adds the logits of as many rows as sequences.
  CHECK(memory_need(catalogued("llama-3.1-8b"), {}, 258, 3).activations.si() ==
        258 * kInFeedForward + 3 * 128'256 * 4.0);
}

TEST_CASE("of few tokens the head takes most: a hidden state and 32 bits for each row that is sampled") {
  const MemoryByKind memory = taken({}, 1);
  CHECK(memory.of(MemoryKind::activations).si() == 3 * 4096 * 2.0);
  CHECK(memory.of(MemoryKind::logits).si() == 3 * 128'256 * 4.0);
}

TEST_CASE("eager attention holds one layer's scores, heads x new tokens x context in 16 bits, beside q, k and v") {
  const MemoryByKind memory = taken({.attention = AttentionForm::eager});
  CHECK(memory.of(MemoryKind::scores).si() == 32 * (256 * 10'256.0 + 5'000) * 2);
  CHECK(memory.of(MemoryKind::activations).si() == 258 * kInMixer);
  CHECK(memory.of(MemoryKind::logits) == Bytes());
}

TEST_CASE("logits of all tokens are held in 16 bits beside those that are sampled") {
  const MemoryByKind memory = taken({.logits = LogitRows::all});
  CHECK(memory.of(MemoryKind::logits).si() == 128'256 * (258 * 2.0 + 3 * 4.0));
  CHECK(memory.of(MemoryKind::activations).si() == 258 * 4096 * 2.0);
}

TEST_CASE("a concatenated cache holds the entries of one layer twice") {
  const MemoryByKind memory = taken({.kv_cache = KvCacheForm::concatenated});
  CHECK(memory.of(MemoryKind::copies).si() == (10'256 + 5'000) * 2.0 * 8 * 128 * 2);
  CHECK(memory.of(MemoryKind::activations).si() == 258 * kInMixer);
}
