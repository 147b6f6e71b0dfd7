// SPDX-License-Identifier: Apache-2.0
// What operator families wait for, and their joules, on every kind of device.
#include "split_cases.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

Joules joules_of_families(const StepCost& cost) {
  Joules sum;
  for (const Joules joules : cost.energy_by_family) sum += joules;
  return sum;
}

std::array<Seconds, kResources> busy_for(Resource part, double seconds) {
  std::array<Seconds, kResources> busy{};
  busy[static_cast<std::size_t>(part)] = Seconds(seconds);
  return busy;
}

}  // namespace

TEST_CASE("time is bound by the part that works longest, unless that is idle for three quarters of it") {
  CHECK(bound_of(Seconds(1), busy_for(Resource::memory, 0.9)) == Bound::memory);
  CHECK(bound_of(Seconds(1), busy_for(Resource::write, 0.3)) == Bound::write);
  CHECK(bound_of(Seconds(1), busy_for(Resource::links, 0.2)) == Bound::overhead);
  CHECK(bound_of(Seconds(), {}) == Bound::overhead);
}

TEST_CASE("the joules of operator families are those of the parts, on every kind of device") {
  for (const char* name : {"h100-sxm", "cpu-epyc-vm", "cim-edge", "edgecim", "lpddr-pim", "sn40l", "groq-lpu", "l4"}) {
    CAPTURE(name);
    const auto device = catalog_device(name);
    const models::ModelSpec model = runnable(*device);
    if (!device->problems(model, {}).empty()) continue;
    for (const StepCost& cost :
         {step(*device, model, Decodes(4, 500).batch), step(*device, model, Prompt(300, 100).batch)})
      CHECK(joules_of_families(cost).si() == approx(total_energy(cost).si()).epsilon(1e-12));
  }
}

TEST_CASE("a GPU decodes by its memory and computes long prompts by its arithmetic") {
  const auto gpu = catalog_device("h100-sxm");
  const auto bound = [](const StepCost& cost, OperatorFamily f) { return cost.bound[static_cast<std::size_t>(f)]; };
  const engine::EngineCost decode = step(*gpu, llama_8b(), Decodes(32, 4000).batch);
  CHECK(bound(decode, OperatorFamily::gemm) == Bound::memory);
  CHECK(bound(decode, OperatorFamily::decode_attention) == Bound::memory);
  CHECK(bound(decode, OperatorFamily::host) == Bound::overhead);
  const engine::EngineCost prompt = step(*gpu, llama_8b(), Prompt(8000).batch);
  CHECK(bound(prompt, OperatorFamily::gemm) == Bound::arithmetic);
  CHECK(bound(prompt, OperatorFamily::prefill_attention) == Bound::arithmetic);
  CHECK(bound(step(*gpu, llama_8b(), Decodes(32, 4000).batch, 2), OperatorFamily::collective) == Bound::links);
}

}  // namespace llmscape::hardware
