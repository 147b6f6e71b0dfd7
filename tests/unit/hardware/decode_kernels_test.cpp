// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/correction_features.hpp"
#include "hardware/gpu/decode_table.hpp"
#include "hardware_fixtures.hpp"
#include "tests/support/approx.hpp"

#include <cmath>
#include <memory>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

models::DecodeAttention grouped_decode(std::int64_t sequences, std::int64_t context) {
  models::DecodeAttention a;
  a.sequences = sequences;
  a.attended = equal_contexts(sequences, context);
  a.heads = 32, a.kv_heads = 8, a.head_dim = 128;
  return a;
}
double micros_of(const Gpu& gpu, const models::DecodeAttention& a) {
  return decode_attention_cost(gpu, gpu.decode_attention, a).time.si() * 1e6;
}

// 4 sequences of 1,024 entries, 32 query heads over 8: a block for each of 128 heads. A KV head's keys are 512 bytes an
// entry, 16.8 MB in all; each group's are drawn four times, at 1 TB/s 67.1 us. All fit L2: memory gives them once, 5.9
// us at 0.855 of 3.35 TB/s. Each head computes a tile of 64 rows: 4,096 x 32 x 64 x 512 FLOP on 128 of 132
// multiprocessors.
TEST_CASE("a window keeps FlashAttention 2 from packing: a block for each query head reads the keys by itself") {
  Gpu gpu = worked_gpu("h100-sxm");
  DecodeAttentionParameters& p = gpu.decode_attention;
  p.correction.reset();
  models::DecodeAttention windowed = grouped_decode(4, 1024);
  const double whole = micros_of(gpu, windowed);
  windowed.window = 1024;
  windowed.masks = true;
  CHECK(micros_of(gpu, windowed) == whole);  // of a kernel that packs them either way
  p.packing = Seconds(6e-6);
  p.l2_bandwidth = BytesPerSecond(1e12);
  // A token plan's window is none to the kernel: the cache holds no more, and heads are packed.
  windowed.window = 0;
  windowed.masks = false;
  const double packed = micros_of(gpu, windowed);
  windowed.window = 1024;
  CHECK(micros_of(gpu, windowed) == packed);
  windowed.masks = true;
  const double entries = 4096, keys = 67.108864e-6,
               compute = entries * 32 * 64 * 512 / (128.0 / 132) / (p.compute_efficiency * gpu.peak_bf16.value.si());
  const double rows = 4.0 * 32 * 256 * 2 / (p.memory_efficiency * 3.35e12);
  const KernelCost cost = decode_attention_cost(gpu, p, windowed);
  CHECK(cost.time.si() == approx(p.launch.si() + std::cbrt(std::pow(keys, 3) + std::pow(compute, 3)) + rows));
  CHECK(cost.bytes.si() == approx(entries * 8 * 512 + 4.0 * 32 * 256 * 2));
  // 264 blocks of a head at a time, of 264 sequences: a group's four heads never run together, and no L2 holds 2.2 GB.
  models::DecodeAttention many = grouped_decode(264, 16384);
  many.window = 16384;
  many.masks = true;
  CHECK(decode_attention_cost(gpu, p, many).bytes.si() == approx(4.0 * 264 * 16384 * 8 * 512 + 264.0 * 32 * 256 * 2));
  // Heads that share no keys, of a window or not, are what they were.
  windowed.heads = many.heads = 8;
  const double alone = micros_of(gpu, windowed);
  windowed.window = 0;
  windowed.masks = false;
  CHECK(micros_of(gpu, windowed) == alone);
}

Features looked_up(const DecodeAttentionParameters& p, const models::DecodeAttention& a) {
  return features_of(a, apart(worked_gpu("h100-sxm"), p, a));
}

TEST_CASE("the correction of a kernel whose heads run apart is looked up by them: 32 streams a sequence, no group") {
  DecodeAttentionParameters p;
  models::DecodeAttention a = grouped_decode(4, 1024);
  a.window = 1024;
  a.masks = true;
  CHECK(looked_up(p, a).log2(Feature::kv_heads) == 3);
  CHECK(looked_up(p, a).log2(Feature::group) == 2);
  p.packing = Seconds(6e-6);
  CHECK(looked_up(p, a).log2(Feature::group) == 2);  // nothing was measured of its windows
  p.l2_bandwidth = BytesPerSecond(1e12);
  CHECK(looked_up(p, a).log2(Feature::kv_heads) == 5);
  CHECK(looked_up(p, a).log2(Feature::streams) == 7);
  CHECK(looked_up(p, a).log2(Feature::group) == 0);
  a.window = 0;
  a.masks = false;
  CHECK(looked_up(p, a).log2(Feature::kv_heads) == 3);
}

TEST_CASE("heads that share no keys run in a kernel of their own where an engine has one") {
  const Gpu gpu = worked_gpu("h100-sxm");
  DecodeAttentionParameters p = gpu.decode_attention;
  const auto micros = [&](int heads) {
    models::DecodeAttention a = grouped_decode(132 * 100, 1);  // 800 blocks of a KV head on each of 132 multiprocessors
    a.heads = heads;
    return decode_attention_cost(gpu, p, a).time.si() * 1e6;
  };
  const double grouped = micros(32), alone = micros(8);
  p.ungrouped = DecodeBlocks{p.launch + Seconds(7e-6), p.cta, p.cta_bandwidth, p.split, std::nullopt};
  CHECK(micros(32) == grouped);
  CHECK(micros(8) == approx(alone + 7));
  // 799 blocks more on each, of a microsecond: nothing else of 13,200 entries takes as long.
  p.ungrouped->cta = Seconds(1e-6);
  const double quick = micros(8);
  p.ungrouped->cta = Seconds(2e-6);
  CHECK(micros(8) - quick == approx(799).epsilon(0.01));
  CHECK(micros(32) == grouped);
}

// As TensorRT-LLM's of Hopper: 4 sequences of 8 KV heads are 32 streams, and a quarter of 132 multiprocessors is 33
// blocks, so that groups run in their kernel from two parts of 128 entries on.
struct SplitWaves {
  Gpu gpu = worked_gpu("h100-sxm");
  DecodeAttentionParameters p = gpu.decode_attention;
  SplitWaves() {
    p.correction.reset();
    p.cta = Seconds(400e-6);
    p.split = Seconds(3e-6);
    p.split_waves = DecodeWaves{8, 0.25, 0.5};
    p.ungrouped = DecodeBlocks{p.launch + Seconds(7e-6), p.cta, BytesPerSecond(10e9), Seconds(5e-6), 256};
  }
  [[nodiscard]] double memory(double entries) const { return entries * 4096 / (p.memory_efficiency * 3.35e12); }
  [[nodiscard]] double rows() const { return memory(4.0 * 32 * 4 / 32); }  // 4 x 32 x 512 bytes
  // Of tiles of 64 rows for each of `streams`, on a share of the multiprocessors.
  [[nodiscard]] double compute(double entries, double streams, double share) const {
    return entries * streams * 64 * 512 / share / (p.compute_efficiency * gpu.peak_bf16.value.si());
  }
  [[nodiscard]] double seconds(const models::DecodeAttention& a) const {
    DecodeTable table(gpu, p);
    models::DecodeAttention other = a;
    other.attended = equal_contexts(a.sequences, 4096);
    table.cost(other);  // whatever it priced first
    const double priced = decode_attention_cost(gpu, p, a).time.si();
    CHECK(table.cost(a).time.si() == approx(priced));
    return priced;
  }
};
double cubes(double a, double b, double c) { return std::cbrt(a * a * a + b * b * b + c * c * c); }

TEST_CASE("keys of groups split over several waves: the blocks behind a stream's first cost a share") {
  const SplitWaves of;
  // 1,024 entries: 8 parts of 128, 256 blocks, of which 224 cost half: 144 on 132 multiprocessors.
  const double expected =
      of.p.launch.si() + 3e-6 + cubes((144.0 / 132 - 1) * 400e-6, of.memory(4096), of.compute(4096, 8, 1)) + of.rows();
  CHECK(of.seconds(grouped_decode(4, 1024)) == approx(expected));
  // A window leaves 128 entries, and the whole context is split.
  models::DecodeAttention windowed = grouped_decode(4, 128);
  windowed.window = 128;
  windowed.masks = true;
  windowed.contexts = 4096;
  const double cut =
      of.p.launch.si() + 3e-6 + cubes((144.0 / 132 - 1) * 400e-6, of.memory(512), of.compute(512, 8, 1)) + of.rows();
  CHECK(of.seconds(windowed) == approx(cut));
}

// 128 query heads, each a block of 128 on 132 multiprocessors that reads its KV head's keys at 10 GB/s.
TEST_CASE("launches of groups that fill too few multiprocessors run as heads that share no keys") {
  const SplitWaves of;
  const auto expected = [&](double context) {
    const double drawn = 4 * context * 4096 * 4 / (128 * 10e9), computed = of.compute(4 * context, 32, 128.0 / 132);
    return of.p.launch.si() + 7e-6 + cubes(0, drawn, computed) + of.rows();
  };
  CHECK(of.seconds(grouped_decode(4, 255)) == approx(expected(255)));
  CHECK(of.seconds(grouped_decode(4, 256)) < 0.7 * expected(256));
  // Five sequences fill a quarter whatever their contexts.
  CHECK(of.seconds(grouped_decode(5, 100)) < 0.7 * expected(100));
  // A single one runs apart up to five parts of 128. 32 blocks leave room for parts, of 256 entries and more each: two.
  const double half = of.seconds(grouped_decode(1, 511)), parted = of.seconds(grouped_decode(1, 512));
  CHECK(half - parted == approx(255.5 * 512 / 10e9 - 5e-6).epsilon(0.02));
  CHECK(of.seconds(grouped_decode(1, 640)) < 0.7 * parted);
}

// Tables of one point: e^0.1 = 1.105 and e^0.2 = 1.221 of the form, wherever heads and contexts lie within its fade.
TEST_CASE("heads that share no keys have a correction of their own where there is one, else that of both kernels") {
  const Gpu gpu = worked_gpu("h100-sxm");
  DecodeAttentionParameters p = gpu.decode_attention;
  p.correction.reset();
  models::DecodeAttention groups = grouped_decode(32, 1000), alone = groups;
  alone.heads = 8;
  p.ungrouped = DecodeBlocks{p.launch, p.cta, p.cta_bandwidth, p.split, std::nullopt};
  const auto micros = [&](const models::DecodeAttention& a) {
    DecodeTable table(gpu, p);
    const double priced = decode_attention_cost(gpu, p, a).time.si() * 1e6;
    CHECK(table.cost(a).time.si() * 1e6 == approx(priced));
    return priced;
  };
  const double groups_form = micros(groups), alone_form = micros(alone);
  const auto factor = [](double percent) {
    CorrectionTable table;
    table.axes = {{Feature::bytes, 2, 1, 1}};
    table.percent = {percent};
    Correction correction;
    correction.tables = {table};
    return correction;
  };
  p.correction = factor(10);
  CHECK(micros(groups) == approx(1.10517 * groups_form));
  CHECK(micros(alone) == approx(1.10517 * alone_form));
  p.ungrouped_correction = factor(20);
  CHECK(micros(groups) == approx(1.10517 * groups_form));
  CHECK(micros(alone) == approx(1.22140 * alone_form));
}

TEST_CASE("a correction of heads that share no keys has their kernel beside it") {
  Diagnostics diagnostics;
  const std::string text =
      "compute_efficiency: 0.8\nmemory_efficiency: 0.8\nlaunch: 8 us\ncta: 3 us\ncta_bandwidth: 50 GB/s\nsplit: 3 us\n"
      "most_sequences: 64\nlongest_context: 4096\nungrouped_correction:\n  tables:\n"
      "    - {axes: [{feature: bytes, first: 2, points: 1}], percent: [1]}\n";
  const YamlNode tree = read_yaml(std::make_shared<const SourceText>(SourceText{"d.yaml", text}), diagnostics);
  DecodeAttentionParameters p;
  CHECK_FALSE(decode_attention_fields().read(p, tree, diagnostics));
  CHECK(diagnostics.text(false).find("d.yaml:10:3: error: there is no 'ungrouped' kernel that it could") !=
        std::string::npos);
}

TEST_CASE("a group of up to 16 query rows computes a tile of 16 where there is one, more take multiples of 64") {
  const Gpu gpu = worked_gpu("h100-sxm");
  DecodeAttentionParameters p = gpu.decode_attention;
  p.correction.reset();
  p.compute_efficiency = 1e-4;  // compute is all that takes long
  const auto compute = [&](int group) {
    models::DecodeAttention a = grouped_decode(4096, 100);
    a.kv_heads = 8, a.heads = 8 * group;
    models::DecodeAttention none = a;
    none.attended = equal_contexts(4096, 0);
    return (decode_attention_cost(gpu, p, a).time - decode_attention_cost(gpu, p, none).time).si();
  };
  const double without = compute(8);
  // 4,096 x 100 entries of 8 KV heads, 64 rows, 4 x 128 FLOP each, at 0.0001 of 989.5 Tflop/s: 1.085 s.
  CHECK(without == approx(409600.0 * 8 * 64 * 512 / (1e-4 * gpu.peak_bf16.value.si())).epsilon(0.02));
  p.row_block = 16;
  CHECK(compute(8) == approx(without / 4).epsilon(0.02));
  CHECK(compute(16) == approx(without / 4).epsilon(0.02));
  CHECK(compute(17) == approx(without).epsilon(0.02));
  CHECK(compute(65) == approx(2 * without).epsilon(0.02));
}

// 8 rows: no doubling; 9 to 16: one; 17 to 32: two. 13,200 blocks on 132 multiprocessors are 99 waves behind the first.
TEST_CASE("each doubling of a group's rows beyond 8 adds to the launch and to a block, and narrow heads differ") {
  const Gpu gpu = worked_gpu("h100-sxm");
  DecodeAttentionParameters p = gpu.decode_attention;
  p.correction.reset();
  p.launch = Seconds(), p.cta = Seconds(10e-6);
  const auto micros = [&](int group, int head_dim, std::int64_t sequences, std::int64_t tokens = 1) {
    models::DecodeAttention a = grouped_decode(sequences, 1);
    a.kv_heads = 1, a.heads = group, a.head_dim = head_dim, a.tokens_per_sequence = tokens;
    return decode_attention_cost(gpu, p, a).time.si() * 1e6;
  };
  const auto added = [&](int group, int head_dim, std::int64_t sequences, std::int64_t tokens = 1) {
    p.row_tiles.reset();
    const double before = micros(group, head_dim, sequences, tokens);
    p.row_tiles = DecodeTiles{Seconds(0.5e-6), 0.3, 0.8};
    return micros(group, head_dim, sequences, tokens) - before;
  };
  CHECK(added(8, 128, 1) == approx(0));
  CHECK(added(9, 128, 1) == approx(0.5));
  CHECK(added(16, 128, 1) == approx(0.5));
  CHECK(added(17, 128, 1) == approx(1));
  CHECK(added(8, 128, 1, 2) == approx(0.5));  // two tokens of each head
  CHECK(added(16, 128, 13200) == approx(0.5 + 0.3 * 990).epsilon(0.01));
  CHECK(added(8, 64, 13200) == approx(-0.2 * 990).epsilon(0.01));
  CHECK(added(32, 64, 13200) == approx(1 + (1.6 * 0.8 - 1) * 990).epsilon(0.01));
}

}  // namespace
}  // namespace llmscape::hardware
