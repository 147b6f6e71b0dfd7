// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/attention_indexed.hpp"

#include "hardware/index_load.hpp"
#include "hardware_fixtures.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware::indexed_attention_test {
namespace {

using llmscape::testing::approx;

IndexedAttentionParameters kernels() {
  IndexedAttentionParameters p;
  p.score_efficiency = 0.5;
  p.memory_efficiency = 1;
  p.choice_bandwidth = BytesPerSecond(1e12);
  p.compute_efficiency = 0.5;
  return p;
}

models::IndexScores scores_of(std::int64_t sequences, std::int64_t context) {
  models::IndexScores s;
  s.sequences = sequences;
  s.context = {sequences * context, context};
  s.heads = 32;
  s.head_dim = 128;
  s.entries = 2048;
  s.key_bytes = 132;
  return s;
}

models::DecodeAttention decodes_of(std::int64_t sequences, std::int64_t context, int heads) {
  models::DecodeAttention a;
  a.sequences = sequences;
  const std::int64_t entries = std::min<std::int64_t>(context, 2048);
  a.attended = {sequences * entries, entries};
  a.heads = heads;
  a.kv_heads = 1;
  a.head_dim = 576;
  a.value_dim = 512;
  a.values_in_keys = true;
  a.window = 2048;
  a.kernel = models::AttentionKernel::indexed;
  return a;
}

}  // namespace

TEST_CASE("one decode of GLM-5 scores 67 MFLOP and 1.08 MB at 8K, eight times that at 64K") {
  const models::IndexScores at_8k = scores_of(1, 8192), at_64k = scores_of(1, 65'536);
  CHECK(load_of(at_8k).flops(at_8k) == 2.0 * 32 * 128 * 8192);
  CHECK(load_of(at_8k).keys * at_8k.key_bytes == 8192 * 132);
  CHECK(load_of(at_64k).flops(at_64k) == 8 * load_of(at_8k).flops(at_8k));
}

TEST_CASE("scores of decodes are read at the memory's rate, and only long contexts are chosen from") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  const double bandwidth = gpu.hbm_bandwidth.value.si();
  const auto seconds = [&](std::int64_t context) {
    return index_cost(gpu, kernels(), scores_of(64, context)).time.si();
  };
  CHECK(seconds(2048) == approx(64 * 2048 * 132 / bandwidth));
  CHECK(seconds(8192) == approx(64 * 8192 * 132 / bandwidth + 64 * 8192 * 4 / 1e12));
}

TEST_CASE("a chunk of one token waits for the block that walks all its keys") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  models::IndexScores one = scores_of(0, 0);
  one.context = {};
  one.chunks = {{1, 131'071, false}};
  // 128 rows of one multiprocessor: 2 x 128 x 128 x 131,072 FLOP at half of a 132nd of 1,979 Tflop/s.
  const double alone = 2.0 * 128 * 128 * 131'072 * 132 / (0.5 * gpu.peak_fp8->value.si());
  const double choosing = 4 * 131'072 / 1e12;
  CHECK(index_cost(gpu, kernels(), one).time.si() == approx(alone + choosing));
}

TEST_CASE("heads are padded: one rank of eight takes as long as the whole of GLM-5, for an eighth of its work") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  const KernelCost rank = indexed_attention_cost(gpu, kernels(), decodes_of(512, 4096, 8));
  const KernelCost whole = indexed_attention_cost(gpu, kernels(), decodes_of(512, 4096, 64));
  CHECK(rank.time.si() == whole.time.si());
  CHECK(8 * rank.flops.si() == whole.flops.si());
  CHECK(rank.time.si() == approx(2.0 * 64 * 1088 * 512 * 2048 / (0.5 * gpu.peak_bf16.value.si())));
}

TEST_CASE("attention does not grow beyond what is chosen; a kernel of every place does not shrink below it") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  IndexedAttentionParameters p = kernels();
  const auto seconds = [&](std::int64_t context) {
    return indexed_attention_cost(gpu, p, decodes_of(256, context, 8)).time.si();
  };
  CHECK(seconds(65'536) == seconds(2048));
  CHECK(seconds(1024) == approx(seconds(2048) / 2));
  p.every_place = true;
  CHECK(seconds(1024) == seconds(2048));
}

TEST_CASE("where a block computes a token, one token takes as long as many") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  IndexedAttentionParameters p = kernels();
  p.unsplit = true;
  const auto seconds = [&](std::int64_t tokens) {
    return indexed_attention_cost(gpu, p, decodes_of(tokens, 4096, 8)).time.si();
  };
  CHECK(seconds(1) == approx(2.0 * 64 * 1088 * 2048 * 132 / (0.5 * gpu.peak_bf16.value.si())));
  CHECK(seconds(100) == approx(seconds(1)));
}

}  // namespace llmscape::hardware::indexed_attention_test
