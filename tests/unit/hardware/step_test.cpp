// SPDX-License-Identifier: Apache-2.0
#include "hardware_fixtures.hpp"
#include "tests/support/approx.hpp"

#include <array>
#include <numeric>

using llmscape::testing::approx;

namespace llmscape::hardware::step_test {
namespace {

Joules spent(const StepCost& cost, EnergyComponent c) { return cost.energy[static_cast<std::size_t>(c)]; }

Seconds family(const StepCost& cost, OperatorFamily f) { return cost.by_family[static_cast<std::size_t>(f)]; }

// `decodes` sequences over `context` tokens each.
struct DecodeBatch {
  std::array<models::Attended, 1> attended;
  models::Batch batch;
  DecodeBatch(std::int64_t decodes, std::int64_t context) : attended{equal_contexts(decodes, context)} {
    batch.decodes = decodes;
    batch.attended = attended;
  }
};

StepCost decode_step(const Device& device, const models::ModelSpec& model, std::int64_t decodes, std::int64_t context,
                     const models::ParallelPlan& plan = {}, const Device::Settings& settings = {}) {
  const DecodeBatch decode(decodes, context);
  return device.bind(model, plan, settings)->step(decode.batch);
}

TEST_CASE("a decode step of Llama-3.1-8B on an H100 adds up to its parts") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const StepCost cost = decode_step(gpu, llama_8b(), 32, 1024);
  const double layers = 32, micro = 1e-6;
  // The cheapest cuts by the closed form: 64 x 64, 64 x 32, 64 x 128 and 64 x 32 outputs a tile, of logits 64 x 128.
  const double head = 370.876 * micro;
  CHECK(family(cost, OperatorFamily::gemm).si() ==
        approx(layers * (20.423 + 14.656 + 85.023 + 44.504) * micro + head).epsilon(1e-4));
  CHECK(family(cost, OperatorFamily::decode_attention).si() == approx(layers * 56.465 * micro).epsilon(1e-4));
  // Without the embedding, the final norm and sampling: 32 x (164.606 + 56.465 + 13.93) us and the logits.
  const double embedding = 2.4 * micro + 4.0 * 32 * 4096 / (0.19 * 3.35e12);
  const double final_norm = 2.7 * micro + 4.0 * 32 * 4096 / (0.44 * 3.35e12);
  CHECK(family(cost, OperatorFamily::elementwise).si() ==
        approx(layers * 13.93 * micro + embedding + final_norm).epsilon(5e-4));
  CHECK((cost.device - family(cost, OperatorFamily::sampling)).si() - embedding - final_norm ==
        approx(7.891e-3).epsilon(1e-4));
}

TEST_CASE("no step is faster than its bytes and its work at the data sheet's rates") {
  const Gpu gpu = worked_gpu("h100-sxm");
  for (const std::int64_t decodes : {1, 32, 200}) {
    const StepCost cost = decode_step(gpu, llama_8b(), decodes, 1024);
    CHECK(cost.device >= cost.bytes / *gpu.hbm_bandwidth);
    CHECK(cost.device >= cost.flops / *gpu.peak_bf16);
  }
  // 7.5049e9 parameters and 32 x 1,024 tokens of 131,072 bytes at 3.35 TB/s
  CHECK(decode_step(gpu, llama_8b(), 32, 1024).device.si() > 5.763e-3);
}

TEST_CASE("narrow activations pay a kernel that quantises the input of each GEMM, and gain the narrow peak") {
  const Gpu gpu = worked_gpu("h100-sxm");
  models::ModelSpec narrow = llama_8b(), stored = llama_8b();
  narrow.precision.weights = stored.precision.weights = {"fp8", 1};
  narrow.precision.activations = {"fp8", 1};
  const std::array chunks = {models::PrefillChunk{4096, 0, true}};
  const models::Batch batch{chunks, 0, 1, {}};
  const StepCost quick = gpu.bind(narrow, {}, {})->step(batch), slow = gpu.bind(stored, {}, {})->step(batch);
  double kernels = 0;
  for (const double k : {4096, 4096, 4096, 14336}) {  // inputs of qkv, o, gate and up, down
    const double bytes = 4096 * (3 * k + 4);          // 2 read, 1 written, an fp32 scale for each token
    kernels += 32 * elementwise_cost(gpu, gpu.elementwise, {models::Elementwise::Kind::quantise, bytes}).time.si();
  }
  CHECK((family(quick, OperatorFamily::elementwise) - family(slow, OperatorFamily::elementwise)).si() ==
        approx(kernels));
  // Between the fp8 fit and the 16-bit one: sooner, but not by more than the ratio of the peaks.
  CHECK(family(quick, OperatorFamily::gemm) < family(slow, OperatorFamily::gemm));
  CHECK(family(quick, OperatorFamily::gemm) > 0.5 * family(slow, OperatorFamily::gemm));
}

TEST_CASE("a tensor-parallel group of two domains pays the way between them, and nothing left a range") {
  Gpu gpu = worked_gpu("h100-sxm");
  gpu.links = catalog_gpu("h100-sxm").links;
  const StepCost cost = decode_step(gpu, llama_8b(), 32, 1024, {16, 1, 1, 1});
  // Two all-reduces a layer, and the logits gathered once.
  const models::Collective reduce{models::Collective::Kind::all_reduce, 2.0 * 32 * 4096, 16};
  const models::Collective gather{models::Collective::Kind::all_gather, 2.0 * 32 * 128256, 16};
  CHECK(family(cost, OperatorFamily::collective).si() ==
        approx((64 * collective_time(gpu.links, reduce) + collective_time(gpu.links, gather)).si()));
  const auto model = gpu.bind(llama_8b(), {16, 1, 1, 1}, {});
  model->step(DecodeBatch(32, 1024).batch);
  for (const std::string& warning : model->range_warnings()) CHECK(warning.find("collective") == std::string::npos);
}

TEST_CASE("a prompt chunk beside decodes costs less than two steps and more than either") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const auto model = gpu.bind(llama_8b(), {}, {});
  DecodeBatch both(32, 1024);
  const Seconds decode = model->step(both.batch).device;
  const std::array chunks = {models::PrefillChunk{512, 1024, true}};
  const Seconds prefill = model->step({chunks, 0, 1, {}}).device;
  both.batch.chunks = chunks;
  const Seconds mixed = model->step(both.batch).device;
  CHECK(mixed > decode);
  CHECK(mixed > prefill);
  CHECK(mixed < decode + prefill);
}

TEST_CASE("the same step costs the same however often it is asked for") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const auto model = gpu.bind(llama_8b(), {}, {});
  const DecodeBatch decode(48, 900);
  const StepCost cold = model->step(decode.batch), warm = model->step(decode.batch);
  CHECK(cold.device == warm.device);
  CHECK(cold.energy == warm.energy);
  CHECK(cold.bytes == warm.bytes);
}

TEST_CASE("doubling the memory bandwidth never slows a step") {
  Gpu gpu = worked_gpu("h100-sxm");
  for (const std::int64_t decodes : {1, 8, 64, 256}) {
    const Seconds before = decode_step(gpu, llama_8b(), decodes, 2048).device;
    Gpu faster = gpu;
    faster.hbm_bandwidth.value *= 2;
    CHECK(decode_step(faster, llama_8b(), decodes, 2048).device <= before);
  }
}

TEST_CASE("two tensor-parallel ranks split a step's bytes and pay for its collectives") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const StepCost one = decode_step(gpu, llama_8b(), 32, 4096),
                 two = decode_step(gpu, llama_8b(), 32, 4096, {2, 1, 1, 1});
  CHECK(two.bytes.si() == approx(one.bytes.si() / 2).epsilon(0.02));
  CHECK(two.device < one.device);
  CHECK(two.device > 0.5 * one.device);
}

TEST_CASE("energy follows work and bytes of all devices") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const StepCost cost = decode_step(gpu, llama_8b(), 32, 1024, {2, 1, 1, 1});
  CHECK(spent(cost, EnergyComponent::active) == Joules());
  CHECK(spent(cost, EnergyComponent::compute).si() == approx(2 * cost.flops.si() * 0.51e-12));
  CHECK(spent(cost, EnergyComponent::memory).si() == approx(2 * cost.bytes.si() * 10.6e-12 * 8));
  CHECK(spent(cost, EnergyComponent::interconnect) > Joules());
}

TEST_CASE("a step that would draw more than the power limit draws the limit, on less energy of work") {
  Gpu gpu = worked_gpu("h100-sxm");
  const StepCost free = decode_step(gpu, llama_8b(), 32, 1024);
  const auto compute = EnergyComponent::compute, memory = EnergyComponent::memory;
  const double dynamic = (spent(free, compute) + spent(free, memory)).si();
  const double headroom = dynamic / free.device.si() / 1.25;
  gpu.tdp.value = *gpu.idle + Watts(headroom);
  const StepCost capped = decode_step(gpu, llama_8b(), 32, 1024);
  CHECK((spent(capped, compute) + spent(capped, memory)).si() == approx(headroom * capped.device.si()));
  CHECK(capped.device > free.device);
  CHECK(capped.device < 1.25 * free.device);  // what it took at the full clock's energy
  CHECK(spent(capped, compute) < spent(free, compute));
  CHECK(spent(capped, memory).si() == approx(spent(free, memory).si()));
}

TEST_CASE("leaving the fitted range warns once per family, naming the device") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const auto model = gpu.bind(llama_8b(), {}, {});
  model->step(DecodeBatch(1, 1024).batch);
  CHECK(model->range_warnings().empty());
  model->step(DecodeBatch(1, 200000).batch);
  model->step(DecodeBatch(1, 300000).batch);
  REQUIRE(model->range_warnings().size() == 1);
  CHECK(model->range_warnings()[0] ==
        "decode_attention of h100-sxm left its fitted range: 1 decodes, the longest over 200000 tokens (fitted: 2048 "
        "decodes, 131072 tokens)");
}

TEST_CASE(
    "a token of an 8B model costs an H200 2.55 J at batch 1: 15 GB of weights, a row in tiles of 64, and 4.9 ms of a "
    "board of which 0.88 are launches") {
  const Gpu gpu = catalog_gpu("h200");
  const StepCost cost = decode_step(gpu, llama_8b(), 1, 1);
  const Joules above_idle = std::accumulate(cost.energy.begin(), cost.energy.end(), Joules());
  const Joules all = above_idle + *gpu.idle * cost.device;
  // 15.01 GB at 40.37 pJ a byte, 15.0 Gflop and 0.2143 of 63 times as many at 0.5767 pJ, and 121 + 312.3 W; not the
  // latter during launches: 32 layers of 4 x 2.59 for GEMMs, 4 for attention, 2 x 2.7 for norms, 2 x 1 for sums, 3
  // x 1.8 for rope, the KV copy and the activation; 11 us at both ends.
  const double launches = 32 * (4 * 2.59e-6 + 4e-6 + 2 * 2.7e-6 + 2e-6 + 3 * 1.8e-6) + 11e-6;
  const double joules = 0.6060 + 0.1255 + 433.3 * cost.device.si() - 312.3 * launches;
  CHECK(all.si() == approx(joules).epsilon(0.003));
  // GEMMs 4.09 ms: 32 layers of 15.3 + 12.1 + 59.2 + 33.2 us and 257 us of logits, 1.31 times what their weights take
  // at 4.8 TB/s; the rest are attention, norms and activations. (2.52 J with gate-up at 48.1 us, less than the 48.9 us
  // that its weights take; tables have products as wide at 1.15 to 1.28 times that, 1.21 here.)
  CHECK(all.si() == approx(2.55).epsilon(0.005));
}

TEST_CASE("twice the peak, or twice the peak and the multiprocessors, never slows a step") {
  const Gpu gpu = worked_gpu("h100-sxm");
  Gpu faster = gpu;
  faster.peak_bf16.value *= 2;
  Gpu wider = faster;
  wider.multiprocessors.value *= 2;
  const std::array chunks = {models::PrefillChunk{2048, 0, true}};
  for (const Gpu* better : {&faster, &wider}) {
    for (const std::int64_t decodes : {1, 64, 256})
      CHECK(decode_step(*better, llama_8b(), decodes, 2048).device <=
            decode_step(gpu, llama_8b(), decodes, 2048).device);
    CHECK(better->bind(llama_8b(), {}, {})->step({chunks, 0, 1, {}}).device <
          gpu.bind(llama_8b(), {}, {})->step({chunks, 0, 1, {}}).device);
  }
}

TEST_CASE("each KV law of a model has its own contexts") {
  models::ModelSpec windowed = llama_8b();
  windowed.groups.push_back(windowed.groups[0]);
  windowed.groups[0].count = windowed.groups[1].count = 16;
  windowed.groups[1].softmax().window = 1024;
  const Gpu gpu = worked_gpu("h100-sxm");
  const std::array attended = {equal_contexts(32, 16384), equal_contexts(32, 1024)};
  models::Batch batch;
  batch.decodes = 32;
  batch.attended = attended;
  const StepCost cost = gpu.bind(windowed, {}, {})->step(batch);
  const Seconds full = family(decode_step(gpu, llama_8b(), 32, 16384), OperatorFamily::decode_attention);
  const Seconds near = family(decode_step(gpu, llama_8b(), 32, 1024), OperatorFamily::decode_attention);
  CHECK(family(cost, OperatorFamily::decode_attention).si() == approx((full + near).si() / 2));
}

TEST_CASE("routed layers read more experts for more tokens and keep prompts and decodes apart") {
  models::ModelSpec routed = llama("qwen3-30b-a3b", 48, 2048, 32, 4, 128, 0, false);
  routed.groups[0].feed_forward.experts = 128;
  routed.groups[0].feed_forward.experts_per_token = 8;
  routed.groups[0].feed_forward.expert_width = 768;
  const Gpu gpu = worked_gpu("h100-sxm");
  const auto model = gpu.bind(routed, {}, {});
  const StepCost one = model->step(DecodeBatch(1, 100).batch), many = model->step(DecodeBatch(64, 100).batch);
  CHECK(family(one, OperatorFamily::grouped_gemm) < family(many, OperatorFamily::grouped_gemm));
  const std::array chunks = {models::PrefillChunk{64, 0, false}};
  const StepCost chunk = model->step({chunks, 0, 1, {}});
  CHECK(family(chunk, OperatorFamily::grouped_gemm) != family(many, OperatorFamily::grouped_gemm));
}

TEST_CASE("latent attention steps through prompts, decodes and both") {
  models::ModelSpec latent = llama("latent", 4, 2048, 16, 16, 192, 8192, false);
  latent.groups[0].mixer =
      models::LatentAttention{.heads = 16, .kv_rank = 512, .rope_dim = 64, .nope_dim = 128, .v_dim = 128};
  const Gpu gpu = worked_gpu("h100-sxm");
  const auto model = gpu.bind(latent, {}, {});
  const std::array chunks = {models::PrefillChunk{256, 4096, false}, models::PrefillChunk{64, 8192, true}};
  const Seconds prefill = model->step({chunks, 0, 1, {}}).device;
  DecodeBatch both(8, 4096);
  const Seconds decode = model->step(both.batch).device;
  both.batch.chunks = chunks;
  const Seconds mixed = model->step(both.batch).device;
  CHECK(mixed > prefill);
  CHECK(mixed > decode);
  CHECK(mixed < prefill + decode);
}

}  // namespace
}  // namespace llmscape::hardware::step_test
