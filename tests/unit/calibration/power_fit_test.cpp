// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/power_fit.hpp"

#include "base/random.hpp"
#include "hardware/calibration/latent_power.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"

#include <cmath>

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;
using traces::PowerReading;

PowerReading product(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& format, double us) {
  return {traces::GemmCase{m, n, k, format}, Seconds(us * 1e-6), Watts(500), Watts(700), "vllm", "VLLM 1"};
}

// A board of 100 W at rest that takes 200 W at work, 0.5 pJ a flop (0.2 in fp8_block, 1 for experts) and 6 pJ a bit.
Gpu board() {
  Gpu gpu = worked_gpu("h100-sxm");
  gpu.idle.value = Watts(100);
  gpu.energy = {};
  gpu.energy.link = JoulesPerByte(1e-12);
  return gpu;
}
EnergyParameters truth() {
  EnergyParameters energy;
  energy.active = Watts(200);
  energy.compute = JoulesPerFlop(0.5e-12);
  energy.experts = JoulesPerFlop(1e-12);
  energy.attention = JoulesPerFlop(0.3e-12);
  energy.padding = 0.4;
  energy.by_format["fp8_block"].compute = JoulesPerFlop(0.2e-12);
  energy.memory = JoulesPerByte(48e-12);
  energy.measured_limit = Watts(700);
  return energy;
}

// Kernels that run at some share of the chip's rates, with 2 % noise on the watts.
std::vector<PowerReading> readings(int count = 240) {
  std::vector<PowerReading> all = {product(1, 4096, 4096, "bf16", 6), product(1, 4096, 4096, "fp8_block", 6)};
  RandomStream draws(1);
  const auto side = [&](double low, double high) { return std::llround(low * std::pow(high / low, draws.uniform())); };
  for (int i = 0; i < count; ++i) {
    PowerReading r =
        product(side(16, 16384), 256 * side(16, 200), 256 * side(16, 200), i % 2 ? "bf16" : "fp8_block", 1);
    const int shape = 1 + i / 4 % 5;
    if (i % 4 == 1)
      r.what = traces::ExpertLayerCase{side(64, 16384), 1024 * shape, 1536, 128, 8, 1, 1, 0, "balanced", "bf16"};
    if (i % 4 == 2)
      r.what = traces::DecodeAttentionCase{side(8, 512), side(4096, 32768), 8 * shape, 8, 128, "bf16", "bf16"};
    if (i % 16 == 3) r.what = traces::PrefillAttentionCase{4, side(2048, 8192), 0, 32, 8, 128, "bf16", "bf16"};
    const Gpu gpu = board();
    const PowerLoad load = power_load(gpu, r);
    r.time = std::max(load.bf16_flops / (0.4 * *gpu.peak_bf16), load.bytes / (0.8 * *gpu.hbm_bandwidth));
    r.time = std::max(r.time, Seconds(250e-6));
    r.power = std::exp(0.02 * draws.normal()) * predicted_power(gpu, truth(), power_load(gpu, r));
    all.push_back(r);
  }
  return all;
}

TEST_CASE("a reading is idle power, watts at work, and joules of work and bytes over its time, up to the limit") {
  const Gpu gpu = board();
  // 2 x 10,240^3 flop and 3 x 2 x 10,240^2 bytes in 5 ms, of which 2.63 us are a launch: 100 + 199.9 + 214.7 + 6.0 W.
  const PowerLoad dense = power_load(gpu, product(10240, 10240, 10240, "bf16", 5000));
  CHECK(predicted_power(gpu, truth(), dense).si() == approx(520.79 - 200 * 2.63e-6 / 5e-3).epsilon(1e-5));
  const PowerLoad block = power_load(gpu, product(10240, 10240, 10240, "fp8_block", 5000));
  CHECK(block.flops == dense.flops);
  // Four instead of six bytes for each of 10,240^2: the outputs are written in 16 bits.
  CHECK(predicted_power(gpu, truth(), block).si() == approx(300 + 85.9 + 4.03).epsilon(1e-3));
  const PowerLoad quick = power_load(gpu, product(10240, 10240, 10240, "bf16", 2000));
  CHECK(predicted_power(gpu, truth(), quick).si() == 700);
  PowerReading decode = product(1, 1, 1, "", 1000);
  decode.what = traces::DecodeAttentionCase{10, 10000, 32, 8, 128, "bf16", "bf16"};  // 10 x 10,000 entries of 4,096 B
  CHECK(predicted_power(gpu, truth(), power_load(gpu, decode)).si() ==
        approx(300 + 0.41 * 48 + 4 * 32 * 128 * 1e5 * 0.3e-12 / 1e-3).epsilon(0.01));
}

TEST_CASE("short kernels, products near their floor, uneven experts and formats without a name tell nothing") {
  std::vector<PowerReading> all = {product(1, 1, 1, "bf16", 199),        product(1, 1, 1, "bf16", 201),
                                   product(1, 1, 1, "bf16", 5),          product(1, 1, 1, "fp8_block", 100),
                                   product(1, 1, 1, "fp8_block", 250),   product(1, 1, 1, "fp8_block", 301),
                                   product(1, 1, 1, "of nobody", 10000), product(1, 1, 1, "bf16", 1000)};
  all.back().what = traces::ExpertLayerCase{64, 4096, 1536, 128, 8, 1, 1, 0, "power_law_1.2", "bf16"};
  const auto kept = telling(all);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].time.si() == approx(201e-6));
  CHECK(kept[1].time.si() == approx(301e-6));
}

TEST_CASE("a reading a fifth below the third highest of the nine next to it is diluted") {
  const Gpu gpu = board();
  std::vector<PowerLoad> loads;
  for (int i = 0; i < 12; ++i) {
    loads.push_back(power_load(gpu, product(4096, 4096, 4096 + 64 * i, "bf16", 1000)));
    loads.back().power = Watts(600 + i);
  }
  CHECK(steady(loads) == loads);
  loads[5].power = Watts(475);  // more than a fifth below 607 W
  loads[6].power = Watts(700);  // the two highest alone say nothing
  loads[8].power = Watts(800);
  loads[7].power = Watts(490);  // not so far below
  auto kept = loads;
  kept.erase(kept.begin() + 5);
  CHECK(steady(loads) == kept);
  loads.resize(10);
  CHECK(steady(loads) == loads);  // too few to tell
}

TEST_CASE("rows that fill up a tile take energy, and so does what few rows of many experts are computed with") {
  const Gpu gpu = board();
  // 70 rows in two tiles of 64; of experts 8 rows each in one.
  const PowerLoad dense = power_load(gpu, product(70, 4096, 4096, "bf16", 1000));
  CHECK(dense.flops.si() == approx(2.0 * 70 * 4096 * 4096));
  CHECK(dense.padding.si() == approx(2.0 * 58 * 4096 * 4096));
  PowerReading layer = product(1, 1, 1, "", 1000);
  layer.what = traces::ExpertLayerCase{128, 4096, 1536, 128, 8, 1, 1, 0, "balanced", "bf16"};
  const PowerLoad experts = power_load(gpu, layer);
  CHECK(experts.flops.si() == approx(2.0 * 128 * 8 * 3 * 4096 * 1536));
  CHECK(experts.padding == 7 * experts.flops);
  // 38.7 GF asked for and 7 times as much at 0.4 of the joules.
  EnergyParameters energy = truth();
  energy.measured_limit.reset();
  const Watts padded = predicted_power(gpu, energy, experts);
  energy.padding = 0;
  CHECK((padded - predicted_power(gpu, energy, experts)).si() ==
        approx(0.4 * 7 * 38.65e9 * 1e-12 / 1e-3).epsilon(1e-3));
  // Kernels that widen their weights have tiles of 16.
  layer.what = traces::ExpertLayerCase{128, 4096, 1536, 128, 8, 1, 1, 0, "balanced", "int4"};
  CHECK(power_load(gpu, layer).padding == experts.flops);
  CHECK(power_load(gpu, layer).bf16_flops == experts.flops);
}

TEST_CASE("readings at another limit than most are left out: a board held to less works at another voltage") {
  std::vector<PowerReading> mixed = readings();
  const auto alone = fit_power(board(), mixed, 1500);
  for (std::size_t i = 0; i < 100; ++i) {
    mixed.push_back(mixed[2 * i]);
    mixed.back().limit = Watts(350);
    mixed.back().power = std::min(mixed.back().power * 0.6, Watts(350));
  }
  const auto fit = fit_power(board(), mixed, 1500);
  REQUIRE(alone);
  REQUIRE(fit);
  CHECK(fit->parameters.active == alone->parameters.active);
  CHECK(fit->parameters.memory == alone->parameters.memory);
  CHECK(fit->parameters.compute == alone->parameters.compute);
  CHECK(fit->parameters.measured_limit == alone->parameters.measured_limit);
  CHECK(fit->report.data.ends_with("of 342 readings; the 100 at other limits than 700 W are left out"));
}

TEST_CASE("watts at work, joules by kind and format and joules of a bit are found again") {
  // Of so many that noise and priors weigh little: standard errors are below 1 %, that of padding is 1.9 %.
  const auto fit = fit_power(board(), readings(2400), 3000);
  REQUIRE(fit);
  const EnergyParameters& e = fit->parameters;
  CHECK(e.tag == Tag::fitted);
  CHECK(e.active.si() == approx(200).epsilon(0.01));
  CHECK(e.compute.si() == approx(0.5e-12).epsilon(0.01));
  REQUIRE(e.experts);
  CHECK(e.experts->si() == approx(1e-12).epsilon(0.02));
  CHECK(e.padding == approx(0.4).epsilon(0.04));
  REQUIRE(e.attention);
  CHECK(e.attention->si() == approx(0.3e-12).epsilon(0.02));
  REQUIRE(e.by_format.contains("fp8_block"));
  CHECK(e.by_format.at("fp8_block").compute->si() == approx(0.2e-12).epsilon(0.01));
  CHECK_FALSE(e.by_format.at("fp8_block").experts);
  CHECK(e.memory.si() == approx(48e-12).epsilon(0.02));
  CHECK(e.link == board().energy.link);
  CHECK(e.measured_limit->si() == approx(700).epsilon(0.02));
  CHECK(fit->report.family == "energy");
  REQUIRE(fit->parts.size() == 4);  // no reading is diluted
  CHECK(fit->parts[0].form == "attention, bf16");
  CHECK(fit->parts[3].form == "experts, bf16");
  CHECK(fit->parts[3].rows.size() == 600);
  CHECK(fit->parts[3].in_sample.mean < 0.03);
  CHECK(fit->report.held_out.mean < 0.04);
}

TEST_CASE("figures that are held stay the board's, and the others are fitted around them") {
  Gpu gpu = board();
  gpu.energy.active = Watts(230);
  gpu.energy.by_format["fp8_block"].compute = JoulesPerFlop(0.25e-12);
  const std::vector<std::string> held = {"active", "fp8_block"};
  const auto fit = fit_power(gpu, readings(), 1500, held);
  REQUIRE(fit);
  CHECK(fit->parameters.active == Watts(230));
  CHECK(fit->parameters.by_format.at("fp8_block").compute == JoulesPerFlop(0.25e-12));
  for (const FittedParameter& p : fit->report.fitted) CHECK(std::ranges::find(held, p.name) == held.end());
  CHECK(fit->parameters.experts->si() < 1e-12);  // 30 W more at work leave less for it
}

TEST_CASE(
    "loops of the harness: none is launch-bound, copies have traffic alone, grouped GEMMs the work of their rows") {
  PowerReading quick = product(64, 4096, 4096, "fp8", 250), slow = product(8192, 8192, 8192, "fp8", 800);
  CHECK(telling(std::vector{quick, slow}).size() == 1);  // an engine's, below three times its floor
  quick.engine = slow.engine = "";
  CHECK(telling(std::vector{quick, slow}).size() == 2);
  PowerReading copy = quick;
  copy.what = traces::CopyCase{"triad", 1000, 0};
  const PowerLoad traffic = power_load(board(), copy);
  CHECK(traffic.flops == Flops());
  CHECK(traffic.bytes == Bytes(3000));  // two arrays read, one written
  PowerReading experts = quick;
  experts.what = traces::GroupedGemmCase{48, 8, 2, 4096, 2048, "bf16"};
  const PowerLoad work = power_load(board(), experts);
  CHECK(work.kind == PowerLoad::Kind::experts);
  CHECK(work.flops == Flops(2.0 * 96 * 4096 * 2048));
  CHECK(telling(std::vector{copy, experts}).size() == 2);
}

TEST_CASE("latent attention draws what its projections, its expansion, its attention and its bytes do") {
  Gpu gpu = board();
  gpu.energy = truth();
  gpu.energy.measured_limit.reset();
  // 4 x 4,096 tokens of 128 heads in 100 ms: projections of 7,168 x (1,536 + 576) + 1,536 x 24,576 + 16,384 x 7,168
  // elements and the expansion of 512 x 32,768 at 0.5 pJ a flop, half the pairs of 128 x (192 + 128) x 2 flop at 0.3.
  const traces::LatentModuleReading prompts{
      {4, 4096, 0, 128, false, "bf16", "bf16"}, "bf16", Seconds(0.1), Watts(400), Watts(700)};
  const double tokens = 16384, weights = 7168.0 * 2112 + 1536.0 * 24576 + 16384.0 * 7168 + 512.0 * 32768;
  const double pairs = 4 * 4096.0 * 4097 / 2;
  const double joules = 2 * tokens * weights * 0.5e-12 + pairs * 2 * 128 * 320 * 0.3e-12;
  CHECK(predicted_power(gpu, prompts).si() == approx(300 + joules / 0.1).epsilon(0.03));  // bytes are the rest
  gpu.energy.measured_limit = Watts(310);
  CHECK(predicted_power(gpu, prompts).si() == 310);
  std::vector<traces::LatentModuleReading> all(25, prompts);
  all.front().time = Seconds(100e-6);
  CHECK(score_latent_power(gpu, all)->rows.size() == 24);
  CHECK_FALSE(score_latent_power(gpu, std::span(all).first(20)));
}

TEST_CASE("too few readings are no fit") {
  const auto all = readings();
  CHECK_FALSE(fit_power(board(), std::span(all).first(19), 1500));
}

}  // namespace
}  // namespace llmscape::hardware
