// SPDX-License-Identifier: Apache-2.0
// What a step model keeps from one step to the next changes no bit of a price.
#include "base/random.hpp"
#include "closed_form_cases.hpp"
#include "hardware/decode_steps.hpp"
#include "large_models.hpp"
#include "tests/support/approx.hpp"

#include <numeric>
#include <vector>

using llmscape::testing::approx;

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

TEST_CASE("a step of decodes is its attention and what it has in common with others, to the last bit") {
  // With collectives, whose links are busy, and a family behind attention that is not.
  const Rates rates{FlopsPerSecond(989e12), BytesPerSecond(3.35e12)};
  const PowerModel power{Watts(120), JoulesPerByte(45e-12), JoulesPerByte(10e-12), Watts(400)};
  PartCost part;
  const auto add = [&part](OperatorFamily family, double ms, double gigabytes) {
    const KernelCost kernel{Seconds(ms * 1e-3), Flops(3e9 * ms), Flops(2e9 * ms), Bytes(gigabytes * 1e9)};
    part.add(family, kernel, Joules(0.7 * ms), 3);
  };
  add(OperatorFamily::gemm, 1.3, 5.1);
  add(OperatorFamily::decode_attention, 0.1, 0.3);  // recurrent states
  add(OperatorFamily::elementwise, 0.21, 0.77);
  add(OperatorFamily::collective, 0.33, 0);
  part.link_bytes = Bytes(1.7e8);
  part.extrapolated = Seconds(1e-5);
  const DecodeSteps steps(part, rates, power, 4);
  for (const double contexts : {0.017, 0.9, 31.0}) {
    OwnAttention own = steps.common();
    PartCost whole = part;
    const KernelCost kernel{Seconds(1e-3 * contexts), Flops(4e9 * contexts), Flops(4e9 * contexts),
                            Bytes(1.1e9 * contexts)};
    own.cost.add(kernel, Joules(0.9 * contexts), 2);
    own.flops += 2 * kernel.flops;
    whole.add(OperatorFamily::decode_attention, kernel, Joules(0.9 * contexts), 2);
    const StepCost cost = cost_of(phases_of(whole, rates, power, 4));
    check_alike(steps.cost(own), cost);
    CHECK(steps.device(own) == cost.device);
    const DecodeSteps::Own one = steps.of_one(own);
    CHECK(one.device == cost.device);
    CHECK(one.bound == cost.bound[static_cast<std::size_t>(OperatorFamily::decode_attention)]);
    CHECK((one.joules[0] + one.joules[1] + one.joules[2]).si() ==
          approx(cost.energy_by_family[static_cast<std::size_t>(OperatorFamily::decode_attention)].si()));
    CHECK(one.arithmetic.si() == approx(cost.busy[static_cast<std::size_t>(Resource::arithmetic)].si()));
    CHECK(one.memory.si() == approx(cost.busy[static_cast<std::size_t>(Resource::memory)].si()));
    CHECK(steps.at_most(own) * (1 + 1e-12) >= std::accumulate(cost.energy.begin(), cost.energy.end(), Joules()));
  }
}

}  // namespace
}  // namespace llmscape::hardware
