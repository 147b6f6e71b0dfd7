// SPDX-License-Identifier: Apache-2.0
// Power limits, clocks, and how busy the parts of a device are.
#include "hardware/power.hpp"
#include "closed_form_cases.hpp"
#include "hardware/cpu.hpp"
#include "hardware/roofline.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

Seconds family(const StepCost& cost, OperatorFamily f) { return cost.by_family[static_cast<std::size_t>(f)]; }

// Dynamic joules and those at rest.
double joules(const Device& device, const StepCost& cost) {
  return (total_energy(cost) + device.idle_power() * cost.device).si();
}

// A device whose steps draw `limit` at `clock`, against one that may draw no more and chooses its clock.
template <class D>
void check_cap(D device, const models::Batch& batch, double clock) {
  CAPTURE(device.name);
  CAPTURE(clock);
  device.tdp.value = Watts(1e6);  // the steps below are the free ones
  const engine::EngineCost free = step(device, llama_8b(), batch);
  D clocked = device;
  clocked.clock = clock;
  const engine::EngineCost at_clock = step(clocked, llama_8b(), batch);
  device.power_limit = total_energy(at_clock) / at_clock.device + *device.idle;
  const engine::EngineCost capped = step(device, llama_8b(), batch);
  CHECK(joules(device, capped) < joules(device, free));
  CHECK(joules(device, capped) == approx(joules(device, at_clock)).epsilon(0.01));
  CHECK(capped.device.si() == approx(at_clock.device.si()).epsilon(0.01));
  CHECK(total_time(capped).si() == approx((capped.device + capped.host).si()));
}

TEST_CASE("does a power cap save joules? it takes those of the clock whose power is the cap, and never more") {
  const Prompt prompt(8192);
  for (const double clock : {0.97, 0.83, 0.77, 0.62}) {  // between the rungs of the ladder
    check_cap(worked_gpu("h100-sxm"), prompt.batch, clock);
    check_cap(catalog_gpu("h200"), prompt.batch, clock);
    check_cap(catalogued<Roofline>("tpu-v6e"), prompt.batch, clock);
  }
}

TEST_CASE("where traffic alone exceeds the cap a step lasts joules / headroom") {
  auto device = catalogued<Roofline>("tpu-v6e");
  device.compute_energy.value = JoulesPerFlop();
  const Decodes decodes(1, 1024);
  const engine::EngineCost free = step(device, llama_8b(), decodes.batch);
  const Watts headroom = total_energy(free) / free.device / 8;
  device.power_limit = *device.idle + headroom;
  const engine::EngineCost capped = step(device, llama_8b(), decodes.batch);
  CHECK(total_energy(capped) == total_energy(free));
  CHECK(capped.device.si() == approx((total_energy(free) / headroom).si()));
}

TEST_CASE("the mean power of a capped step, idle power included, is the cap, on one device or two") {
  Gpu gpu = worked_gpu("h100-sxm");
  gpu.power_limit = Watts(200);
  const Decodes decodes(64, 2048);
  for (const int devices : {1, 2}) {
    const engine::EngineCost capped = step(gpu, llama_8b(), decodes.batch, devices);
    CHECK((total_energy(capped) / capped.device + devices * *gpu.idle).si() == approx(devices * 200.0));
  }
}

TEST_CASE("a cap that a step does not reach costs nothing") {
  Gpu gpu = worked_gpu("h100-sxm");
  const Decodes decodes(1, 128);
  const engine::EngineCost free = step(gpu, llama_8b(), decodes.batch);
  gpu.power_limit = 1.001 * (total_energy(free) / free.device) + *gpu.idle;
  CHECK(step(gpu, llama_8b(), decodes.batch).device == free.device);
}

TEST_CASE("an operation takes the square of the voltage, which falls with the clock to 0.7") {
  CHECK(energy_of_operation(1) == 1);
  CHECK(energy_of_operation(0.8) == approx(0.64));
  CHECK(energy_of_operation(0.5) == approx(0.49));
}

TEST_CASE("a lowered clock stretches arithmetic in proportion, leaves memory alone, and saves energy of work") {
  auto device = catalogued<Roofline>("tpu-v6e");
  device.per_operator.value = Seconds();
  auto slow = device;
  slow.clock = 0.8;
  const Prompt prompt(8192);
  const engine::EngineCost before = step(device, llama_8b(), prompt.batch),
                           after = step(slow, llama_8b(), prompt.batch);
  CHECK(family(after, OperatorFamily::prefill_attention).si() ==
        approx(family(before, OperatorFamily::prefill_attention).si() / 0.8));
  CHECK(family(after, OperatorFamily::elementwise) == family(before, OperatorFamily::elementwise));
  CHECK(energy(after, EnergyComponent::compute).si() == approx(0.64 * energy(before, EnergyComponent::compute).si()));
  CHECK(energy(after, EnergyComponent::memory) == energy(before, EnergyComponent::memory));

  Gpu gpu = worked_gpu("h100-sxm");
  const engine::EngineCost full = step(gpu, llama_8b(), prompt.batch);
  gpu.clock = 0.8;
  const engine::EngineCost clocked = step(gpu, llama_8b(), prompt.batch);
  CHECK(clocked.device > 1.1 * full.device);
  CHECK(clocked.device < full.device / 0.8);
  CHECK(energy(clocked, EnergyComponent::compute).si() == approx(0.64 * energy(full, EnergyComponent::compute).si()));
}

TEST_CASE(
    "arithmetic is busy for FLOPs over the formats' peak, memory for bytes over bandwidth, links for collectives") {
  const auto device = catalogued<Roofline>("gaudi3");
  const Decodes decodes(16, 1024);
  const engine::EngineCost one = step(device, llama_8b(), decodes.batch),
                           two = step(device, llama_8b(), decodes.batch, 2);
  CHECK(busy(one, Resource::arithmetic).si() == approx(one.flops / *device.peak_bf16 / Seconds(1)));
  CHECK(busy(one, Resource::memory).si() == approx(one.bytes / *device.memory_bandwidth / Seconds(1)));
  CHECK(busy(one, Resource::links) == Seconds());
  CHECK(busy(two, Resource::links) == family(two, OperatorFamily::collective));

  const Gpu gpu = worked_gpu("h100-sxm");
  const Prompt prompt(4096);
  const auto narrow = quantised(llama_8b(), kInt8);
  const engine::EngineCost wide = step(gpu, llama_8b(), prompt.batch), quick = step(gpu, narrow, prompt.batch);
  // All products of the layers at twice the peak, attention at that of bf16.
  constexpr double kLinears = 2 * 4096 * 6979321856.0;
  CHECK((busy(wide, Resource::arithmetic) - busy(quick, Resource::arithmetic)).si() ==
        approx(kLinears / 2 / 989.5e12).epsilon(1e-3));
}

TEST_CASE("a processor's parts are measured against the rates of its GEMMs") {
  const auto cpu = catalogued<Cpu>("cpu-epyc-vm");
  const Decodes decodes(4, 256);
  const engine::EngineCost cost = step(cpu, llama_1b(), decodes.batch);
  CHECK(busy(cost, Resource::arithmetic).si() == approx(cost.flops.si() / 116.7e9));
  CHECK(busy(cost, Resource::memory).si() == approx(cost.bytes.si() / 23.94e9));
}

}  // namespace
}  // namespace llmscape::hardware
