// SPDX-License-Identifier: Apache-2.0
#include "models/mixer/sparse_index.hpp"

#include "model_fixtures.hpp"
#include "models/step_work.hpp"

namespace sparse_index_test {
namespace {

using namespace llmscape::models;

// One decode of GLM-5 on one of eight ranks.
struct Decode {
  IndexScores scores;
  DecodeAttention attention;
};
Decode decode_of(const ModelSpec& model, std::int64_t context) {
  std::vector<Attended> attended;
  for (const std::int64_t law : kv_laws(model)) {
    const std::int64_t entries = law > 0 ? std::min(law, context) : context;
    attended.push_back({entries, entries});
  }
  Decode decode;
  for (const Operator& op : attention_work(model, {.tensor = 8}, {{}, 1, 1, attended})) {
    if (const auto* scores = std::get_if<IndexScores>(&op.what)) decode.scores = *scores;
    if (const auto* attention = std::get_if<DecodeAttention>(&op.what)) decode.attention = *attention;
  }
  return decode;
}

}  // namespace

TEST_CASE("an index scores all of the context, and attention stops at what it chooses") {
  const ModelSpec glm = catalogued("glm-5");
  for (const std::int64_t context : {1'000, 8'192, 65'536}) {
    CAPTURE(context);
    const Decode decode = decode_of(glm, context);
    CHECK(decode.scores.context.sum == context);
    CHECK(decode.scores.heads == 32);  // not divided over the ranks
    CHECK(decode.attention.heads == 8);
    CHECK(decode.attention.attended.sum == std::min<std::int64_t>(context, 2048));
    CHECK(decode.attention.kernel == AttentionKernel::indexed);
  }
}

TEST_CASE("a token of GLM-5 keeps a latent of 576 in 16 bits and an index key of 132 bytes in each layer") {
  const ModelSpec glm = catalogued("glm-5");
  const SequenceState state = glm.groups.front().state(glm.precision);
  CHECK(state.bytes_per_token == 2 * 576 + 132);
  CHECK(state.reach == 2048);
  CHECK(state.keeps_all);
}

TEST_CASE("the index of a GLM-5 layer has 9.37 million parameters, and a shared one none") {
  const SparseIndex index{32, 128, 2048}, shared{0, 0, 2048};
  std::int64_t parameters = index.inner_parameters();
  for (const Linear& linear : index.projections(6144, 2048)) parameters += linear.parameters();
  CHECK(parameters == 2048 * 32 * 128 + 6144 * (128 + 32) + 2 * 128);
  CHECK(shared.projections(6144, 2048).empty());
  CHECK(shared.inner_parameters() == 0);
  CHECK(shared.key_bytes() == 0);
}

TEST_CASE("prompts attend absorbed, each token to its own entries") {
  const ModelSpec glm = catalogued("glm-5");
  const std::vector<PrefillChunk> chunks = {{4096, 0, true}};
  int found = 0;
  for (const Operator& op : attention_work(glm, {}, {chunks, 0, 1, {}})) {
    const auto* attention = std::get_if<PrefillAttention>(&op.what);
    if (!attention) continue;
    ++found;
    CHECK(attention->window == 2048);
    CHECK(attention->head_dim == 576);
    CHECK(attention->kv_heads == 1);
    CHECK(op.count == 78);
  }
  CHECK(found == 1);
}

}  // namespace sparse_index_test
