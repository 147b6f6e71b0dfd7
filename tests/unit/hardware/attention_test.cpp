// SPDX-License-Identifier: Apache-2.0
#include "hardware_fixtures.hpp"
#include "tests/support/approx.hpp"

#include <algorithm>
#include <array>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

auto printed(double value) { return approx(value).epsilon(5e-5); }

models::DecodeAttention decode(std::int64_t sequences, std::int64_t context) {
  models::DecodeAttention a;
  a.sequences = sequences;
  a.attended = equal_contexts(sequences, context);
  a.heads = 32, a.kv_heads = 8, a.head_dim = 128;
  return a;
}
double decode_micros(const Gpu& gpu, const models::DecodeAttention& a) {
  return decode_attention_cost(gpu, gpu.decode_attention, a).time.si() * 1e6;
}

models::PrefillAttention prefill_shape(std::int64_t window = 0) {
  models::PrefillAttention a;
  a.heads = 32, a.kv_heads = 8, a.head_dim = 128;
  a.window = window;
  return a;
}
double prefill_micros(const Gpu& gpu, std::int64_t tokens, std::int64_t cached, std::int64_t window = 0) {
  const std::array chunks = {models::PrefillChunk{tokens, cached, true}};
  return prefill_attention_cost(gpu, gpu.prefill_attention, prefill_shape(window), chunks).time.si() * 1e6;
}

TEST_CASE("decode attention on an H100 costs what the published form gives") {
  const Gpu gpu = worked_gpu("h100-sxm");
  CHECK(decode_micros(gpu, decode(1, 1024)) == printed(11.992));
  CHECK(decode_micros(gpu, decode(1, 8192)) == printed(22.243));
  CHECK(decode_micros(gpu, decode(1, 131072)) == printed(198.607));
  CHECK(decode_micros(gpu, decode(32, 1024)) == printed(56.465));
  CHECK(decode_micros(gpu, decode(64, 4096)) == printed(385.751));
  CHECK(decode_micros(gpu, decode(2048, 64)) == printed(490.497));
}

TEST_CASE("contexts of two whole blocks of keys are split in two, however many sequences share them") {
  Gpu gpu = worked_gpu("h100-sxm");
  gpu.decode_attention.split = Seconds(1);  // rules all else
  for (std::int64_t sequences = 1; sequences <= 66; ++sequences) {
    CAPTURE(sequences);
    models::DecodeAttention one_head = decode(sequences, 256);  // 49 x 256 / 49 by a reciprocal is less than 256
    one_head.kv_heads = 1;
    CHECK(decode_micros(gpu, one_head) > 1e6);
    one_head.attended = equal_contexts(sequences, 255);
    CHECK(decode_micros(gpu, one_head) < 1e6);
  }
}

// New keys and values are read and written once more, at 1.1 of 3.35 TB/s, which the published form leaves out.
double append_micros(std::int64_t tokens) {
  return 2.0 * static_cast<double>(tokens) * 8 * 512 / (1.1 * 3.35e12) * 1e6;
}

TEST_CASE("prefill attention on an H100 costs what the published form gives, and appending to the cache") {
  const Gpu gpu = worked_gpu("h100-sxm");
  CHECK(prefill_micros(gpu, 512, 0) == printed(18.722 + append_micros(512)));
  CHECK(prefill_micros(gpu, 2048, 0) == printed(75.303 + append_micros(2048)));
  CHECK(prefill_micros(gpu, 8192, 0) == printed(824.161 + append_micros(8192)));
  CHECK(prefill_micros(gpu, 512, 7680) == printed(113.911 + append_micros(512)));
}

TEST_CASE("long decodes read the cache at the fitted share of the bandwidth") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const KernelCost cost = decode_attention_cost(gpu, gpu.decode_attention, decode(64, 131072));
  CHECK(cost.bytes / cost.time / *gpu.hbm_bandwidth == approx(0.855).epsilon(0.01));
}

TEST_CASE("decode attention grows with sequences and contexts, but for a few percent where the split changes") {
  const Gpu gpu = worked_gpu("h100-sxm");
  for (const std::int64_t context : {128, 1024, 16384}) {
    CAPTURE(context);
    double longest = 0;
    for (std::int64_t sequences = 1; sequences <= 512; ++sequences) {
      const double t = decode_micros(gpu, decode(sequences, context));
      CHECK(t >= 0.94 * longest);
      longest = std::max(longest, t);
    }
  }
}

TEST_CASE("one long context among short ones holds the kernel open, equal contexts do not") {
  const Gpu gpu = worked_gpu("h100-sxm");
  models::DecodeAttention equal = decode(64, 2048), skewed = equal;
  skewed.attended.max = 65536;
  const double sum_only = decode_micros(gpu, equal), with_tail = decode_micros(gpu, skewed);
  // One block reads 65,536 entries of 2 x 128 x 2 bytes at 150 GB/s: 223.7 us, against 194 us for all bytes together.
  CHECK(with_tail > sum_only);
  CHECK(with_tail == approx(9.26 + 65536 * 512 / 150e9 * 1e6 + 2.0 * 64 * 32 * 128 * 2 / (0.855 * 3.35e12) * 1e6));
  skewed.attended.max = 2100;
  CHECK(decode_micros(gpu, skewed) == sum_only);
}

TEST_CASE("where KV is not split, the longest sequence's block goes on alone; where it is, nothing does") {
  Gpu gpu = worked_gpu("h100-sxm");
  gpu.decode_attention.tail_bandwidth = BytesPerSecond(40e9);
  models::DecodeAttention many = decode(64, 1000), few = decode(2, 1000);
  const double even_many = decode_micros(gpu, many), even_few = decode_micros(gpu, few);
  many.attended.max = few.attended.max = 2000;
  // 1,000 entries of 512 bytes beyond the mean at 40 GB/s.
  CHECK(decode_micros(gpu, many) == approx(even_many + 12.8));
  CHECK(decode_micros(gpu, few) < even_few + 12.8);
  gpu.decode_attention.tail_bandwidth.reset();
  CHECK(decode_micros(gpu, many) == even_many);
}

TEST_CASE("FlashAttention 2 copies to pack the heads of a group, and splits the KV of no other") {
  Gpu gpu = worked_gpu("h100-sxm");
  const double many = decode_micros(gpu, decode(64, 4096)), one = decode_micros(gpu, decode(1, 65536));
  gpu.decode_attention.packing = Seconds(6e-6);
  CHECK(decode_micros(gpu, decode(64, 4096)) == approx(many + 6));
  CHECK(decode_micros(gpu, decode(1, 65536)) < one + 6);  // one sequence needs no copies
  models::DecodeAttention alone = decode(1, 65536);
  alone.heads = alone.kv_heads;
  // Eight blocks of one KV head each, which draw 150 GB/s.
  const double bytes = 65536.0 * 8 * 512;
  CHECK(decode_micros(gpu, alone) >= bytes / (8 * 150e9) * 1e6);
  gpu.decode_attention.packing.reset();
  CHECK(decode_micros(gpu, alone) < bytes / (8 * 150e9) * 1e6);
}

TEST_CASE("decodes beside a chunk are read once where L2 holds them, once for each query head where nothing does") {
  Gpu gpu = worked_gpu("h100-sxm");
  gpu.prefill_attention.by_head = true;
  const std::array chunks = {models::PrefillChunk{16, 0, true}};
  const auto bytes = [&](std::int64_t sequences, std::int64_t context) {
    return mixed_attention_cost(gpu, gpu.prefill_attention, prefill_shape(), chunks, decode(sequences, context))
               .bytes.si() -
           mixed_attention_cost(gpu, gpu.prefill_attention, prefill_shape(), chunks, decode(sequences, 1)).bytes.si();
  };
  const double entry = 8 * 512;  // bytes of a token under all KV heads
  CHECK(bytes(131, 128) == approx(131 * 127 * entry).epsilon(0.01));
  CHECK(bytes(131, 16384) == approx(4 * 131 * 16383 * entry).epsilon(0.01));  // 131 tiles at a time: one head
}

TEST_CASE("several tokens a pass share one reading of the cache") {
  const Gpu gpu = worked_gpu("h100-sxm");
  models::DecodeAttention speculative = decode(32, 4096);
  speculative.tokens_per_sequence = 4;
  const KernelCost four = decode_attention_cost(gpu, gpu.decode_attention, speculative);
  const KernelCost one = decode_attention_cost(gpu, gpu.decode_attention, decode(32, 4096));
  CHECK(four.time < 1.1 * one.time);
  // 4 s - 6 pairs a sequence instead of s, 4 x 32 x 128 FLOP each
  CHECK(four.flops.si() == approx(32 * (4.0 * 4096 - 6) * 4 * 32 * 128));
}

TEST_CASE("absorbed latent attention is bound by compute and memory alike") {
  const Gpu gpu = worked_gpu("h100-sxm");
  models::DecodeAttention latent;
  latent.sequences = 64;
  latent.attended = equal_contexts(64, 8192);
  latent.heads = 128, latent.kv_heads = 1, latent.head_dim = 576, latent.value_dim = 512, latent.values_in_keys = true;
  const KernelCost cost = decode_attention_cost(gpu, gpu.decode_attention, latent);
  const double entries = 64.0 * 8192;
  CHECK(cost.flops.si() == approx(entries * 278528));  // 2 x 128 heads x (2 x 512 + 64)
  CHECK(cost.bytes.si() == approx(entries * 1152 + 64.0 * 128 * 1088 * 2));
  CHECK(cost.time >= cost.flops / *gpu.peak_bf16);
  CHECK(cost.time >= cost.bytes / *gpu.hbm_bandwidth);
}

TEST_CASE("a cache that is widened first takes the time of one more pass: 604 MB at 300 GB/s are 2.013 ms") {
  const Gpu gpu = worked_gpu("h100-sxm");
  DecodeAttentionParameters p = gpu.decode_attention;
  models::DecodeAttention latent = decode(64, 8192);
  latent.heads = 128, latent.kv_heads = 1, latent.head_dim = 576, latent.value_dim = 512, latent.values_in_keys = true;
  const Seconds read_as_it_is = decode_attention_cost(gpu, p, latent).time;
  p.widening = BytesPerSecond(300e9);
  const Seconds extra = decode_attention_cost(gpu, p, latent).time - read_as_it_is;
  CHECK(extra.si() == approx(64 * 8192 * 1152 / 300e9));
}

TEST_CASE("a prompt's keys are widened with those of its cache, also outside a window: 3 x 4,096 B are 12,288 B") {
  const Gpu gpu = worked_gpu("h100-sxm");
  PrefillAttentionParameters p = gpu.prefill_attention;
  const std::array chunks = {models::PrefillChunk{1, 2, true}};
  for (const std::int64_t window : {0, 1}) {
    p.widening.reset();
    const Seconds read_as_it_is = prefill_attention_cost(gpu, p, prefill_shape(window), chunks).time;
    p.widening = BytesPerSecond(1e9);  // 8 KV heads x 128 x 2 x 2 B of each token
    const Seconds extra = prefill_attention_cost(gpu, p, prefill_shape(window), chunks).time - read_as_it_is;
    CHECK(extra.si() == approx(12.288e-6));
  }
}

// Two chunks of 1,000 new tokens: 8 KV heads of 128 fill 512 threads, one of 128 fills a quarter of them.
TEST_CASE("appending to the cache takes a time for each new token, up to a thread block's width: 2,000 x 4 ns") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const std::array chunks = {models::PrefillChunk{1000, 500, true}, models::PrefillChunk{1000, 0, true}};
  const auto extra = [&](std::int64_t kv_heads) {
    models::PrefillAttention shape = prefill_shape();
    shape.kv_heads = static_cast<decltype(shape.kv_heads)>(kv_heads);
    PrefillAttentionParameters p = gpu.prefill_attention;
    const Seconds bytes_alone = prefill_attention_cost(gpu, p, shape, chunks).time;
    p.append = Seconds(4e-9);
    return (prefill_attention_cost(gpu, p, shape, chunks).time - bytes_alone).si();
  };
  CHECK(extra(8) == approx(8e-6));
  CHECK(extra(4) == approx(8e-6));
  CHECK(extra(1) == approx(2e-6));
}

TEST_CASE("prefill attention never gets faster with more tokens or a longer cache") {
  const Gpu gpu = worked_gpu("h100-sxm");
  double longest = 0;
  for (std::int64_t tokens = 1; tokens <= 8192; tokens += 37) {
    const double t = prefill_micros(gpu, tokens, 1024);
    CHECK(t >= longest);
    longest = t;
  }
  CHECK(prefill_micros(gpu, 512, 4096) > prefill_micros(gpu, 512, 2048));
}

TEST_CASE("a window bounds the cost of a long prompt") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const double full = prefill_micros(gpu, 16384, 0), windowed = prefill_micros(gpu, 16384, 0, 1024);
  CHECK(windowed < 0.25 * full);  // 9 key blocks for each tile instead of 64.5
  CHECK(prefill_micros(gpu, 1024, 65536, 1024) == approx(prefill_micros(gpu, 1024, 8192, 1024)));
}

TEST_CASE("the mean is of what each row of tiles sees: a prompt of twice its window does three quarters of the work") {
  Gpu gpu = worked_gpu("h100-sxm");
  PrefillAttentionParameters& p = gpu.prefill_attention;
  p.correction.reset();
  p.tile = p.launch = Seconds();
  // 128 rows of tiles: 65 grow to 65 blocks (8,192 / 128 + 1), 63 stay. (65 x 66 / 2 + 63 x 65) / (128 x 129 / 2) =
  // 0.756.
  const double full = prefill_micros(gpu, 16384, 0), cut = prefill_micros(gpu, 16384, 0, 8192);
  CHECK(cut / full == approx(0.756).epsilon(0.02));  // what is read and written stays
  CHECK(prefill_micros(gpu, 8192, 0, 8192) == approx(prefill_micros(gpu, 8192, 0)));
  CHECK(prefill_micros(gpu, 2048, 16384, 8192) < 0.55 * prefill_micros(gpu, 2048, 16384));  // 65 of 128 + 8.5 blocks
}

TEST_CASE("two chunks in one kernel cost less than in two, and more than either") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const std::array both = {models::PrefillChunk{512, 0, true}, models::PrefillChunk{700, 2048, false}};
  const double together = prefill_attention_cost(gpu, gpu.prefill_attention, prefill_shape(), both).time.si() * 1e6;
  CHECK(together < prefill_micros(gpu, 512, 0) + prefill_micros(gpu, 700, 2048));
  CHECK(together > prefill_micros(gpu, 700, 2048));
}

TEST_CASE("decodes beside a chunk take a tile for each query head where the kernel is one") {
  // One layer of Llama-3.1-8B, a fresh chunk of 512 tokens beside decodes over 512 or 1,024 tokens: recorded in vLLM
  // 0.19 on the RTX PRO 6000 (casys-kaist/LLMServingSim @ 5daddb2), where a kernel of their own takes 218 us for 64
  // decodes.
  const Gpu gpu = catalog_gpu("rtx-pro-6000");
  const std::array chunks = {models::PrefillChunk{512, 0, true}};
  const auto mixed = [&](std::int64_t sequences, std::int64_t context) {
    return mixed_attention_cost(gpu, gpu.prefill_attention, prefill_shape(), chunks, decode(sequences, context))
               .time.si() *
           1e6;
  };
  CHECK(mixed(32, 513) == approx(121).epsilon(0.15));
  CHECK(mixed(64, 1025) == approx(349).epsilon(0.15));
  CHECK(mixed(128, 1025) == approx(735).epsilon(0.15));
  CHECK(mixed(128, 1025) > 1.3 * (prefill_micros(gpu, 512, 0) + decode_micros(gpu, decode(128, 1025))));
}

// A chunk of 64 tokens behind 8,192 has 32 tiles of 65 blocks, which one wave of 108 takes. Two decodes of one block
// add 64 tiles to the same wave, whose mean falls to 22 blocks: the kernel takes no less for them.
TEST_CASE("short decodes that fill up a wave of tiles do not make it shorter") {
  const Gpu gpu = catalog_gpu("a100-80");
  for (const std::int64_t tokens : {64, 200, 512})
    for (const std::int64_t sequences : {1, 2, 16, 64}) {
      CAPTURE(tokens);
      CAPTURE(sequences);
      const std::array chunks = {models::PrefillChunk{tokens, 8192, true}};
      const Seconds mixed =
          mixed_attention_cost(gpu, gpu.prefill_attention, prefill_shape(), chunks, decode(sequences, 16)).time;
      CHECK(mixed >= prefill_attention_cost(gpu, gpu.prefill_attention, prefill_shape(), chunks).time);
    }
}

}  // namespace
}  // namespace llmscape::hardware
