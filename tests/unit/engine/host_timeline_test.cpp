// SPDX-License-Identifier: Apache-2.0
// What an engine adds to the devices' time of a step: the host's work, launches, and the padding of captured graphs.
#include "sim/engine/engine_model.hpp"

#include <array>
#include <numeric>

#include "tests/support/approx.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"

using llmscape::testing::approx;

namespace llmscape::engine {
namespace {

using hardware::catalog_gpu, hardware::equal_contexts, hardware::Gpu, hardware::llama, hardware::llama_8b,
    hardware::OperatorFamily, hardware::worked_gpu;

Seconds family(const EngineCost& cost, OperatorFamily f) { return cost.by_family[static_cast<std::size_t>(f)]; }

// `decodes` sequences over `context` tokens each.
struct DecodeBatch {
  std::array<models::Attended, 1> attended;
  models::Batch batch;
  DecodeBatch(std::int64_t decodes, std::int64_t context) : attended{equal_contexts(decodes, context)} {
    batch.decodes = decodes;
    batch.attended = attended;
  }
};

EngineCost decode_step(const Device& device, const models::ModelSpec& model, std::int64_t decodes, std::int64_t context,
                       const models::ParallelPlan& plan = {}, const Settings& settings = {}) {
  const DecodeBatch decode(decodes, context);
  return bind(device, model, plan, settings)->step(decode.batch);
}

TEST_CASE("a dataflow machine's host has work for each sequence, beside the step or before it") {
  const auto socket = hardware::catalog_device("sn40l");
  const EngineCost one = decode_step(*socket, llama_8b(), 1, 512, {.tensor = 16}),
                   many = decode_step(*socket, llama_8b(), 30, 512, {.tensor = 16});
  CHECK(one.host.si() == approx(4e-6));  // the catalogue's 4 us
  CHECK(many.host.si() == approx(120e-6));
  CHECK(many.launch == Seconds());
}

TEST_CASE("the families of a step sum to the device's time and the host's") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const EngineCost cost = decode_step(gpu, llama_8b(), 17, 700, {2, 1, 1, 1});
  const Seconds sum = std::accumulate(cost.by_family.begin(), cost.by_family.end(), Seconds());
  CHECK(sum.si() == approx((cost.device + cost.host).si()).epsilon(1e-12));
  CHECK(family(cost, OperatorFamily::collective) > Seconds());
}

TEST_CASE("captured graphs pad a decode batch to the next size, mixed batches are not padded") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const EngineCost nine = decode_step(gpu, llama_8b(), 9, 1000), sixteen = decode_step(gpu, llama_8b(), 16, 1000);
  CHECK(family(nine, OperatorFamily::elementwise).si() ==
        approx(family(sixteen, OperatorFamily::elementwise).si()).epsilon(1e-3));
  Settings eager;
  eager.graphs.mode = CudaGraphs::none;
  const EngineCost unpadded = decode_step(gpu, llama_8b(), 9, 1000, {}, eager);
  CHECK(family(unpadded, OperatorFamily::gemm) < family(nine, OperatorFamily::gemm));
}

TEST_CASE("65 decodes compute what a captured batch of 72 does, all but their attention and their logits") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const EngineCost some = decode_step(gpu, llama_8b(), 65, 1000), captured = decode_step(gpu, llama_8b(), 72, 1000);
  const auto head = [&](std::int64_t rows) { return gemm_cost(gpu, gpu.gemm, {rows, 128256, 4096, {}, {}}).time.si(); };
  CHECK(family(some, OperatorFamily::gemm).si() - head(65) ==
        approx(family(captured, OperatorFamily::gemm).si() - head(72)).epsilon(1e-12));
  CHECK(family(some, OperatorFamily::decode_attention) < family(captured, OperatorFamily::decode_attention));
}

TEST_CASE("beyond the largest captured size a step runs eager: not padded, launched layer by layer") {
  const Gpu gpu = worked_gpu("h100-sxm");
  Settings small;
  small.graphs.max_captured = 64;
  small.graphs.mode = CudaGraphs::full;
  Settings eager;
  eager.graphs.mode = CudaGraphs::none;
  const EngineCost beyond = decode_step(gpu, llama_8b(), 65, 1000, {}, small);
  CHECK(beyond.device == decode_step(gpu, llama_8b(), 65, 1000, {}, eager).device);
  CHECK(beyond.host.si() == approx((126 + 65 * 4) * 1e-6));
  CHECK(beyond.launch.si() == approx((32 * 10 + 4) * 22e-6));
  const EngineCost captured = decode_step(gpu, llama_8b(), 64, 1000, {}, small);
  CHECK(captured.host.si() == approx((126 + 64 * 4) * 1e-6));
  CHECK(captured.launch.si() == approx(10e-6));
}

TEST_CASE("the next captured size is 1, 2, 4, a multiple of 8 to 256 or of 16 to 512") {
  const Graphs graphs;
  const std::array<std::array<std::int64_t, 2>, 10> expected = {
      {{1, 1}, {2, 2}, {3, 4}, {5, 8}, {9, 16}, {32, 32}, {255, 256}, {257, 272}, {512, 512}, {513, 513}}};
  for (const auto& [tokens, padded] : expected) CHECK(padded_tokens(tokens, graphs) == padded);
  Graphs odd;
  odd.max_captured = 100;  // the largest size that is captured is 96
  CHECK(padded_tokens(95, odd) == 96);
  CHECK(padded_tokens(97, odd) == 97);
}

// Norm, qkv, rope, cache write, attention, o, norm, gate and up, activation, down: 10 a layer; embedding, last norm,
// head and sampler outside.
TEST_CASE("the host pays per step and per request; it launches one graph, or every operator") {
  const Gpu gpu = worked_gpu("h100-sxm");
  CHECK(decode_step(gpu, llama_8b(), 32, 1024).host.si() == approx((126 + 32 * 4) * 1e-6));
  CHECK(decode_step(gpu, llama_8b(), 32, 1024).launch.si() == approx(10e-6));
  Settings eager;
  eager.graphs.mode = CudaGraphs::none;
  CHECK(decode_step(gpu, llama_8b(), 32, 1024, {}, eager).launch.si() == approx((32 * 10 + 4) * 22e-6));
}

TEST_CASE(
    "mixed steps launch the pieces between attentions as graphs, or as compiled kernels beyond the captured sizes") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const auto launch = [&](CudaGraphs mode, std::int64_t chunk) {
    Settings settings;
    settings.graphs.mode = mode;
    DecodeBatch both(32, 1024);
    const std::array chunks = {models::PrefillChunk{chunk, 0, true}};
    both.batch.chunks = chunks;
    return bind(gpu, llama_8b(), {}, settings)->step(both.batch).launch.si();
  };
  for (const CudaGraphs mode : {CudaGraphs::piecewise, CudaGraphs::full_and_piecewise}) {
    CHECK(launch(mode, 64) == approx(33 * 10e-6 + 64 * 22e-6));
    CHECK(launch(mode, 1024) == approx((324 - 64) * 5e-6 + 64 * 22e-6));
  }
  for (const CudaGraphs mode : {CudaGraphs::none, CudaGraphs::full}) CHECK(launch(mode, 64) == approx(324 * 22e-6));
}

TEST_CASE("a mixture launches four operators more in a layer, tensor parallelism two") {
  models::ModelSpec routed = llama_8b();
  routed.groups[0].feed_forward = {.width = 0, .experts = 128, .experts_per_token = 8, .expert_width = 768};
  CHECK(launches_of(llama_8b(), {}).kernels == 32 * 10 + 4);
  CHECK(launches_of(routed, {}).kernels == 32 * 14 + 4);
  CHECK(launches_of(llama_8b(), {2, 1, 1, 1}).kernels == 32 * 12 + 5);  // and the logits are gathered
  // Two stages, and the hidden state sent between them.
  CHECK(launches_of(llama_8b(), {1, 2, 1, 1}).kernels == (32 * 10 + 4 + 1) / 2.0);
}

// Splitwise (arXiv 2311.18677; its simulator's performance model): Llama-2-70B on A100s, vLLM of 2023 without graphs,
// prompts of 512: 44.99 ms a token on four and 44.85 ms on eight, the same where nothing but launches is the same.
TEST_CASE("Llama-2-70B without graphs on four and on eight A100 takes what its launches take: 45 ms a token") {
  const Gpu gpu = worked_gpu("a100-80");
  const models::ModelSpec model = llama("llama-2-70b", 80, 8192, 64, 8, 128, 28672, false);
  Settings eager;
  eager.graphs.mode = CudaGraphs::none;
  const DecodeBatch decode(1, 576);
  const EngineCost cost = bind(gpu, model, {8, 1, 1, 1}, eager)->step(decode.batch);
  CHECK(cost.launch.si() == approx((80 * 12 + 5) * 44.7e-6));
  CHECK(cost.launch > cost.device);
  CHECK((cost.host + cost.stage()).si() == approx(44.85e-3).epsilon(0.05));
}

TEST_CASE("a step without work costs the host alone") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const EngineCost cost = bind(gpu, llama_8b(), {}, {})->step({});
  CHECK(cost.device == Seconds());
  CHECK(cost.host.si() == approx(126e-6));
  CHECK(cost.launch.si() == approx(10e-6));
}

}  // namespace
}  // namespace llmscape::engine
