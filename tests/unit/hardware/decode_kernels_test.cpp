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

TEST_CASE("the correction of a kernel whose heads run apart is looked up by them: 32 streams a sequence, no group") {
  DecodeAttentionParameters p;
  models::DecodeAttention a = grouped_decode(4, 1024);
  a.window = 1024;
  a.masks = true;
  CHECK(features_of(p, a).log2(Feature::kv_heads) == 3);
  CHECK(features_of(p, a).log2(Feature::group) == 2);
  p.packing = Seconds(6e-6);
  CHECK(features_of(p, a).log2(Feature::group) == 2);  // nothing was measured of its windows
  p.l2_bandwidth = BytesPerSecond(1e12);
  CHECK(features_of(p, a).log2(Feature::kv_heads) == 5);
  CHECK(features_of(p, a).log2(Feature::streams) == 7);
  CHECK(features_of(p, a).log2(Feature::group) == 0);
  a.window = 0;
  a.masks = false;
  CHECK(features_of(p, a).log2(Feature::kv_heads) == 3);
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
  p.ungrouped = DecodeBlocks{p.launch + Seconds(7e-6), p.cta, p.cta_bandwidth, p.split};
  CHECK(micros(32) == grouped);
  CHECK(micros(8) == approx(alone + 7));
  // 799 blocks more on each, of a microsecond: nothing else of 13,200 entries takes as long.
  p.ungrouped->cta = Seconds(1e-6);
  const double quick = micros(8);
  p.ungrouped->cta = Seconds(2e-6);
  CHECK(micros(8) - quick == approx(799).epsilon(0.01));
  CHECK(micros(32) == grouped);
}

// Tables of one point: e^0.1 = 1.105 and e^0.2 = 1.221 of the form, wherever heads and contexts lie within its fade.
TEST_CASE("heads that share no keys have a correction of their own where there is one, else that of both kernels") {
  const Gpu gpu = worked_gpu("h100-sxm");
  DecodeAttentionParameters p = gpu.decode_attention;
  p.correction.reset();
  models::DecodeAttention groups = grouped_decode(32, 1000), alone = groups;
  alone.heads = 8;
  p.ungrouped = DecodeBlocks{p.launch, p.cta, p.cta_bandwidth, p.split};
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
