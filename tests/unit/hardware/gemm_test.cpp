// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/gemm.hpp"
#include "base/random.hpp"
#include "hardware/operator_load.hpp"
#include "hardware_fixtures.hpp"
#include "models/format.hpp"
#include "tests/support/approx.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

using llmscape::testing::approx;

namespace llmscape::hardware::gemm_test {
namespace {

double micros(const Gpu& gpu, std::int64_t m, std::int64_t n, std::int64_t k) {
  return gemm_cost(gpu, gpu.gemm, {m, n, k, {}, {}}).time.si() * 1e6;
}

// Worked out apart from this code, by a loop over tiles and splits.
auto printed(double value) { return approx(value).epsilon(5e-5); }

TEST_CASE("GEMMs on an H100 cost what the form gives") {
  const Gpu gpu = worked_gpu("h100-sxm");
  CHECK(micros(gpu, 1, 4096, 4096) == printed(14.489));
  CHECK(micros(gpu, 32, 28672, 4096) == printed(85.023));
  CHECK(micros(gpu, 161, 6144, 4096) == printed(23.005));
  CHECK(micros(gpu, 1, 1024, 16384) == printed(16.312));  // K split 16 ways
  CHECK(micros(gpu, 4096, 4096, 4096) == printed(174.510));
  CHECK(micros(gpu, 8192, 8192, 8192) == printed(1355.05));
}

TEST_CASE("GEMMs on an A100 come in whole waves") {
  const Gpu gpu = worked_gpu("a100-80");
  CHECK(micros(gpu, 1, 4096, 4096) == printed(27.405));
  CHECK(micros(gpu, 161, 6144, 4096) == printed(64.736));
  CHECK(micros(gpu, 4096, 4096, 4096) == printed(569.707));
}

// The form over every way to cut a 16-bit GEMM, none left out.
double seconds_of_the_best_cut(const Gpu& gpu, double m, double n, double k) {
  const GemmParameters& p = gpu.gemm;
  constexpr std::pair<int, int> kTiles[] = {{16, 64},  {16, 128}, {32, 64},   {32, 128},  {64, 32},  {64, 64},
                                            {64, 128}, {128, 64}, {128, 128}, {128, 256}, {256, 128}};
  const double sms = static_cast<double>(*gpu.multiprocessors);
  const double bandwidth = p.memory_efficiency * gpu.hbm_bandwidth.value.si(), bytes = 2 * (k * n + m * (k + n));
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [rows, columns] : kTiles) {
    if (rows < p.least_tile_rows) continue;
    for (const int split : {1, 2, 4, 8, 16}) {
      if (split > 1 && k / split < 256) continue;
      const double blocks = std::ceil(m / rows) * std::ceil(n / columns) * split,
                   depth = 64 * std::ceil(k / split / 64);
      const double full = blocks / sms;
      const double waves = std::max(1.0, full + p.wave_quantisation * (std::ceil(full) - full));
      const double compute =
          waves * (2.0 * rows * columns * depth / (p.compute_efficiency * gpu.peak_bf16.value.si() / sms) +
                   rows * columns / (128.0 * 128) * p.tile.si());
      const double memory = bytes / std::min(bandwidth, std::min(blocks, 2 * sms) * p.cta_bandwidth.si());
      const double cached = blocks * depth * 2 * (rows + columns) / p.l2_bandwidth.si();
      const double top = std::max({compute, memory, cached});
      const double sum = std::pow(compute / top, 4) + std::pow(memory / top, 4) + std::pow(cached / top, 4);
      const double partial = split > 1 ? p.split.si() + 8 * split * m * n / p.l2_bandwidth.si() : 0;
      best = std::min(best, top * std::pow(sum, 0.25) + partial);
    }
  }
  return p.launch.si() + best;
}

TEST_CASE("no way to cut a GEMM that is left before it is worked out would have been the fastest") {
  RandomStream random(7);
  for (const char* name : {"h100-sxm", "a100-80"}) {
    Gpu gpu = worked_gpu(name);
    for (const std::int64_t least : {16, 64}) {
      gpu.gemm.least_tile_rows = least;
      for (int i = 0; i < 300; ++i) {
        const auto shape = [&](double octaves) {
          return static_cast<std::int64_t>(std::exp2(octaves * random.uniform()));
        };
        const std::int64_t m = shape(15), n = 32 * shape(10), k = 32 * shape(9);
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        const double best =
            seconds_of_the_best_cut(gpu, static_cast<double>(m), static_cast<double>(n), static_cast<double>(k));
        CHECK(micros(gpu, m, n, k) == approx(1e6 * best).epsilon(1e-13));
      }
    }
  }
}

TEST_CASE("the outputs of a tile cost by their area, and are written in 16 bits") {
  Gpu gpu = worked_gpu("a100-80");
  GemmParameters& p = gpu.gemm;
  p.launch = p.split = Seconds();
  p.compute_efficiency = p.memory_efficiency = 1;
  p.cta_bandwidth = BytesPerSecond(1e15);
  p.l2_bandwidth = BytesPerSecond(1e18);
  p.tile = Seconds(1e-3);  // rules all else
  p.row_tiles = {RowTiles::Choice::own_rows, 256, 256, 1};
  // 108 tiles of 256 x 64, the cheapest of that height: one wave, the area of one of 128 x 128.
  CHECK(micros(gpu, 256, 108 * 64, 64) == approx(1000).epsilon(1e-3));
  // Twice as many of them, or as many of 256 x 128.
  CHECK(micros(gpu, 256, 216 * 64, 64) == approx(2000).epsilon(1e-3));
  const Gpu narrow = worked_gpu("h100-sxm");
  const models::Format fp8 = models::format_named("fp8").value();
  CHECK(gemm_cost(narrow, narrow.gemm, {100, 200, 300, fp8, fp8}).bytes ==
        Bytes(200 * 300 + 100 * 300 + 2 * 100 * 200));
}

TEST_CASE("a large GEMM runs at the fitted share of the peak, a small one at that of the bandwidth") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const double big = 16384;
  const double compute_bound = 2 * big * big * big / (0.86 * 989.5e12) * 1e6;
  CHECK(micros(gpu, 16384, 16384, 16384) > compute_bound);
  CHECK(micros(gpu, 16384, 16384, 16384) < 1.15 * compute_bound);
  const double memory_bound = 8192.0 * 28672 * 2 / (0.86 * 3.35e12) * 1e6;
  CHECK(micros(gpu, 1, 28672, 8192) > memory_bound);
  CHECK(micros(gpu, 1, 28672, 8192) < 1.1 * memory_bound);
}

TEST_CASE("no GEMM beats the roofline") {
  const Gpu gpu = worked_gpu("h100-sxm");
  for (const std::int64_t m : {1, 7, 64, 300, 2048, 16384}) {
    for (const std::int64_t n : {512, 4096, 28672}) {
      for (const std::int64_t k : {512, 4096, 14336}) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        const KernelCost cost = gemm_cost(gpu, gpu.gemm, {m, n, k, {}, {}});
        CHECK(cost.time >= cost.flops / *gpu.peak_bf16);
        CHECK(cost.time >= cost.bytes / *gpu.hbm_bandwidth);
      }
    }
  }
}

TEST_CASE("GEMMs of wide layers never get faster as they grow; narrow ones only where a tile edge is crossed") {
  const Gpu gpu = worked_gpu("h100-sxm");
  for (const std::int64_t n : {512, 2048, 8192}) {
    CAPTURE(n);
    const double slack = n >= 2048 ? 1 : 0.8;
    double longest = 0;
    for (std::int64_t m = 1; m <= 4096; m += m < 300 ? 1 : 61) {
      const double t = micros(gpu, m, n, 4096);
      CHECK(t >= slack * longest);
      longest = std::max(longest, t);
    }
  }
}

TEST_CASE("8-bit operands double the peak and halve the bytes") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const models::Format fp8{"fp8", 1, 0, 0};
  const KernelCost wide = gemm_cost(gpu, gpu.gemm, {8192, 8192, 8192, {}, {}});
  const KernelCost narrow = gemm_cost(gpu, gpu.gemm, {8192, 8192, 8192, fp8, fp8});
  CHECK(narrow.time.si() < 0.6 * wide.time.si());
  CHECK(narrow.time.si() > 0.5 * wide.time.si());
  CHECK(narrow.flops == wide.flops);
  CHECK(narrow.bf16_flops.si() == approx(wide.flops.si() / 2));
}

TEST_CASE("4-bit weights with 16-bit activations read a quarter of the weights at the 16-bit peak") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const models::Format int4{"int4", 0.5, 128, 2};
  CHECK(gpu.peak(int4, {}) == *gpu.peak_bf16);
  const KernelCost cost = gemm_cost(gpu, gpu.gemm, {1, 4096, 4096, int4, {}});
  CHECK(cost.bytes.si() == approx(4096.0 * 4096 * (0.5 + 2.0 / 128) + 2 * 4096 * 2));
}

TEST_CASE("a grouped GEMM takes the time of its rank, and the joules of one on average") {
  const Gpu gpu = worked_gpu("h100-sxm");
  models::GroupedGemm fullest;
  fullest.rows = 96;
  fullest.experts_touched = 12;
  fullest.experts_held = 16;
  fullest.n = 4096;
  fullest.k = 7168;
  fullest.dealt = models::GroupedGemm::Dealt::at_random;
  const KernelCost own = grouped_gemm_cost(gpu, gpu.grouped_gemm(), fullest);
  fullest.average = {48, 6};
  const KernelCost shared = grouped_gemm_cost(gpu, gpu.grouped_gemm(), fullest);
  CHECK(shared.time == own.time);
  for (const auto& [half, whole] :
       {std::pair(shared.flops.si(), own.flops.si()), std::pair(shared.bytes.si(), own.bytes.si()),
        std::pair(shared.expert_bytes.si(), own.expert_bytes.si()), std::pair(shared.padding.si(), own.padding.si())}) {
    CHECK(whole > 0);
    CHECK(2 * half == approx(whole));
  }
  CHECK(load_of(fullest).flops == 2 * average_load_of(fullest).flops);
  CHECK(load_of(fullest).bytes == approx(2 * average_load_of(fullest).bytes));
}

TEST_CASE("each format computes at the peak of its own units") {
  Peaks peaks;
  peaks.peak_bf16.value = FlopsPerSecond(1);
  peaks.peak_fp8.emplace().value = FlopsPerSecond(2);
  peaks.peak_int8.emplace().value = FlopsPerSecond(3);
  peaks.peak_fp4.emplace().value = FlopsPerSecond(4);
  for (const auto& [name, peak] :
       {std::pair("bf16", 1), std::pair("fp8", 2), std::pair("int8", 3), std::pair("nvfp4", 4), std::pair("mxfp4", 4),
        std::pair("mxfp6", 2), std::pair("int4", 3), std::pair("fp32", 0)}) {
    CAPTURE(name);
    const models::Format format = *models::format_named(name);
    CHECK(peaks.peak(format, format).si() == (peak > 0 ? peak : 0.5));
  }
}

TEST_CASE("a grouped GEMM reads the weights of the touched experts and pads each expert's rows to a tile") {
  const Gpu gpu = worked_gpu("h100-sxm");
  models::GroupedGemm grouped{256, 64, 128, 1536, 2048, {}, {}};
  const KernelCost some = grouped_gemm_cost(gpu, gpu.grouped_gemm(), grouped);
  CHECK(some.bytes.si() == approx(64.0 * 1536 * 2048 * 2 + 256 * (1536 + 2048) * 2));
  CHECK(some.flops.si() == approx(2.0 * 256 * 1536 * 2048));
  grouped.experts_touched = 128;
  const KernelCost all = grouped_gemm_cost(gpu, gpu.grouped_gemm(), grouped);
  CHECK(all.time > 1.5 * some.time);
  CHECK(all.time >= all.bytes / *gpu.hbm_bandwidth);
}

TEST_CASE("rows that routing deals out leave tiles half empty: 1.5 of 128 rows instead of one just filled") {
  const Gpu gpu = worked_gpu("h100-sxm");
  // GPT-OSS-120B, 4,096 tokens: 128 rows for each of 128 experts.
  const models::Format mxfp4{"mxfp4", 0.5, 32, 1};
  models::GroupedGemm grouped{4096 * 4, 128, 128, 5760, 2880, mxfp4, {}};
  const GemmParameters& p = gpu.grouped_gemm_of(mxfp4, {});
  const Seconds even = grouped_gemm_cost(gpu, p, grouped).time - p.launch;
  grouped.dealt = models::GroupedGemm::Dealt::at_random;
  const Seconds dealt = grouped_gemm_cost(gpu, p, grouped).time - p.launch;
  CHECK(dealt / even == approx(1.5).epsilon(0.05));
  // Rows by popularity, 64 to 256 of them and x^-1.5 to one another: 1 + 2 / sqrt(128.5 / 64) - 1 = 1.411 tiles of 128.
  grouped.dealt = models::GroupedGemm::Dealt::by_popularity;
  grouped.popularity = {1.5, 4};
  const Seconds popular = grouped_gemm_cost(gpu, p, grouped).time - p.launch;
  CHECK(popular / even == approx(1.411).epsilon(0.05));
}

TEST_CASE("tiles of experts that were counted before are those that pricing counts, for every height") {
  using enum models::GroupedGemm::Dealt;
  models::GroupedGemm g{1000, 60, 64, 1024, 2048, {}, {}};
  g.popularity = {1.2, 50};
  g.seen_tokens = 125;
  g.experts_per_token = 8;
  for (const auto dealt : {evenly, at_random, by_popularity}) {
    g.dealt = dealt;
    const ExpertTiles tiles(g);
    for (const int height : {8, 16, 32, 48, 64, 128, 256}) CHECK(tiles(height) == expert_tiles(g, height));
    CHECK_THROWS(static_cast<void>(tiles(24)));
  }
  g.dealt = evenly;
  CHECK(expert_tiles(g, 16) == 120);  // 16.7 rows for each of 60 experts
  CHECK(expert_tiles(g, 32) == 60);
  const Gpu gpu = worked_gpu("h100-sxm");
  for (const auto choice : {RowTiles::Choice::fastest, RowTiles::Choice::marlin}) {
    GemmParameters p = gpu.grouped_gemm();
    p.row_tiles = {choice, 8, 64, 1};
    CHECK(grouped_gemm_cost(gpu, p, g, ExpertTiles(g)).time == grouped_gemm_cost(gpu, p, g).time);
  }
}

TEST_CASE("kernels of experts choose the rows of their tiles by the tokens that the rank sees, or by its own rows") {
  using enum RowTiles::Choice;
  models::GroupedGemm g{128, 12, 12, 1024, 7168, {}, {}};
  CHECK(!tile_rows({fastest, 16, 256, 1}, g));
  CHECK(tile_rows({own_rows, 8, 64, 1}, g) == 16);  // 128 / 12 = 10.7 rows
  CHECK(tile_rows({own_rows, 8, 64, 2}, g) == 8);
  CHECK(tile_rows({own_rows, 32, 64, 1}, g) == 32);
  CHECK(tile_rows({marlin, 8, 64, 1}, g) == 16);  // 0.67 of 16, 1.33 of 8
  // One of 32 ranks: 512 tokens of 8 experts each, 4,096 rows over the 12 experts that it has.
  g.seen_tokens = 512;
  g.experts_per_token = 8;
  CHECK(tile_rows({own_rows, 8, 64, 1}, g) == 16);
  CHECK(tile_rows({seen_rows, 8, 64, 1}, g) == 64);
  CHECK(tile_rows({seen_rows, 8, 512, 1}, g) == 512);  // 341 rows
  CHECK(tile_rows({marlin, 8, 64, 1}, g) == 64);
  CHECK(tile_rows({few_tokens, 16, 64, 1}, g) == 64);
  g.seen_tokens = 12;  // as many as experts; 96 rows, 8 an expert: 1.0 of 8, half of 16
  CHECK(tile_rows({few_tokens, 16, 64, 1}, g) == 16);
  CHECK(tile_rows({marlin, 8, 64, 1}, g) == 16);
}

TEST_CASE("experts in tiles that their rows do not fill take as long as full ones") {
  const Gpu gpu = worked_gpu("h100-sxm");
  GemmParameters p = gpu.grouped_gemm();
  p.compute_efficiency = 0.1;  // the products bound it, not the weights
  p.row_tiles = {RowTiles::Choice::own_rows, 64, 64, 1};
  const auto seconds = [&](std::int64_t rows) {
    return grouped_gemm_cost(gpu, p, {rows, 128, 128, 4096, 4096, {}, {}}).time.si();
  };
  CHECK(seconds(128 * 8) == approx(seconds(128 * 64)).epsilon(0.01));
  CHECK(seconds(128 * 65) > 1.5 * seconds(128 * 64));
}

TEST_CASE(
    "weights and KV of a format with kernels of its own are priced by their parameters, others by those of bf16") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  CHECK(&gpu.gemm_of({}, {}) == &gpu.gemm);
  CHECK(&gpu.gemm_of({"fp8", 1}, {"fp8", 1}) == &gpu.gemm_by_format.at("fp8"));
  CHECK(&gpu.gemm_of({"fp8", 1}, {}) == &gpu.gemm);  // W8A16: Marlin's kernel is another one
  CHECK(&gpu.grouped_gemm_of({}, {}) == &gpu.grouped_gemm());
  CHECK(&gpu.grouped_gemm_of({"int4", 0.5, 32, 2}, {}) == &gpu.expert_gemm_by_format.at("int4"));
  CHECK(&gpu.grouped_gemm_of({"int8", 1}, {}) == &gpu.grouped_gemm());
  models::DecodeAttention decode;
  CHECK(&gpu.decode_attention_of(decode) == &gpu.decode_attention);
  decode.kv = models::Format{"fp8", 1};
  CHECK(&gpu.decode_attention_of(decode) == &gpu.decode_attention_by_kv.at("fp8"));
}

TEST_CASE("a kernel that takes its tiles by the rows of the product runs them without split-K") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const models::Format fp8{"fp8", 1};
  GemmParameters p = gpu.gemm;
  p.wave_quantisation = 1;
  // 16 blocks of 128 x 64 on 132 multiprocessors walk a depth of 8,192: 2 x 128 x 64 x 8,192 flops on one of them.
  const models::Gemm narrow{256, 512, 8192, fp8, fp8};
  p.row_tiles = {RowTiles::Choice::own_rows, 64, 128, 1};
  CHECK(tile_rows(p.row_tiles, narrow.m) == 128);
  CHECK(tile_rows(p.row_tiles, 65) == 128);
  CHECK(tile_rows(p.row_tiles, 64) == 64);
  const double walk = 2.0 * 128 * 64 * 8192 / (p.compute_efficiency * gpu.peak(fp8, fp8).si() / 132);
  const GemmParameters split = [&] {
    GemmParameters q = p;
    q.row_tiles = {};
    return q;
  }();
  CHECK(gemm_cost(gpu, p, narrow).time.si() > walk);
  CHECK(gemm_cost(gpu, split, narrow).time < gemm_cost(gpu, p, narrow).time);
}

}  // namespace
}  // namespace llmscape::hardware::gemm_test
