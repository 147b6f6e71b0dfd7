// SPDX-License-Identifier: Apache-2.0
#include "hardware/roofline.hpp"
#include "hardware/split/attention_offload.hpp"
#include "large_models.hpp"
#include "split_cases.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

AttentionOffload offload(std::shared_ptr<const Device> attention, std::shared_ptr<const Device> weights) {
  AttentionOffload device;
  device.name = "offload";
  device.attention = std::move(attention);
  device.weights = std::move(weights);
  device.link = test_link();
  return device;
}

template <class D>
std::shared_ptr<const Device> shared(const D& device) {
  return std::make_shared<D>(device);
}

// 16 layers, each crossed twice: 2,048 elements of queries and of outputs in 16 bits, 2,048 B of KV entries.
Seconds crossings_of_1b(std::int64_t tokens) {
  return Seconds(32 * 10e-6 + static_cast<double>(tokens) * 16 * (2 * 2048 * 2 + 2 * 8 * 64 * 2) / 1e9);
}

TEST_CASE("on devices that run operators one after the other, the split costs the crossings and nothing else") {
  const auto tpu = catalogued<Roofline>("tpu-v5e");
  const AttentionOffload both = offload(shared(tpu), shared(tpu));
  const Decodes decodes(4, 4096);
  const Prompt prompt(512, 256);
  for (const models::Batch* batch : {&decodes.batch, &prompt.batch}) {
    const engine::EngineCost whole = step(tpu, llama_1b(), *batch), cost = step(both, llama_1b(), *batch);
    CHECK((cost.device - whole.device).si() == approx(crossings_of_1b(batch->tokens()).si()).epsilon(1e-9));
    CHECK(total_time(cost).si() == approx((cost.device + cost.host).si()));
    CHECK(cost.host == whole.host);
    const auto memory = [](const StepCost& c) { return energy(c, EnergyComponent::memory).si(); };
    CHECK(memory(cost) >= memory(whole));
    CHECK(memory(cost) < 1.1 * memory(whole));  // activations of the projections count on both devices
    CHECK(cost.flops.si() == approx(whole.flops.si()).epsilon(0.01));
  }
}

TEST_CASE("KV is read at the bandwidth of the one device, weights at that of the other") {
  const DataflowDevice weights = bare_socket();
  DataflowDevice attention = bare_socket();
  attention.count = 2;
  attention.tiers.hbm_bandwidth.value *= 0.25;  // 2 x 0.3 TB/s
  const Decodes decodes(4, 8192);
  const engine::EngineCost cost = step(offload(shared(attention), shared(weights)), llama_8b(), decodes.batch);
  const double kv = 4 * 8193.0 * 131072 / 0.6e12, read = (32 * 218103808.0 + 4096.0 * 128256) * 2 / 1.2e12;
  const double crossed = 64 * 10e-6 + 4 * 32 * (2 * 4096 * 2 + 4096) / 1e9;
  CHECK(cost.device.si() == approx(kv + read + crossed).epsilon(1e-3));
  CHECK(cost.by_family[static_cast<std::size_t>(OperatorFamily::decode_attention)].si() == approx(kv).epsilon(1e-3));
  CHECK(cost.by_family[static_cast<std::size_t>(OperatorFamily::collective)].si() == approx(crossed).epsilon(1e-3));
}

TEST_CASE("attention alone is one stage: what the other device multiplies takes no units here, and fills nothing") {
  DataflowDevice attention = bare_socket();
  attention.fabric.compute_units.value = 4;
  attention.fabric.least_units.value = 1;
  attention.fabric.fill.value = Seconds(18e-6);
  const Decodes decodes(4, 8192);
  const engine::EngineCost cost = step(offload(shared(attention), shared(bare_socket())), llama_8b(), decodes.batch);
  const double kv = 4 * 8193.0 * 131072 / 1.2e12, filled = 32 * 18e-6;  // one section a layer
  CHECK(cost.by_family[static_cast<std::size_t>(OperatorFamily::decode_attention)].si() ==
        approx(kv + filled).epsilon(1e-3));
}

// Four matrices a layer on four units: one section; with the attention, which is the other device's, it was two. The
// head, 1.05 GB behind 520 MB of SRAM, is three.
TEST_CASE("weights without their attention are as many stages as matrices") {
  DataflowDevice weights = bare_socket();
  weights.fabric.compute_units.value = 4;
  weights.fabric.least_units.value = 1;
  weights.fabric.fill.value = Seconds(18e-6);
  const Decodes decodes(4, 8192);
  const engine::EngineCost cost = step(offload(shared(bare_socket()), shared(weights)), llama_8b(), decodes.batch);
  const double read = (32 * 218103808.0 + 4096.0 * 128256) * 2 / 1.2e12, filled = (32 + 3) * 18e-6;
  CHECK(cost.by_family[static_cast<std::size_t>(OperatorFamily::gemm)].si() == approx(read + filled).epsilon(1e-3));
}

TEST_CASE("the KV cache is as large as the attention's memory, weights take memory on the other device alone") {
  const DataflowDevice socket = bare_socket();
  DataflowDevice four = socket;
  four.count = 4;
  const AttentionOffload device = offload(shared(socket), shared(four));
  CHECK(device.problems(llama_70b(), {}).empty());  // 141 GB on 4 x 64
  CHECK(static_cast<double>(engine::stated_kv_tokens(device, llama_70b(), {})) == approx(64e9 / 327680).epsilon(1e-3));
  CHECK(device.memory().si() == approx(5 * 64e9));
  CHECK(device.idle_power().si() == approx(5 * 200));

  const auto tpu = catalogued<Roofline>("tpu-v5e");
  const AttentionOffload reserved = offload(shared(tpu), shared(four));
  CHECK(static_cast<double>(engine::stated_kv_tokens(reserved, llama_70b(), {})) ==
        approx(0.9 * tpu.memory().si() / 327680).epsilon(1e-2));
}

TEST_CASE("each part says what it cannot do") {
  const DataflowDevice socket = bare_socket();
  DataflowDevice three = socket;
  three.count = 3;
  const auto problems = offload(shared(three), shared(socket)).problems(llama_70b(), {});
  REQUIRE(problems.size() >= 2);
  CHECK(problems.front().starts_with("attention (sn40l): tensor parallelism 3"));
  CHECK(problems.back().starts_with("weights (sn40l): 141.1 GB of weights"));
  CHECK(offload(shared(socket), shared(socket)).problems(llama_1b(), {.pipeline = 2}).size() == 1);
}

TEST_CASE("weights take their share of a part's memory as well, the rest is for activations") {
  // 2.47 GB of weights: 0.9 of 2.75 GB are 2.475, of 2.74 GB 2.466.
  const auto with = [](double bytes) {
    auto small = catalogued<Roofline>("tpu-v5e");
    small.memory_capacity.value = Bytes(bytes);
    return offload(shared(bare_socket()), shared(small)).problems(llama_1b(), {});
  };
  CHECK(with(2.75e9).empty());
  const auto problems = with(2.74e9);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0] ==
        "weights (tpu-v5e): 2.472 GB of weights on each exceed 0.9 (memory_utilization) of its 2.74 GB of memory");
}

TEST_CASE("a chip of SRAM alone holds the weights, the KV cache lies elsewhere") {
  auto lpu = catalogued<DataflowDevice>("groq-lpu");
  lpu.count = 16;
  const AttentionOffload device = offload(shared(bare_socket()), shared(lpu));
  const Decodes decodes(64, 16384);
  const engine::EngineCost cost = step(device, quantised(llama_1b(), kInt8), decodes.batch);
  CHECK(cost.device > cost.by_family[static_cast<std::size_t>(OperatorFamily::decode_attention)]);
  CHECK(lpu.kv_tokens(quantised(llama_1b(), kInt8), {.tensor = 16}) < 64 * 16384 / 4);
  CHECK(engine::stated_kv_tokens(device, quantised(llama_1b(), kInt8), {}) > 64 * 16384);
}

TEST_CASE("several tokens a decode are verified at once, and every device of the catalogue can be either part") {
  Decodes decodes(2, 256);
  decodes.batch.tokens_per_decode = 4;
  for (const std::string& name : catalog_names(kCatalog)) {
    CAPTURE(name);
    const auto part = catalog_device(name);
    const models::ModelSpec model = runnable(*part);
    AttentionOffload as_attention = offload(part, shared(bare_socket()));
    AttentionOffload as_weights = offload(shared(bare_socket()), part);
    if (name == "groq-lpu") {
      auto several = catalogued<DataflowDevice>(name);
      several.count = 16;
      as_weights.weights = shared(several);
    }
    for (const AttentionOffload* device : {&as_attention, &as_weights}) {
      const engine::EngineCost cost = step(*device, model, decodes.batch);
      CHECK(cost.device > Seconds());
      CHECK(cost.device < Seconds(10));
      CHECK(total_time(cost).si() == approx((cost.device + cost.host).si()));
      CHECK(cost.flops > Flops());
    }
  }
}

}  // namespace
}  // namespace llmscape::hardware
