// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/expert_fit.hpp"
#include "base/random.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>

using llmscape::testing::approx;

namespace llmscape::hardware::expert_fit_test {
namespace {

Chip h100() {
  Chip c;
  c.peak_bf16.value = FlopsPerSecond(989.5e12);
  c.hbm_bandwidth.value = BytesPerSecond(3.35e12);
  c.multiprocessors.value = 132;
  c.l2.value = Bytes(50e6);
  return c;
}
ElementwiseParameters streams() {
  ElementwiseParameters p;
  p.activation = {Seconds(1.8e-6), 0.58};
  return p;
}
const GemmPrior kHopper = {0, BytesPerSecond(10e12)};

traces::ExpertLayerCase layer(std::int64_t tokens) { return {tokens, 2048, 768, 128, 8, 2, 1, 0, "balanced", "bf16"}; }

TEST_CASE("a layer of 64 tokens on a tensor rank, piece by piece") {
  const ExpertLayerWork work = expert_layer_work(layer(64));
  CHECK(work.up.rows == 512);
  CHECK(work.up.experts_touched == 128);
  CHECK(work.up.n == 768);  // gate and up, half of the columns
  CHECK(work.up.k == 2048);
  CHECK(work.down.n == 2048);
  CHECK(work.down.k == 384);
  REQUIRE(work.streams.size() == 4);
  CHECK(work.streams[0].bytes == 4 * 64 * 128);           // scores
  CHECK(work.streams[1].bytes == (512 + 64) * 2048 * 2);  // permuted rows and tokens
  CHECK(work.streams[2].bytes == 3 * 2 * 512 * 384);      // gate and up read, one written
  CHECK(work.streams[3].bytes == work.streams[1].bytes);
}

TEST_CASE("an expert rank multiplies its own rows but streams all of them") {
  traces::ExpertLayerCase c = layer(64);
  c.expert_parallel = 4;
  const ExpertLayerWork work = expert_layer_work(c);
  CHECK(work.up.rows == 128);
  CHECK(work.up.experts_touched == 32);
  CHECK(work.streams[1].bytes == (512 + 64) * 2048 * 2);
  c.placed = traces::PlacedRows::own_on_the_way_in;
  CHECK(expert_layer_work(c).streams[1].bytes == (128 + 64) * 2048 * 2);
  CHECK(expert_layer_work(c).streams[2].bytes == 3 * 2 * 512 * 384);
  CHECK(expert_layer_work(c).streams[3].bytes == (512 + 64) * 2048 * 2);
  c.placed = traces::PlacedRows::own;
  CHECK(expert_layer_work(c).up.rows == 128);
  CHECK(expert_layer_work(c).streams[1].bytes == (128 + 64) * 2048 * 2);
  CHECK(expert_layer_work(c).streams[2].bytes == 3 * 2 * 128 * 384);
}

TEST_CASE("routing decides how many experts are read") {
  CHECK(expert_layer_work(layer(4)).up.experts_touched == 32);
  traces::ExpertLayerCase c = layer(1);
  c.routing = "power_law_1.2";
  CHECK(expert_layer_work(c).up.experts_touched == 8);
  c.tokens = 32;  // 256 rows over 128 experts, most of them on few
  CHECK(expert_layer_work(c).up.experts_touched > 30);
  CHECK(expert_layer_work(c).up.experts_touched < 128);
  c.experts_touched = 77;
  CHECK(expert_layer_work(c).up.experts_touched == 77);
  c = layer(1);
  c.routing = "by_moon";
  CHECK_THROWS(expert_layer_work(c));
}

std::vector<traces::TimedExpertLayer> synthetic(const GemmParameters& truth) {
  const std::int64_t models[][4] = {
      {2048, 768, 128, 8}, {4096, 14336, 8, 2}, {4096, 1536, 128, 8}, {7168, 2048, 256, 8}, {6144, 2560, 160, 8}};
  std::vector<traces::TimedExpertLayer> records;
  for (const auto& m : models)
    for (const std::int64_t tp : {1, 2, 4})
      for (std::int64_t tokens = 1; tokens <= 16384; tokens *= 2)
        records.push_back({{tokens, m[0], m[1], m[2], m[3], tp, 1, 0, "balanced", "bf16"}, Seconds()});
  const auto times = predict(h100(), streams(), truth, records);
  RandomStream draws(1);
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].time = Seconds(times[i] * std::exp(0.03 * draws.normal()));
  return records;
}

TEST_CASE("layers with 3 % noise give launch, memory efficiency and L2 bandwidth back") {
  GemmParameters truth;
  truth.compute_efficiency = 0.86;
  truth.memory_efficiency = 0.9;
  truth.launch = Seconds(12e-6);
  truth.tile = Seconds(0.7e-6);
  truth.cta_bandwidth = BytesPerSecond(50e9);
  truth.l2_bandwidth = BytesPerSecond(8e12);
  const auto fit = fit_experts(h100(), streams(), 0.86, {&kHopper, 1}, synthetic(truth));
  CHECK(fit.parameters.memory_efficiency == approx(0.9).epsilon(0.03));
  CHECK(fit.parameters.launch.si() == approx(12e-6).epsilon(0.05));
  CHECK(fit.parameters.l2_bandwidth.si() == approx(8e12).epsilon(0.05));
  CHECK(fit.parameters.most_rows == 16384 * 8);
  CHECK(fit.parameters.least_width == 192);
  CHECK(fit.report.held_out.mean < 0.04);
  CHECK(fit.report.data == "bf16, 225 rows of 5 shapes");
}

TEST_CASE("grouped GEMMs that were timed by themselves give their times back") {
  GemmParameters truth;
  truth.compute_efficiency = 0.35;
  truth.memory_efficiency = 0.85;
  truth.launch = Seconds(3e-6);
  truth.tile = Seconds(1e-6);
  truth.cta_bandwidth = BytesPerSecond(60e9);
  truth.l2_bandwidth = BytesPerSecond(10e12);
  truth.row_tiles = {RowTiles::Choice::fastest, 16, 256, 1};
  std::vector<traces::TimedGroupedGemm> timed;
  for (const auto& [n, k] : {std::pair{3072, 2048}, {2048, 1536}, {4096, 7168}, {5760, 2880}, {2880, 2880}})
    for (const std::int64_t experts : {8, 32, 128})
      for (const std::int64_t tokens : {4, 64, 1024, 8192}) {
        traces::TimedGroupedGemm row{{tokens, experts, 4, n, k, "bf16"}, Seconds(1)};
        row.time = grouped_gemm_cost(h100(), truth, grouped_gemm_work(row)).time;
        timed.insert(timed.end(), 10, row);  // so often that the priors, a launch of 10 us among them, weigh little
      }
  const auto fit = fit_grouped_gemms(h100(), std::nullopt, tilings(kHopper, true), timed);
  const models::GroupedGemm unseen = grouped_gemm_work({3000, 16, 4, 3584, 4096, "bf16"});  // it computes
  CHECK(grouped_gemm_cost(h100(), fit.parameters, unseen).time.si() ==
        approx(grouped_gemm_cost(h100(), truth, unseen).time.si()).epsilon(0.02));
  CHECK(fit.parameters.memory_efficiency == approx(0.85).epsilon(0.02));
  CHECK(fit.parameters.launch.si() == approx(3e-6).epsilon(0.03));
  CHECK(fit.report.held_out.mean < 0.02);
  CHECK(fit.parameters.least_width == 1536);
  CHECK(fit.parameters.most_rows == 4 * 8192);
}

// By hand: 4 of Llama 4 Scout's experts in fp8 on an H200, 3 x 5,120 x 8,192 bytes each, are 503 MB, 105 us at 4.8
// TB/s; 32 rows add 8 GFLOP, 4 us at 1,979 TFLOP/s. TensorRT-LLM's table has 890 us for that (128 tokens, balanced, 4
// ranks), 6.3 times the two with the 24 us of its fastest row and 9 us of streamed pieces; vLLM's untuned rows have
// 3,860 us for all 16 experts, 965 for 4.
TEST_CASE("layers of untuned kernels are told by what peaks allow, at any size") {
  GemmParameters truth;
  truth.compute_efficiency = 0.86;
  truth.memory_efficiency = 0.9;
  truth.launch = Seconds(3e-6);
  truth.cta_bandwidth = BytesPerSecond(60e9);
  truth.l2_bandwidth = BytesPerSecond(10e12);
  auto records = synthetic(truth);
  CHECK(tuned_layers(h100(), streams(), records).size() == records.size());
  const auto untuned = [](const traces::TimedExpertLayer& r) { return r.experts == 160 && r.tokens >= 64; };
  for (traces::TimedExpertLayer& r : records)
    if (untuned(r)) r.time *= 5;
  const auto kept = tuned_layers(h100(), streams(), records);
  CHECK(std::ssize(kept) == std::ssize(records) - std::ranges::count_if(records, untuned));
  CHECK(std::ranges::none_of(kept, untuned));
  CHECK(tuned_layers(h100(), streams(), {}).empty());
}

TEST_CASE("models that outrun the memory with three matrices, narrow shares and unknown routing are left out") {
  GemmParameters truth;
  truth.compute_efficiency = 0.86;
  truth.memory_efficiency = 0.9;
  truth.cta_bandwidth = BytesPerSecond(50e9);
  truth.l2_bandwidth = BytesPerSecond(8e12);
  auto records = synthetic(truth);
  for (traces::TimedExpertLayer& r : records)
    if (r.experts == 160) r.time *= 2.0 / 3;
  auto skewed = records.front();
  skewed.routing = "power_law_1.2";
  auto unknown = records.front();
  unknown.routing = "by_moon";
  records.push_back(unknown);
  auto narrow = records.front();
  narrow.tensor_parallel = 8;
  records.push_back(skewed);
  records.push_back(narrow);
  const auto kept = gated_layers(h100(), records, "bf16");
  CHECK(kept.size() == 4 * 3 * 15 + 1);
  // Those that another table says to have two matrices, as models that outran the memory.
  const traces::TimedExpertLayer& one = records.front();
  const auto is_one = [&one](const auto& r) { return r.hidden == one.hidden && r.experts == one.experts; };
  CHECK(std::ranges::any_of(kept, is_one));
  const auto less = gated_layers(h100(), records, "bf16", Ranks::with_all_experts,
                                 {{one.hidden, one.expert_width, one.experts, one.experts_per_token}});
  CHECK(std::ranges::none_of(less, is_one));
  CHECK(less.size() < kept.size());
  auto sharded = records.front();
  sharded.expert_parallel = 8;
  records.push_back(sharded);
  CHECK(gated_layers(h100(), records, "bf16").size() == kept.size());
  CHECK(gated_layers(h100(), records, "bf16", Ranks::any).size() == kept.size() + 1);
}

}  // namespace
}  // namespace llmscape::hardware::expert_fit_test
