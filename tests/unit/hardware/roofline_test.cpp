// SPDX-License-Identifier: Apache-2.0
// Devices that are known by their data sheet or by a published speed.
#include "hardware/roofline.hpp"
#include "closed_form_cases.hpp"
#include "tests/support/approx.hpp"

#include <array>
#include <numeric>

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

models::ModelSpec llama_3b_w4a16() {
  models::ModelSpec model = llama("llama-3.2-3b", 28, 3072, 24, 8, 128, 8192, true);
  model.precision.weights = kInt4;
  model.precision.kv = kInt8;
  return model;
}

// A prompt through chunks of 128 tokens, as these processors take it.
double first_token(const Device& device, std::int64_t tokens) {
  double seconds = 0;
  for (std::int64_t done = 0; done < tokens; done += 128) {
    Prompt chunk(128, done);
    chunk.chunks[0].ends_prompt = done + 128 == tokens;
    const auto cost = step(device, llama_3b_w4a16(), chunk.batch);
    seconds += (cost.device + cost.host).si();
  }
  return seconds;
}

struct Published {
  const char* device;
  double first, last, rate;  // seconds to the first token of 128 and of 4,096 tokens; tokens per second
};
// Llama-3.2-3B w4a16, quic/ai-hub-models @ b2e24a6.
constexpr std::array kPublished = {Published{"snapdragon-8-elite", 0.0882, 2.822, 23.4718},
                                   Published{"snapdragon-x-elite", 0.1259, 4.030, 18.4176},
                                   Published{"sa8255p", 0.1874, 5.997, 14.02377}};

}  // namespace

TEST_CASE("neural processors meet the figures that they were set from, and predict the longest prompt") {
  for (const Published& published : kPublished) {
    CAPTURE(published.device);
    const auto device = catalog_device(published.device);
    CHECK(first_token(*device, 128) == approx(published.first).epsilon(0.03));
    const auto decode = step(*device, llama_3b_w4a16(), Decodes(1, 64).batch);
    CHECK(1 / (decode.device + decode.host).si() == approx(published.rate).epsilon(0.03));
    // Their attention pays for the whole context in every chunk, which is not in the figures above.
    CHECK(first_token(*device, 4096) == approx(published.last).epsilon(0.05));
  }
}

TEST_CASE("a model that a neural processor was not set from is met within its stated class") {
  models::ModelSpec small = llama_1b();
  small.precision.weights = kInt4;
  small.precision.kv = kInt8;
  const auto decode = step(*catalog_device("snapdragon-8-elite"), small, Decodes(1, 64).batch);
  // Llama-3.2-1B w4a16, quic/ai-hub-models @ 33c3d03: 53.64 tokens per second
  CHECK(1 / (decode.device + decode.host).si() == approx(53.64).epsilon(0.15));
}

TEST_CASE("two AMX processors decode an 8B model at the speed of their memory") {
  const auto device = catalogued<Roofline>("xeon-8480-2s");
  const Decodes decodes(1, 128);
  const engine::EngineCost cost = step(device, llama_8b(), decodes.batch);
  CHECK(cost.device > cost.bytes / *device.memory_bandwidth);
  CHECK(cost.busy[static_cast<std::size_t>(Resource::memory)] > 0.6 * cost.device);
  CHECK_FALSE(device.load_bandwidth());  // the weights are where they are used
}

TEST_CASE("a prompt is padded to the tile that it was compiled for") {
  const auto device = catalogued<Roofline>("snapdragon-8-elite");
  CHECK(step(device, llama_3b_w4a16(), Prompt(1).batch).by_family[0] ==
        step(device, llama_3b_w4a16(), Prompt(128).batch).by_family[0]);
  CHECK(step(device, llama_3b_w4a16(), Prompt(129).batch).by_family[0] >
        1.9 * step(device, llama_3b_w4a16(), Prompt(128).batch).by_family[0]);
}

TEST_CASE("a roofline is bound by memory in a decode and by arithmetic in a long prompt") {
  auto device = catalogued<Roofline>("tpu-v6e");
  device.per_operator.value = device.per_step.value = device.per_request.value = Seconds();
  const auto model = llama_8b();
  const Decodes decodes(1, 1024);
  const auto decode = step(device, model, decodes.batch);
  const double streamed = decode.bytes / (*device.memory_efficiency * *device.memory_bandwidth) / Seconds(1);
  CHECK(decode.device.si() == approx(streamed).epsilon(0.01));

  const Prompt prompt(8192);
  const auto prefill = step(device, model, prompt.batch);
  const double computed = prefill.by_family[0].si();
  constexpr double kLinears = 2 * 8192 * 6979321856.0;  // weights of the layers, not of embedding and head
  CHECK(computed == approx(kLinears / (*device.compute_efficiency * device.peak_bf16.value.si())).epsilon(0.02));
}

TEST_CASE("twice the bandwidth halves a decode, eight devices share it, and one without links works alone") {
  auto device = catalogued<Roofline>("gaudi3");
  device.per_operator.value = device.per_step.value = device.per_request.value = Seconds();
  const Decodes decodes(1, 128);
  const Seconds one = step(device, llama_8b(), decodes.batch).device;
  auto twice = device;
  twice.memory_bandwidth.value = 2 * twice.memory_bandwidth.value;
  CHECK(step(twice, llama_8b(), decodes.batch).device / one == approx(0.5).epsilon(0.01));
  const auto eight = step(device, llama_8b(), decodes.batch, 8);
  const Seconds moved = eight.by_family[static_cast<std::size_t>(OperatorFamily::collective)];
  CHECK(moved > Seconds());
  CHECK((eight.device - moved) / one == approx(1.0 / 8).epsilon(0.05));

  CHECK(device.bind(llama_8b(), {}, {})->range_warnings() ==
        std::vector<std::string>{"accuracy of gaudi3: " + device.accuracy});

  device.links.reset();
  models::ParallelPlan plan;
  plan.tensor = 2;
  CHECK(device.problems(llama_8b(), plan).size() == 1);
}

}  // namespace llmscape::hardware
