// SPDX-License-Identifier: Apache-2.0
// What a GPU draws above idle: time, work and traffic, and the limit that its kernels were timed under.
#include "hardware/gpu/pricing.hpp"
#include "hardware/operator_load.hpp"

#include "closed_form_cases.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

// 1 W at work, 1 pJ a flop and a bit.
Gpu round_figures() {
  Gpu gpu = worked_gpu("h100-sxm");
  gpu.energy = {};
  gpu.energy.active = Watts(1);
  gpu.energy.compute = JoulesPerFlop(1e-12);
  gpu.energy.memory = JoulesPerByte(8e-12);
  gpu.tdp.value = Watts(1e6);
  return gpu;
}

Joules work(const Gpu& gpu, const models::AnyOperator& what) {
  const std::array operators = {models::Operator{what, 1}};
  const PartCost part = price(gpu, operators);
  return std::accumulate(part.work.begin(), part.work.end(), Joules());
}

TEST_CASE("a step takes the board's watts at work for as long as its kernels' blocks run, beside work and bytes") {
  const Gpu gpu = round_figures();
  const Decodes decodes(32, 1024);
  const engine::EngineCost cost = step(gpu, llama_8b(), decodes.batch);
  // Launches, each of 4 us at most: 4 GEMMs of a layer and the logits (2.63 us), attention, two norms and sums, rope
  // and an activation, an embedding and the draw.
  const ElementwiseParameters& stream = gpu.elementwise;
  const auto launch = [](Seconds of) { return std::min(4e-6, of.si()); };
  const double layer = 4 * launch(gpu.gemm.launch) + launch(gpu.decode_attention.launch) +
                       2 * (launch(stream.norm.launch) + launch(stream.add->launch)) + launch(stream.rope.launch) +
                       launch(stream.activation.launch);
  const double launches = 32 * layer + launch(gpu.gemm.launch) + launch(stream.norm.launch) +
                          launch(stream.embedding.launch) + launch(stream.sampling.launch);
  CHECK(energy(cost, EnergyComponent::active).si() == approx(cost.device.si() - launches).epsilon(1e-9));
  CHECK(energy(cost, EnergyComponent::compute).si() == approx(cost.flops.si() * 1e-12));
  CHECK(energy(cost, EnergyComponent::memory).si() == approx(cost.bytes.si() * 8e-12));
}

TEST_CASE("GEMMs, experts and attention have joules of their own, and so have formats") {
  Gpu gpu = round_figures();
  const models::Format bf16, fp8{"fp8", 1}, int8{"int8", 1, 0, 0};
  const auto gemm = [](const models::Format& weights, const models::Format& inputs) {
    return models::Gemm{1000, 1000, 1000, weights, inputs};
  };
  models::GroupedGemm experts;
  experts.rows = experts.n = experts.k = 1000;
  experts.experts_touched = 4;
  models::DecodeAttention attention;
  attention.sequences = 1;
  attention.heads = attention.kv_heads = 1;
  attention.head_dim = 100;
  attention.attended = {2500, 2500};  // 2 x 200 x 2,500 flop
  CHECK(work(gpu, gemm(bf16, bf16)).si() == approx(2e-3));
  CHECK(work(gpu, gemm(fp8, fp8)).si() == approx(1e-3));  // twice the peak, half the joules
  CHECK(work(gpu, experts).si() == approx(2e-3));
  CHECK(work(gpu, attention).si() == approx(1e-6));

  gpu.energy.experts = JoulesPerFlop(3e-12);
  gpu.energy.attention = JoulesPerFlop(5e-12);
  gpu.energy.by_format["fp8"] = {JoulesPerFlop(0.7e-12), JoulesPerFlop(2e-12), JoulesPerFlop(3e-12)};
  CHECK(work(gpu, gemm(bf16, bf16)).si() == approx(2e-3));
  CHECK(work(gpu, gemm(fp8, fp8)).si() == approx(1.4e-3));
  CHECK(work(gpu, gemm(fp8, bf16)).si() == approx(2e-3));  // widened: bf16 work
  CHECK(work(gpu, gemm(int8, int8)).si() == approx(1e-3));
  CHECK(work(gpu, experts).si() == approx(6e-3));
  experts.weights = experts.activations = fp8;
  CHECK(work(gpu, experts).si() == approx(4e-3));
  CHECK(work(gpu, attention).si() == approx(5e-6));
  attention.kv = fp8;
  CHECK(work(gpu, attention).si() == approx(3e-6));
  attention.kv = models::KvFormat(fp8, bf16);  // not alike: as over others
  CHECK(work(gpu, attention).si() == approx(5e-6));
}

TEST_CASE("rows that fill up a tile of a GEMM take their share of joules, and change nothing else") {
  Gpu gpu = round_figures();
  const models::Format bf16, int4{"int4", 0.5};
  const models::Gemm few{10, 1000, 1000, bf16, bf16}, widened{10, 1000, 1000, int4, bf16};
  models::GroupedGemm experts;
  experts.rows = 400;
  experts.n = experts.k = 1000;
  experts.experts_touched = 100;
  experts.dealt = models::GroupedGemm::Dealt::evenly;
  const auto cost = [&](const models::AnyOperator& what) {
    const std::array operators = {models::Operator{what, 1}};
    return price(gpu, operators);
  };
  const PartCost without = cost(few);
  CHECK(work(gpu, few).si() == approx(20e-6));
  CHECK(without.padding.si() == approx(2e6 * 54));       // tiles of 64
  CHECK(cost(widened).padding.si() == approx(2e6 * 6));  // of 16
  CHECK(cost(experts).padding.si() == approx(2e6 * 100 * 60));
  gpu.energy.padding = 0.5;
  CHECK(work(gpu, few).si() == approx((10 + 27) * 2e-6));
  CHECK(work(gpu, widened).si() == approx((10 + 3) * 2e-6));
  CHECK(work(gpu, experts).si() == approx(100 * (4 + 30) * 2e-6));
  CHECK(cost(few).time() == without.time());
  CHECK(cost(few).flops == without.flops);
  gpu.energy.by_format["int4"] = {JoulesPerFlop(3e-12), {}, {}};
  CHECK(work(gpu, widened).si() == approx(3 * (10 + 3) * 2e-6));
  const models::Gemm full{128, 1000, 1000, bf16, bf16};
  CHECK(work(gpu, full).si() == approx(256e-6));
}

TEST_CASE("no family draws more than the board did while its kernels were timed, and no step is slower for it") {
  Gpu gpu = round_figures();
  gpu.idle.value = Watts(100);
  gpu.energy.compute = JoulesPerFlop(2e-12);
  const Prompt prompt(4096);
  const engine::EngineCost free = step(gpu, llama_8b(), prompt.batch);
  const auto gemms = static_cast<std::size_t>(OperatorFamily::gemm);
  const auto watts = [&](const engine::EngineCost& cost) {
    return (cost.energy_by_family[gemms] / cost.by_family[gemms]).si();
  };
  REQUIRE(watts(free) > 1000);
  gpu.energy.measured_limit = Watts(700);
  const engine::EngineCost limited = step(gpu, llama_8b(), prompt.batch);
  CHECK(watts(limited) == approx(600));
  CHECK(limited.device == free.device);
  gpu.tdp.value = Watts(700);  // at its own limit a step runs as it was timed
  CHECK(step(gpu, llama_8b(), prompt.batch).device == free.device);
  gpu.power_limit = Watts(500);
  CHECK(step(gpu, llama_8b(), prompt.batch).device > free.device);
}

TEST_CASE("an H100 that decodes 128 sequences would draw what its time, its bytes and its work come to") {
  Gpu gpu = catalog_gpu("h100-sxm");
  gpu.energy.measured_limit.reset();  // which its GEMMs reach
  gpu.tdp.value = Watts(1000);
  const Decodes decodes(128, 1024);
  const engine::EngineCost cost = step(gpu, llama_8b(), decodes.batch);
  // 312 W at work, but for 0.82 ms of launches (32 layers of 4 x 2.1 for GEMMs, 4 for attention, 2 x 2.7 for norms, 2 x
  // 1 for sums, 3 x 1.8 us for rope, the KV copy and the activation; 11 us at both ends); 15.0 GB of weights, 17.2 GB
  // of keys and values and 0.8 GB of activations at 40.4 pJ a byte, 2 x 7.5e9 x 128 flop at 0.5767 pJ in full tiles,
  // attention's 4 x 4,096 x 131,072 x 32 at 0.2321.
  const double joules = 33.0e9 * 40.4e-12 + 1.92e12 * 0.5767e-12 + 6.9e10 * 0.2321e-12;
  CHECK(total_energy(cost).si() == approx(312.3 * (cost.device.si() - 0.82e-3) + joules).epsilon(0.01));
}

TEST_CASE("an element-wise kernel takes the time of its rank, and moves what one does on average") {
  const Gpu gpu = worked_gpu("h100-sxm");
  models::Elementwise fullest{models::Elementwise::Kind::permute, 8e6};
  const KernelCost own = elementwise_cost(gpu, gpu.elementwise, fullest);
  CHECK(average_load_of(fullest).bytes == 8e6);
  fullest.average = 2e6;
  const KernelCost shared = elementwise_cost(gpu, gpu.elementwise, fullest);
  CHECK(shared.time == own.time);
  CHECK(own.bytes.si() == 8e6);
  CHECK(shared.bytes.si() == 2e6);
  CHECK(load_of(fullest).bytes == 8e6);
  CHECK(average_load_of(fullest).bytes == 2e6);
}

TEST_CASE("at a lower clock a board at work takes fewer watts, and work fewer joules") {
  const EnergyParameters slow = [] {
    EnergyParameters energy;
    energy.active = Watts(200);
    energy.compute = JoulesPerFlop(1e-12);
    energy.experts = energy.attention = JoulesPerFlop(2e-12);
    energy.by_format["fp8"].experts = JoulesPerFlop(4e-12);
    energy.memory = JoulesPerByte(8e-12);
    return energy.at_clock(0.8);
  }();
  CHECK(slow.active.si() == approx(200 * 0.8 * 0.64));
  CHECK(slow.compute.si() == approx(0.64e-12));
  CHECK(slow.experts->si() == approx(1.28e-12));
  CHECK(slow.attention->si() == approx(1.28e-12));
  CHECK(slow.by_format.at("fp8").experts->si() == approx(2.56e-12));
  CHECK(slow.memory.si() == approx(8e-12));
}

}  // namespace
}  // namespace llmscape::hardware
