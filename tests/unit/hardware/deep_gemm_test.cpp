// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/deep_gemm.hpp"
#include "hardware/gpu/gemm.hpp"
#include "models/format.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

using llmscape::testing::approx;

namespace llmscape::hardware::deep_gemm_test {
namespace {

constexpr std::int64_t kMultiprocessors = 132;
constexpr Seconds kMissing(2.20961e-9);

DeepGemmGrid grid(std::int64_t rows, std::int64_t columns, std::int64_t swap_below = 0) {
  return deep_gemm_grid({swap_below, kMissing}, rows, columns, kMultiprocessors);
}

TEST_CASE("DeepGEMM's tile follows from the sides: fewest waves, then the fullest last one, then the narrowest") {
  const DeepGemmGrid one = grid(1, 7168);  // 56 columns: 128 blocks in one wave; 48 would be 150, 64 fill 112
  CHECK(one.tile_rows == 64);
  CHECK(one.tile_columns == 56);
  CHECK(one.blocks == 128);
  CHECK(one.missing_rows == 63);
  CHECK(one.turns == 1);
  const DeepGemmGrid many = grid(4096, 7168);  // 32 x 56 blocks of 128 x 128: 14 waves, 15 with 120 columns
  CHECK(many.tile_rows == 128);
  CHECK(many.tile_columns == 128);
  CHECK(many.blocks == 1792);
  CHECK(many.missing_rows == 0);
  // 17 x 56 blocks, 7.2 for each multiprocessor, of which each 17th is of the last rows: less than one.
  CHECK(grid(2049, 7168).missing_rows == 64);  // of 127: the second warp group lacks all of its rows, the first none
  CHECK(grid(2049, 7168).turns == 1);
  CHECK(grid(65, 65536).turns == approx(512.0 / kMultiprocessors));  // all 512 blocks are of the last rows
}

TEST_CASE("short products swap their sides where a library does") {
  const DeepGemmGrid one = grid(1, 7168, 32), nineteen = grid(19, 7168, 32);
  CHECK(one.tile_rows == 16);
  CHECK(one.tile_columns == 64);  // 112 blocks: 128 columns would save no wave
  CHECK(one.blocks == 112);
  CHECK(nineteen.tile_rows == 24);
  CHECK(nineteen.missing_rows == 0);
  CHECK(grid(19, 16384, 32).tile_columns == 128);  // 128 blocks in one wave, not 256 in two
  CHECK(grid(32, 7168, 32).tile_rows == 64);
}

// By hand, with the fit of TensorRT-LLM's products on an H200: 129 x 8192 x 6144 are 2 x 64 blocks of 128 x 128 in one
// wave. A block computes 48 steps of 2 x 128^3 at 0.875636 x 1979 / 132 TFLOP/s, 15.34 us, and 2.52 us beside them;
// 53.2 MB at 0.790547 x 4.8 TB/s are 14.03 us; through L2 go 128 x 6144 x 256 bytes at 8.898 TB/s, 22.6 us. Together
// 25.2 us by the fourth root, then 48 x 64 missing rows of 2.21 ns, 6.79 us, and 2.29 us of launch: 34.3 us.
TEST_CASE("rows that the last tile lacks cost time of their own") {
  Chip h200;
  h200.peak_bf16.value = FlopsPerSecond(989.5e12);
  h200.peak_fp8.emplace().value = FlopsPerSecond(1979e12);
  h200.hbm_bandwidth.value = BytesPerSecond(4.8e12);
  h200.multiprocessors.value = kMultiprocessors;
  GemmParameters p;
  p.compute_efficiency = 0.875636;
  p.memory_efficiency = 0.790547;
  p.launch = Seconds(2.29304e-6);
  p.tile = Seconds(2.52349e-6);
  p.cta_bandwidth = BytesPerSecond(53.2981e9);
  p.l2_bandwidth = BytesPerSecond(8.89762e12);
  p.deep_gemm = DeepGemm{32, kMissing};
  const models::Format format = models::format_named("fp8_block").value();
  const auto micros = [&](std::int64_t m) {
    return 1e6 * gemm_cost(h200, p, {m, 8192, 6144, format, format}).time.si();
  };
  CHECK(micros(129) == approx(34.27).epsilon(1e-3));
  CHECK(micros(192) == approx(micros(129)).epsilon(0.01));         // 64 rows are missing at both
  CHECK(micros(193) - micros(256) == approx(6.68).epsilon(0.03));  // 63, and none
  p.deep_gemm.reset();                                             // tiles as they are fastest have no such step
  CHECK(micros(193) < micros(256));
}

}  // namespace
}  // namespace llmscape::hardware::deep_gemm_test
