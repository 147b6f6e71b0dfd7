// SPDX-License-Identifier: Apache-2.0
#include "hardware/dataflow/chip.hpp"
#include "hardware/gpu/gpu.hpp"
#include "hardware/roofline.hpp"
#include "hardware/split/pipeline.hpp"
#include "large_models.hpp"
#include "models/model_parts.hpp"
#include "split_cases.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

template <class D>
PipelineSplit split(const D& first, std::int64_t first_layers, const D& second, std::int64_t second_layers) {
  PipelineSplit device;
  device.name = "split";
  device.stages = {{std::make_shared<D>(first), first_layers}, {std::make_shared<D>(second), second_layers}};
  device.link = test_link();
  return device;
}

Seconds crossing(std::int64_t tokens, std::int64_t hidden) {
  return Seconds(10e-6 + static_cast<double>(tokens * hidden * 2) / 1e9);
}

TEST_CASE("two equal halves take as long as the whole and one crossing, and draw as much") {
  const DataflowDevice socket = bare_socket();
  const PipelineSplit halves = split(socket, 8, socket, 8);
  const Decodes decodes(6, 1000);
  const Prompt prompt(512, 128);
  for (const models::Batch* batch : {&decodes.batch, &prompt.batch}) {
    const engine::EngineCost whole = step(socket, llama_1b(), *batch), both = step(halves, llama_1b(), *batch);
    const auto crossed = static_cast<double>(batch->tokens() * 2048 * 2);
    CHECK(both.device.si() == approx((whole.device + crossing(batch->tokens(), 2048)).si()).epsilon(1e-12));
    CHECK(total_time(both).si() == approx((both.device + both.host).si()));
    CHECK(both.host.si() == approx(whole.host.si()));
    CHECK(total_energy(both).si() == approx(total_energy(whole).si() + crossed * 8 * 10e-12));
    CHECK(both.flops.si() == approx(whole.flops.si()));
    CHECK(both.bytes.si() == approx(whole.bytes.si()));
    CHECK(busy(both, Resource::memory).si() == approx(busy(whole, Resource::memory).si()));
    CHECK(busy(both, Resource::links).si() == approx(crossed / 1e9));
  }
}

TEST_CASE("halves err as their devices do: residuals that are known are not supposed anew") {
  const auto gpu = catalogued<Gpu>("h100-sxm");
  const models::ModelSpec model = llama_8b();
  const auto whole = gpu.spreads(model, {}, {}), both = split(gpu, 8, gpu, 8).spreads(model, {}, {});
  for (std::size_t family = 0; family < whole.size(); ++family) {
    CAPTURE(family);
    if (family == static_cast<std::size_t>(OperatorFamily::collective)) continue;  // theirs is the link's
    CHECK(both[family] == whole[family]);
  }
}

TEST_CASE("stages multiply what all of them can, and say of their joules what the weakest says") {
  const auto hopper = catalogued<Gpu>("h100-sxm"), ampere = catalogued<Gpu>("a100-80");
  const PipelineSplit alike = split(hopper, 8, hopper, 8), unlike = split(hopper, 8, ampere, 8);
  REQUIRE(alike.arithmetic());
  CHECK(alike.arithmetic()->fp8);
  CHECK_FALSE(unlike.arithmetic()->fp8);
  CHECK(unlike.arithmetic()->int8);
  models::Precision fp8;
  fp8.weights = *models::format_named("fp8");
  CHECK(served_precision(alike, fp8, ActivationsBy::engine).precision.activations.name == "fp8");
  CHECK(served_precision(unlike, fp8, ActivationsBy::engine).precision.activations.name == "bf16");
  CHECK(alike.energy_tags().dynamic == hopper.energy_tags().dynamic);
  CHECK(alike.energy_tags().link == Tag::assumed);  // from memory, in a block that was fitted
  CHECK(catalogued<Gpu>("a100-80").energy_tags().link == std::nullopt);
  // Boards are a board, chips and boards are neither; what is stated holds.
  CHECK(alike.boundary() == EnergyBoundary::board);
  Gpu chip = ampere;
  chip.energy_boundary = EnergyBoundary::chip;
  CHECK(split(hopper, 8, chip, 8).boundary() == EnergyBoundary::unstated);
  PipelineSplit stated = alike;
  stated.energy_boundary = EnergyBoundary::node;
  CHECK(stated.boundary() == EnergyBoundary::node);
  CHECK(alike.parts() == 2);
}

TEST_CASE("a prompt that does not end computes no logits, whoever has the head") {
  const DataflowDevice socket = bare_socket();
  std::vector<models::PrefillChunk> chunks{{512, 0, false}};
  models::Batch batch;
  batch.chunks = chunks;
  const engine::EngineCost whole = step(socket, llama_1b(), batch),
                           both = step(split(socket, 8, socket, 8), llama_1b(), batch);
  CHECK((both.device - whole.device).si() == approx(crossing(512, 2048).si()).epsilon(1e-9));
}

TEST_CASE("20 layers at 1.2 TB/s, then 12 and the head at half of that: the sum of the parts") {
  const DataflowDevice fast = bare_socket();
  DataflowDevice slow = fast;
  slow.tiers.hbm_bandwidth.value *= 0.5;
  const Decodes one(1, 1);
  const double layer = 2 * 218103808.0 / 1.2e12, head = 2 * 4096.0 * 128256 / 1.2e12;
  CHECK(step(split(fast, 20, slow, 12), llama_8b(), one.batch).device.si() ==
        approx(20 * layer + 2 * (12 * layer + head) + 10e-6 + 8192 / 1e9).epsilon(1e-4));
  CHECK(step(split(slow, 20, fast, 12), llama_8b(), one.batch).device.si() ==
        approx(2 * 20 * layer + 12 * layer + head + 10e-6 + 8192 / 1e9).epsilon(1e-4));
}

TEST_CASE("a later stage reads what arrives as the first reads rows of the embedding: one small operator more") {
  const auto tpu = catalogued<Roofline>("tpu-v5e");
  const Decodes decodes(4, 512);
  const engine::EngineCost whole = step(tpu, llama_1b(), decodes.batch);
  const engine::EngineCost both = step(split(tpu, 4, tpu, 12), llama_1b(), decodes.batch);
  const Seconds input =
      *tpu.per_operator + Bytes(2.0 * 2 * 4 * 2048) / (*tpu.memory_efficiency * *tpu.memory_bandwidth);
  CHECK((both.device - whole.device).si() == approx((crossing(4, 2048) + input).si()).epsilon(1e-6));
  CHECK(both.host == whole.host);  // hosts of stages work at the same time
  CHECK(total_time(both).si() == approx((both.device + both.host).si()));
}

TEST_CASE("a stage without full attention gets the contexts of its own KV laws") {
  models::ModelSpec model = llama_1b();
  models::LayerGroup windowed = model.groups[0];
  model.groups[0].count = windowed.count = 1;
  windowed.softmax().window = 128;
  model.groups = {windowed, model.groups[0]};
  models::Batch batch;
  const std::vector<models::Attended> attended{{4 * 100000, 100000}, {4 * 128, 128}};
  batch.decodes = 4;
  batch.attended = attended;
  DataflowDevice socket = bare_socket();
  socket.tiers.sram.value = Bytes(1e6);  // a single layer would stay in it
  const engine::EngineCost whole = step(socket, model, batch), both = step(split(socket, 1, socket, 1), model, batch);
  CHECK((both.device - whole.device).si() == approx(crossing(4, 2048).si()).epsilon(1e-9));
}

TEST_CASE("the tightest stage says how many tokens of KV fit; memory and idle power are those of all devices") {
  const DataflowDevice socket = bare_socket();
  DataflowDevice pair = socket;
  pair.count = 2;
  const PipelineSplit device = split(socket, 20, pair, 60);
  // Of 80 layers: 20 in 64 GB, 60 and the head in 128 GB. Every token takes 4,096 B in each layer.
  const double layer = 1711276032.0 + 4 * 8192, table = 2.0 * 8192 * 128256;
  const double first = (64e9 - 20 * layer - table) / (20 * 4096), second = (128e9 - 60 * layer - table) / (60 * 4096);
  CHECK(second < first);
  CHECK(static_cast<double>(engine::stated_kv_tokens(device, llama_70b(), {})) == approx(second).epsilon(1e-4));
  CHECK(device.memory().si() == approx(3 * 64e9));
  CHECK(device.idle_power().si() == approx(3 * 200));
  CHECK(device.provenance()[static_cast<std::size_t>(OperatorFamily::collective)] == Tag::assumed);

  const auto tpu = catalogued<Roofline>("tpu-v5e");  // 16 GB, of which 0.9 are for weights and KV
  const double kv = 8 * 2 * 8 * 64 * 2, weights = 8 * 2 * (60817408.0 + 2 * 2048) + 2 * 2048.0 * 128256;
  CHECK(static_cast<double>(engine::stated_kv_tokens(split(tpu, 8, tpu, 8), llama_1b(), {})) ==
        approx((0.9 * tpu.memory().si() - weights) / kv).epsilon(1e-3));
}

TEST_CASE("stages must have all layers, hold their own, and leave memory for KV; the engine adds no parallelism") {
  const DataflowDevice socket = bare_socket();
  const auto problems = [](const PipelineSplit& device, const models::ModelSpec& model,
                           models::ParallelPlan plan = {}) { return device.problems(model, plan); };
  CHECK(problems(split(socket, 8, socket, 8), llama_1b()).empty());
  CHECK(problems(split(socket, 8, socket, 8), llama_8b()) ==
        std::vector<std::string>{"the stages of split have 16 layers, llama-3.1-8b has 32"});
  CHECK(problems(split(socket, 8, socket, 8), llama_1b(), {.tensor = 2}).size() == 1);
  const auto too_large = problems(split(socket, 70, socket, 10), llama_70b());
  REQUIRE(too_large.size() == 1);
  CHECK(too_large[0].starts_with("stage 1 (sn40l): "));
  DataflowDevice three = socket;
  three.count = 3;
  CHECK_FALSE(problems(split(socket, 8, three, 8), llama_1b()).empty());  // 32 heads

  auto tpu = catalogued<Roofline>("tpu-v5e");
  tpu.memory_capacity.value = Bytes(1.6e9);  // 1.5 GB of weights fit, but not 0.9 of it
  CHECK(problems(split(tpu, 8, tpu, 8), llama_1b()).empty());
  const auto full = engine::kv_problems(split(tpu, 8, tpu, 8), llama_1b());
  REQUIRE(full.size() == 2);
  CHECK(full[0].ends_with("its weights leave no memory for KV"));
}

TEST_CASE("every device of the catalogue can be a stage") {
  const Decodes decodes(2, 256);
  for (const std::string& name : catalog_names(kCatalog)) {
    CAPTURE(name);
    PipelineSplit device;
    device.name = "split";
    device.link = test_link();
    const auto part = catalog_device(name);
    device.stages = {{part, 5}, {part, 6}, {part, 5}};
    const models::ModelSpec model = runnable(*part);
    if (!device.problems(model, {}).empty()) {
      CHECK(name == "groq-lpu");  // the table of 128,256 rows needs two
      continue;
    }
    const engine::EngineCost cost = step(device, model, decodes.batch);
    CHECK(cost.device > Seconds());
    CHECK(cost.device < Seconds(10));
    CHECK(total_time(cost).si() == approx((cost.device + cost.host).si()));
  }
}

}  // namespace
}  // namespace llmscape::hardware
