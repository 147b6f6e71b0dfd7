// SPDX-License-Identifier: Apache-2.0
// What a step model keeps from one step to the next changes no bit of a price.
#include "base/random.hpp"
#include "closed_form_cases.hpp"
#include "large_models.hpp"

#include <vector>

namespace llmscape::hardware {
namespace {

void check_alike(const StepCost& a, const StepCost& b) {
  CHECK(a.device == b.device);
  CHECK(a.by_family == b.by_family);
  CHECK(a.bound == b.bound);
  CHECK(a.energy == b.energy);
  CHECK(a.energy_by_family == b.energy_by_family);
  CHECK(a.busy == b.busy);
  CHECK(a.extrapolated == b.extrapolated);
  CHECK(a.tabled == b.tabled);
  CHECK(a.flops == b.flops);
  CHECK(a.expert_bytes == b.expert_bytes);
  CHECK(a.bytes == b.bytes);
}

// Steps of all sizes, far over the ranges of the fits too; with speculation, and padded as captured graphs are.
struct RandomStep {
  std::vector<models::PrefillChunk> chunks;
  std::vector<models::Attended> attended;
  models::Batch batch;

  RandomStep(RandomStream& random, std::size_t laws) {
    const auto up_to = [&random](double most) { return static_cast<std::int64_t>(random.uniform() * most); };
    if (random.uniform() < 0.3)
      for (std::int64_t i = up_to(3); i >= 0; --i)
        chunks.push_back({1 + up_to(4000), random.uniform() < 0.5 ? 0 : up_to(4000), random.uniform() < 0.5});
    batch.chunks = chunks;
    batch.decodes = chunks.empty() ? 1 + up_to(600) : up_to(200);
    if (random.uniform() < 0.2) batch.tokens_per_decode = 3;
    if (random.uniform() < 0.3) batch.padding = up_to(16);
    for (std::size_t law = 0; law < laws; ++law) {
      const std::int64_t mean = 1 + up_to(random.uniform() < 0.1 ? 200000 : 8000);
      attended.push_back({batch.decodes * mean, mean + up_to(5000)});
    }
    batch.attended = attended;
  }
};

void check_steps(const Device& device, const models::ModelSpec& model) {
  CAPTURE(device.name);
  CAPTURE(model.name);
  const auto kept = device.bind(model, {}, {});
  RandomStream random = RandomStreams(3).stream("steps");
  for (int i = 0; i < 150; ++i) {
    const RandomStep step(random, models::kv_laws(model).size());
    check_alike(kept->step(step.batch), cost_of(device.bind(model, {}, {})->phases(step.batch)));
  }
}

TEST_CASE("a step costs the same bits as the sum of its phases, priced alone, whatever was priced before") {
  for (const char* name : {"h100-sxm", "a100-80", "rtx-4090"}) check_steps(*catalog_device(name), llama_8b());
  check_steps(*catalog_device("h100-sxm"), deepseek_r1());
  // Draws as much as it may: most steps run at the clock of the limit.
  Gpu limited = catalog_gpu("h100-sxm");
  limited.power_limit = *limited.idle + Watts(250);
  check_steps(limited, llama_8b());
}

TEST_CASE("a step but for one family and then with it is the step") {
  StepPhases others, all;
  for (std::size_t f = 0; f < kOperatorFamilies; f += 2) {
    Phase phase;
    phase.time = Seconds(0.1 / static_cast<double>(f + 3));
    for (std::size_t i = 0; i < kEnergyComponents; ++i) phase.energy[i] = Joules(1.0 / static_cast<double>(f + i + 3));
    for (std::size_t i = 0; i < kResources; ++i) phase.busy[i] = phase.time * (0.3 / static_cast<double>(i + 1));
    phase.bytes = Bytes(1e9 / static_cast<double>(f + 7));
    phase.bound = Bound::memory;
    all.of(f) = phase;
    if (f != 4) others.of(f) = phase;
  }
  check_alike(CostWithout(others, static_cast<OperatorFamily>(4)).with(all.at(4)), cost_of(all));
}

}  // namespace
}  // namespace llmscape::hardware
