// SPDX-License-Identifier: Apache-2.0
// What an engine's execution adds to the model's own work, against figures worked out by hand.
#include "models/execution.hpp"

#include <array>

#include "model_fixtures.hpp"
#include "models/step_work.hpp"

using namespace llmscape::models;

namespace {

// A prompt of 2,000 tokens in two chunks, the second of 1,500, beside three decodes that see 3,000 entries.
struct MixedStep {
  std::array<PrefillChunk, 1> chunks{PrefillChunk{1500, 500, true}};
  std::array<Attended, 1> attended{Attended{3000, 1200}};
  [[nodiscard]] Batch batch() const {
    Batch batch;
    batch.chunks = chunks;
    batch.decodes = 3;
    batch.attended = attended;
    return batch;
  }
};

Batch first_chunk(const std::array<PrefillChunk, 1>& chunks) {
  Batch batch;
  batch.chunks = chunks;
  return batch;
}

constexpr double kEntry = 2 * 8 * 128 * 2;  // bytes of Llama-3.1-8B's entry in a layer: 8 heads of 128, keys and values

}  // namespace

TEST_CASE("paged caches, one kernel of attention and the last logits add nothing") {
  const MixedStep step;
  CHECK_FALSE(Execution().adds_work());
  CHECK(execution_work(catalogued("llama-3.1-8b"), {}, step.batch(), {}).empty());
  CHECK(head_rows(step.batch(), {}) == 4);
}

TEST_CASE("eager attention writes and reads the scores: heads x new tokens x context, 16 bits each") {
  const MixedStep step;
  const auto work = execution_work(catalogued("llama-3.1-8b"), {}, step.batch(), {.attention = AttentionForm::eager});
  const auto scores = all_of<Elementwise>(work);
  REQUIRE(scores.size() == 1);
  CHECK(work.size() == 1);
  CHECK(scores[0].count == 32);
  CHECK(scores[0].what.kind == Elementwise::Kind::scores);
  CHECK(scores[0].what.bytes == 2 * 2 * 32 * (1500.0 * 2000 + 3000));
  // On each of four ranks a quarter of the heads.
  const auto shared =
      execution_work(catalogued("llama-3.1-8b"), {.tensor = 4}, step.batch(), {.attention = AttentionForm::eager});
  CHECK(4 * all_of<Elementwise>(shared)[0].what.bytes == scores[0].what.bytes);
}

TEST_CASE("a concatenated cache reads and writes all entries of a step once more, but those of a first chunk") {
  const MixedStep step;
  const Execution concatenated{.kv_cache = KvCacheForm::concatenated};
  const auto copies = all_of<Elementwise>(execution_work(catalogued("llama-3.1-8b"), {}, step.batch(), concatenated));
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].count == 32);
  CHECK(copies[0].what.bytes == 2 * (2000 + 3000) * kEntry);
  const std::array whole = {PrefillChunk{2000, 0, true}};
  CHECK(execution_work(catalogued("llama-3.1-8b"), {}, first_chunk(whole), concatenated).empty());
}

TEST_CASE("layers that share a cache concatenate it once") {
  ModelSpec model = catalogued("llama-3.1-8b");
  model.groups[0].change.caches_shared_by = 4;
  const MixedStep step;
  const auto copies =
      all_of<Elementwise>(execution_work(model, {}, step.batch(), {.kv_cache = KvCacheForm::concatenated}));
  CHECK(copies.at(0).count == 8);
}

TEST_CASE("sorted logits pass through the memory 77 times: 308 bytes of each, of rows that a token is drawn from") {
  const MixedStep step;  // four of them: the prompt ends here
  for (const int ranks : {1, 4}) {
    const auto work =
        execution_work(catalogued("llama-3.1-8b"), {.tensor = ranks}, step.batch(), {.sampling = Sampling::sorted});
    REQUIRE(work.size() == 1);
    const auto sorted = all_of<Sample>(work);
    REQUIRE(sorted.size() == 1);
    CHECK(4 * sorted[0].what.rows == 4 * 308);
    CHECK(sorted[0].what.vocabulary == 128256);
  }
  CHECK(Execution{.sampling = Sampling::sorted}.adds_work());
}

TEST_CASE("logits of all tokens: the head computes a row for each, and samples those that are asked for") {
  const MixedStep step;
  CHECK(head_rows(step.batch(), {.logits = LogitRows::all}) == 1503);
  const auto work = logit_work(catalogued("llama-3.1-8b"), {}, 1503, 4);
  CHECK(all_of<Gemm>(work).at(0).what.m == 1503);
  CHECK(all_of<Sample>(work).at(0).what.rows == 4);
}
