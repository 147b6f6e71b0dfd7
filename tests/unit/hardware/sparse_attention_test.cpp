// SPDX-License-Identifier: Apache-2.0
// Steps of models that a token plan has changed.
#include "hardware_fixtures.hpp"

#include "models/attention_pairs.hpp"
#include "models/token_plans/minference.hpp"
#include "models/token_plans/snapkv.hpp"
#include "models/token_plans/streaming.hpp"
#include "models/token_plans/swiftkv.hpp"
#include "tests/support/approx.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace llmscape::hardware::sparse_attention_test {
namespace {

using llmscape::testing::approx;

template <class Plan>
models::ModelSpec under(const Plan& plan) {
  models::ModelSpec model = llama_8b();
  plan.apply(model);
  return model;
}

StepCost prompt_step(const Device& device, const models::ModelSpec& model, std::int64_t tokens,
                     std::int64_t cached = 0) {
  const std::array<models::PrefillChunk, 1> chunk = {models::PrefillChunk{tokens, cached, true}};
  models::Batch batch;
  batch.chunks = chunk;
  return device.bind(model, {}, {})->step(batch);
}

// A prompt of 2,000 tokens beside four decodes over 1,000 each.
StepCost mixed_step(const Device& device, const models::ModelSpec& model) {
  const std::array<models::PrefillChunk, 1> chunk = {models::PrefillChunk{2000, 0, true}};
  const std::array<models::Attended, 1> attended = {models::Attended{4000, 1000}};
  models::Batch batch;
  batch.chunks = chunk;
  batch.decodes = 4;
  batch.attended = attended;
  return device.bind(model, {}, {})->step(batch);
}

Seconds family(const StepCost& cost, OperatorFamily f) { return cost.by_family[static_cast<std::size_t>(f)]; }

bool same(const StepCost& a, const StepCost& b) {
  return a.device == b.device && a.by_family == b.by_family && a.flops == b.flops && a.bytes == b.bytes &&
         a.energy == b.energy;
}

}  // namespace

TEST_CASE("a sparse kernel takes its FLOPs at its efficiency, and streams queries, keys and values") {
  const Gpu gpu = worked_gpu("h100-sxm");
  SparseAttentionParameters p;
  p.compute_efficiency = 0.2;
  models::PrefillAttention shape;
  shape.heads = 32;
  shape.kv_heads = 8;
  shape.head_dim = 128;
  shape.window = 4000;
  shape.estimate_queries = 64;
  shape.sparse_kernel = "minference";
  const std::vector<models::PrefillChunk> chunk = {{10'000, 0, true}};
  const KernelCost cost = sparse_attention_cost(gpu, p, 0.5, shape, chunk);
  const double pairs = 4000.0 * 4001 / 2 + 6000.0 * 4000;
  const double flops = 32 * 128 * (4 * pairs + 2 * 64 * 10'000.0);
  // Keys and values read once and appended (read, written), queries in and outputs back, bf16.
  const double bytes = 3 * 10'000.0 * 8 * 2 * 128 * 2 + 10'000.0 * 32 * 2 * 128 * 2;
  CHECK(cost.flops.si() == approx(flops).epsilon(1e-12));
  CHECK(cost.bytes.si() == approx(bytes).epsilon(1e-12));
  CHECK(cost.time.si() == approx(flops / (0.2 * 989.5e12) + bytes / (0.5 * 3.35e12)).epsilon(1e-3));
}

TEST_CASE("half of the layers as keys and values only: half of a prompt's FLOPs, as the layers' shapes say") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const double n = 8192, d = 4096, kv = 1024, ff = 14336;
  const double linear = 2 * (2 * d * d + 2 * d * kv + 3 * d * ff), attention = 2 * d * (n + 1), projection = 4 * d * kv;
  const double whole = prompt_step(gpu, llama_8b(), 8192).flops.si();
  const double half = prompt_step(gpu, under(models::SwiftKv{}), 8192).flops.si();
  CHECK(half / whole == approx(0.5 + 0.5 * projection / (linear + attention)).epsilon(1e-3));
  CHECK(prompt_step(gpu, under(models::SwiftKv{}), 8192).device < 0.55 * prompt_step(gpu, llama_8b(), 8192).device);
}

TEST_CASE("decodes are priced the same with swiftkv and without") {
  const Gpu gpu = worked_gpu("h100-sxm");
  const std::array<models::Attended, 1> attended = {models::Attended{32 * 1000, 1000}};
  models::Batch batch;
  batch.decodes = 32;
  batch.attended = attended;
  const StepCost plain = gpu.bind(llama_8b(), {}, {})->step(batch);
  const StepCost swift = gpu.bind(under(models::SwiftKv{}), {}, {})->step(batch);
  CHECK(swift.device.si() == approx(plain.device.si()).epsilon(1e-12));
}

TEST_CASE("contexts within sinks and window cost what full attention costs, to the byte") {
  for (const char* name : {"h100-sxm", "a100-80"}) {
    const auto gpu = catalog_device(name);
    models::Streaming plan;
    plan.sinks = 128;
    plan.window = 3968;
    CHECK(same(prompt_step(*gpu, under(plan), 4096), prompt_step(*gpu, llama_8b(), 4096)));
    CHECK(same(prompt_step(*gpu, under(plan), 1000, 3096), prompt_step(*gpu, llama_8b(), 1000, 3096)));
    CHECK(prompt_step(*gpu, under(plan), 100'000).device < prompt_step(*gpu, llama_8b(), 100'000).device);
    CHECK(same(mixed_step(*gpu, under(plan)), mixed_step(*gpu, llama_8b())));
  }
}

TEST_CASE("choosing what stays of a prompt is no more than 2 % of computing it") {
  const auto gpu = catalog_device("a100-80");
  const Seconds plain = prompt_step(*gpu, llama_8b(), 16'384).device;
  const Seconds chosen = prompt_step(*gpu, under(models::SnapKv{}), 16'384).device;
  CHECK(chosen > plain);
  CHECK(chosen < 1.02 * plain);
}

TEST_CASE("a device that does not know a sparse kernel assumes one and says so") {
  Gpu gpu = worked_gpu("h100-sxm");
  const std::array<models::PrefillChunk, 1> chunk = {models::PrefillChunk{4096, 0, true}};
  models::Batch batch;
  batch.chunks = chunk;
  const auto warned = [&](const Gpu& device) {
    const auto steps = device.bind(under(models::MInference{}), {}, {});
    const StepCost cost = steps->step(batch);
    const auto warnings = steps->range_warnings();
    const bool said = std::ranges::any_of(
        warnings, [](const std::string& text) { return text.starts_with("sparse attention 'minference'"); });
    CHECK((cost.extrapolated >= family(cost, OperatorFamily::prefill_attention)) == said);
    return said;
  };
  CHECK(warned(gpu));
  gpu.sparse_attention["minference"] = assumed_sparse_attention();
  CHECK_FALSE(warned(gpu));
}

TEST_CASE(
    "sparse kernels of the A100 come from seconds of whole prompts, and MInference's is what is assumed elsewhere") {
  const Gpu a100 = catalog_gpu("a100-80");
  for (const char* kernel : {"minference", "sglang", "a_shape"}) {
    CAPTURE(kernel);
    CHECK(a100.sparse_attention.at(kernel).tag == Tag::fitted_end_to_end);
  }
  CHECK(a100.sparse_attention.at("minference").compute_efficiency == assumed_sparse_attention().compute_efficiency);
}

TEST_CASE("devices that price layers whole refuse models under a token plan") {
  for (const char* name : {"edgecim", "sn40l"}) {
    CAPTURE(name);
    const auto device = catalog_device(name);
    const auto problems = device->problems(under(models::SwiftKv{}), {});
    CHECK(std::ranges::any_of(problems, [](const auto& text) { return text.find("token plan") != std::string::npos; }));
  }
}

TEST_CASE("rooflines and CPUs honour what a plan leaves out") {
  for (const char* name : {"tpu-v5e", "cpu-epyc-vm"}) {
    CAPTURE(name);
    const auto device = catalog_device(name);
    const StepCost whole = prompt_step(*device, llama_8b(), 32'768);
    const StepCost half = prompt_step(*device, under(models::SwiftKv{}), 32'768);
    CHECK(half.flops.si() == approx(0.512 * whole.flops.si()).epsilon(0.01));
    const StepCost sparse = prompt_step(*device, under(models::MInference{}), 32'768);
    // 4 x 4,096 x 32 FLOP a pair left out.
    const double left_out = models::causal_pairs(32'768, 0) - models::windowed_pairs(32'768, 0, 804 + 3182);
    const double scored = 64 * 32'768.0 / 2;
    CHECK(whole.flops.si() - sparse.flops.si() == approx(4 * 4096 * 32 * (left_out - scored)).epsilon(1e-9));
  }
}

}  // namespace llmscape::hardware::sparse_attention_test
