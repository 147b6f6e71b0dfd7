// SPDX-License-Identifier: Apache-2.0
// A device corrected by measured steps: what they took near them, the device alone away from them.
#include "hardware/steps/steps_device.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "closed_form_cases.hpp"
#include "hardware/scaled_fits.hpp"
#include "hardware/steps/step_correction.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

constexpr std::int64_t kContext = 1000;  // of each decode

StepComposition decodes(std::int64_t sequences) {
  StepComposition step;
  step.decodes = sequences;
  step.context = sequences * kContext;
  return step;
}

struct Ratio {
  std::int64_t sequences;
  double value;  // measured / priced
};

// The catalogue's processor with steps of decodes that took `ratios` times its prices.
StepsDevice measured(const std::vector<Ratio>& ratios, double smoothing = 0.5, double reach = 1) {
  StepsDevice device;
  device.name = "mine";
  device.device = catalog_device("cpu-epyc-vm");
  device.with.model = "llama-3.2-1b";
  device.smoothing = smoothing;
  device.reach = reach;
  const auto priced = device.device->bind(llama_1b(), {}, {});
  for (const Ratio& ratio : ratios) {
    MeasuredStep step;
    static_cast<StepComposition&>(step) = decodes(ratio.sequences);
    step.time = ratio.value * priced->step(Decodes(ratio.sequences, kContext).batch).device;
    device.steps.push_back(step);
  }
  return device;
}

// How much longer a step takes than by the device alone.
double factor(const StepsDevice& device, const models::Batch& batch) {
  return device.bind(llama_1b(), {}, {})->step(batch).device /
         device.device->bind(llama_1b(), {}, {})->step(batch).device;
}

std::shared_ptr<const Device> read_device(const std::string& steps, Diagnostics& diagnostics,
                                          const std::string& more = "") {
  const auto inner = device_entry(kCatalog, "cpu-epyc-vm", {}, diagnostics);
  const std::string yaml =
      "{kind: steps, name: mine, measured_with: {model: llama-3.2-1b}, " + more + "steps: " + steps + "}";
  YamlNode node = read_yaml(std::make_shared<const SourceText>(SourceText{"inline", yaml}), diagnostics);
  node.set("device", *inner);
  return devices().read(node, diagnostics);
}

}  // namespace

TEST_CASE("what the device takes, one that measured steps correct takes too") {
  StepsDevice device;
  device.device = catalog_device("h100-sxm");
  CHECK(device.takes_execution());
  CHECK(device.takes_adapters());
  models::Format fp8;
  fp8.bytes = 1;
  fp8.name = "fp8";
  CHECK(device.has_rate_for(fp8) == device.device->has_rate_for(fp8));
  device.device = catalog_device("sn40l");
  CHECK_FALSE(device.takes_execution());
  CHECK(device.passes_tokens_on() == device.device->passes_tokens_on());
}

TEST_CASE("steps that took 1.3 of their price make steps like them take 1.3, and leave those far away as they are") {
  const StepsDevice device = measured({{4, 1.3}, {8, 1.3}, {16, 1.3}});
  for (const std::int64_t inside : {3, 4, 6, 8, 12, 16, 20}) {
    CAPTURE(inside);
    CHECK(factor(device, Decodes(inside, kContext).batch) == approx(1.3));
  }
  // 17 -> 129 is 2.9 doublings.
  CHECK(factor(device, Decodes(128, kContext).batch) == 1);
  CHECK(factor(device, Prompt(512).batch) == 1);
}

TEST_CASE("beyond its reach a ratio fades with the distance") {
  // 1 + 15 decodes are 3 doublings from 1 + 1: half way from the reach of 2 to twice that.
  const StepsDevice device = measured({{1, 1.3}}, 0.5, 2);
  CHECK(factor(device, Decodes(7, kContext).batch) == approx(1.3));
  CHECK(factor(device, Decodes(15, kContext).batch) == approx(std::sqrt(1.3)));
  CHECK(factor(device, Decodes(31, kContext).batch) == 1);
}

TEST_CASE("between measured steps the logarithms of their ratios are weighted by distance") {
  // 1 + 3 lies a doubling from 1 + 1 and from 1 + 7.
  const StepsDevice device = measured({{1, 1}, {7, 4}}, 1);
  CHECK(factor(device, Decodes(3, kContext).batch) == approx(2));
  const double other = std::exp(-2.0);  // of the step two doublings away, beside the weight 1 of the one itself
  CHECK(factor(device, Decodes(1, kContext).batch) == approx(std::exp(std::log(4) * other / (1 + other))));
}

TEST_CASE("a step that stands for many weighs more than one alone") {
  StepsDevice device = measured({{1, 1}, {7, 4}}, 1);
  device.steps[0].count = 3;  // 3/4 beside 1/2
  CHECK(factor(device, Decodes(3, kContext).batch) == approx(std::exp(std::log(4) * 0.4)));
}

TEST_CASE("a corrected step says how far it was measured, and keeps its joules") {
  const StepsDevice device = measured({{1, 1.3}}, 0.5, 2);
  const auto steps = device.bind(llama_1b(), {}, {}), alone = device.device->bind(llama_1b(), {}, {});
  const Decodes here(1, kContext), edge(15, kContext), away(31, kContext);
  CHECK(steps->step(here.batch).tabled == 1);
  CHECK(steps->step(edge.batch).tabled == approx(0.5));
  CHECK(steps->step(away.batch).tabled == 0);
  CHECK(total_energy(steps->step(here.batch)) == total_energy(alone->step(here.batch)));
}

TEST_CASE("steps with drafts take the factor of those without, and do not count as measured") {
  const StepsDevice device = measured({{4, 1.3}});
  Decodes speculative(4, kContext);
  speculative.batch.tokens_per_decode = 2;
  CHECK(factor(device, speculative.batch) == approx(1.3));
  CHECK(device.bind(llama_1b(), {}, {})->step(speculative.batch).tabled == 0);
  Prompt partial(64);
  CHECK(says_all(partial.batch));
  partial.batch.prefill_layers = 0.5;
  CHECK_FALSE(says_all(partial.batch));
}

TEST_CASE("unlike prompts count as equal ones with the same work of attention") {
  // 300 tokens that attend to 200 x 100 + 100 x (400 + 50) = 65,000 entries: 216.67 each, of which 75 are the half of
  // one of two prompts of 150.
  const std::vector<models::PrefillChunk> chunks = {{200, 0, true}, {100, 400, true}};
  models::Batch batch;
  batch.chunks = chunks;
  const auto step = composition_of(batch);
  CHECK(step.prompts == 2);
  CHECK(step.prompt_tokens == 300);
  CHECK(step.cached_tokens == 283);  // 2 x (216.67 - 75)
  const ComposedBatch again(step, std::vector<std::int64_t>{0});
  REQUIRE(again.batch().chunks.size() == 2);
  CHECK(again.batch().chunks[0].tokens == 150);
  CHECK(again.batch().prefill_tokens() == 300);
  CHECK(again.batch().chunks[0].cached + again.batch().chunks[1].cached == 283);
}

TEST_CASE("a window cuts the contexts of a composition") {
  const ComposedBatch batch(decodes(4), std::vector<std::int64_t>{0, 128});
  REQUIRE(batch.batch().attended.size() == 2);
  CHECK(batch.batch().attended[0] == models::Attended{4000, 1000});
  CHECK(batch.batch().attended[1] == models::Attended{512, 128});
}

TEST_CASE("measured steps speak of their model, formats and degrees only") {
  StepsDevice device = measured({{4, 1.3}});
  device.with.weights = "bf16";
  CHECK(device.problems(llama_1b(), {}).empty());
  REQUIRE(device.problems(llama_8b(), {}).size() == 1);
  CHECK(device.problems(llama_8b(), {}).front() ==
        "the steps of mine were measured with llama-3.2-1b, not with llama-3.1-8b");
  CHECK(device.problems(quantised(llama_1b(), kInt4), {}).front() ==
        "the steps of mine were measured with weights in bf16, not with int4");
  device.with.tensor = 4;
  CHECK(device.problems(llama_1b(), {}).front() ==
        "the steps of mine were measured with tensor parallelism 4, not with 1");
}

// A device of 100 Tflop/s and 1 TB/s, whose decodes wait for memory.
std::shared_ptr<const Device> plain(const std::string& overrides) {
  Diagnostics diagnostics;
  const std::string yaml =
      "{kind: roofline, name: plain, accuracy: by hand, peak_bf16: 100 Tflop/s, memory_bandwidth: 1 TB/s, "
      "memory_capacity: 80 GB, compute_efficiency: 1, attention_efficiency: 1, memory_efficiency: 1, per_operator: 0 "
      "s, "
      "per_step: 0 s, per_request: 0 s, tdp: 1000 W, idle_power: 100 W, compute_energy: 0 pJ/flop, memory_energy: 10 "
      "pJ/bit}";
  YamlNode node = read_yaml(std::make_shared<const SourceText>(SourceText{"inline", yaml}), diagnostics);
  if (!overrides.empty()) apply_override(node, overrides, diagnostics);
  auto device = devices().read(node, diagnostics);
  REQUIRE_MESSAGE(device, diagnostics.text(false));
  return device;
}

TEST_CASE("what is laid over the device that steps were measured on comes through in their times and joules") {
  StepsDevice device = measured({{4, 1.3}});
  device.device = device.measured_on = plain("");
  const Decodes batch(4, kContext);
  const StepCost before = device.measured_on->bind(llama_1b(), {}, {})->step(batch.batch);
  device.steps[0].time = 1.3 * before.device;
  const auto step = [&] { return device.bind(llama_1b(), {}, {})->step(batch.batch); };
  CHECK(step().device / before.device == approx(1.3));
  CHECK(total_energy(step()).si() == approx(total_energy(before).si()));
  // Half the memory's bandwidth: twice the measured time.
  device.device = plain("memory_bandwidth=500 GB/s");
  CHECK(step().device / before.device == approx(2.6));
  CHECK(total_energy(step()).si() == approx(total_energy(before).si()));
  // 80 W of traffic at 1 TB/s, and 20 W that the limit leaves: four times as long.
  device.device = plain("power_limit=120 W");
  CHECK(step().device / before.device == approx(4 * 1.3));
  CHECK(total_energy(step()).si() == approx(total_energy(before).si()));
  // Measured so, and not changed since: that long.
  device.measured_on = nullptr;
  CHECK(step().device / before.device == approx(1.3));
}

TEST_CASE("a step that was faster than its price keeps its time, and draws no more than the power limit") {
  StepsDevice device = measured({{4, 1}});
  device.device = plain("power_limit=150 W");  // 50 of 80 W of traffic
  const Decodes batch(4, kContext);
  const Seconds priced = device.device->bind(llama_1b(), {}, {})->step(batch.batch).device;
  device.steps[0].time = 0.5 * priced;
  const StepCost step = device.bind(llama_1b(), {}, {})->step(batch.batch);
  CHECK(step.device / priced == approx(0.5));
  CHECK((total_energy(step) / step.device).si() == approx(50));
}

TEST_CASE("keys laid over the device under measured steps say that they were measured on it as it was") {
  Diagnostics none;
  const auto entry = read_device("[{decodes: 4, context: 4000, time: 30 ms}]", none);
  REQUIRE_MESSAGE(entry, none.text(false));
  const YamlNode then = devices().write(*entry);
  YamlNode now = then;
  scale_fits(now, then);
  CHECK_FALSE(now.find("measured_on"));
  apply_override(now, "device.idle_power=3 W", none);
  scale_fits(now, then);
  REQUIRE(now.find("measured_on"));
  CHECK(same(*now.find("measured_on"), *then.find("device")));
  const auto changed = std::dynamic_pointer_cast<const StepsDevice>(devices().read(now, none));
  REQUIRE_MESSAGE(changed, none.text(false));
  REQUIRE(changed->measured_on);
  CHECK(devices().read(devices().write(*changed), none));
}

TEST_CASE("another engine's kernels are corrected by the same steps") {
  StepsDevice device;
  device.name = "mine";
  device.device = catalog_device("h200");
  const auto other = device.with_kernels_of("sglang");
  REQUIRE(other);
  CHECK(other->kernels() == "sglang");
  CHECK_FALSE(other->step_table().empty());
  CHECK_FALSE(device.with_kernels_of("an engine that nobody wrote"));
}

TEST_CASE("a device of measured steps is read and written, and each mistake is shown where it stands") {
  Diagnostics none;
  const auto device = read_device("[{decodes: 4, context: 4000, time: 30 ms, count: 7}]", none);
  REQUIRE_MESSAGE(device, none.text(false));
  CHECK(device->step_table() == "mine: 7 measured steps of llama-3.2-1b");
  const auto again = devices().read(devices().write(*device), none);
  REQUIRE_MESSAGE(again, none.text(false));
  CHECK(again->step_table() == device->step_table());

  for (const char* steps :
       {"[]", "[{time: 1 ms}]", "[{decodes: 4, context: 3, time: 1 ms}]", "[{decodes: 4, context: 4000, time: -1 ms}]",
        "[{prompt_tokens: 8, time: 1 ms}]", "[{prompts: 9, prompt_tokens: 8, time: 1 ms}]",
        "[{decodes: 4, context: 4000, time: 30}]", "[{decodes: 4, context: 40, longest_context: 41, time: 1 ms}]",
        "[{context: 4, prompts: 1, prompt_tokens: 1, time: 1 s}]",
        "[{decodes: 1, context: 1, cached_tokens: 1, time: 1 s}]"}) {
    CAPTURE(steps);
    Diagnostics diagnostics;
    CHECK_FALSE(read_device(steps, diagnostics));
    CHECK(diagnostics.errors() == 1);
  }
  Diagnostics bad;
  CHECK_FALSE(read_device("[{decodes: 4, context: 4000, time: 1 ms}]", bad, "reach: 0, "));
}

}  // namespace llmscape::hardware
