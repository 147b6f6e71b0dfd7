// SPDX-License-Identifier: Apache-2.0
#include "closed_form_cases.hpp"
#include "hardware/cim/step.hpp"
#include "tests/support/approx.hpp"

// The parts of a chip that computes in memory: converters, memory, buffer; what each costs and how busy it is.
namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

const models::Format kInt16{"int16", 2, 0, 0};

CimDevice chip_of(const std::string& name) { return catalogued<CimDevice>(name); }
models::ModelSpec int4_1b() { return quantised(llama_1b(), kInt4); }

TEST_CASE("an analogue macro converts once per input bit, row group and shared column") {
  Macro macro = chip_of("isaac").macro;
  macro.columns_per_adc.value = 1;
  macro.pipeline_cycles.value = 0;
  CHECK(vector_cycles(macro) == 16);
  CHECK(weight_columns(macro, kInt16) == 16);
  CHECK(conversions(macro, kInt16) == 1);  // 16 input bits x 8 cells / 128 rows
  CHECK(conversions(macro, kInt4) == 0.25);
  macro.active_rows.value = 32;
  macro.columns_per_adc.value = 8;
  macro.pipeline_cycles.value = 3;
  CHECK(vector_cycles(macro) == 16 * 4 * 8 + 3);
  CHECK(conversions(macro, kInt16) == 4);
  macro.adc_bits.value = 0;
  CHECK(conversions(macro, kInt16) == 0);
}

TEST_CASE("a converter's energy doubles per bit up to eight and quadruples above") {
  CHECK(conversion_energy(Joules(2e-12), 8).si() == 2e-12);
  CHECK(conversion_energy(Joules(2e-12), 7).si() == 1e-12);
  CHECK(conversion_energy(Joules(2e-12), 6).si() == 0.5e-12);
  CHECK(conversion_energy(Joules(2e-12), 9).si() == 8e-12);
  CHECK(conversion_energy(Joules(2e-12), 10).si() == 32e-12);
}

TEST_CASE("an array of ISAAC takes 16 cycles of 100 ns and its six other stages, and a chip has 16,128 of them") {
  const CimDevice isaac = chip_of("isaac");
  const double cycle = 100e-9 * isaac.clock.value.si();
  CHECK(cycle == 128);
  CHECK(static_cast<double>(vector_cycles(isaac.macro)) == 22 * cycle);
  CHECK(isaac.macros() == 16 * 16128);
  CHECK(isaac.weight_capacity(kInt4).si() == 16 * 16128.0 * 128 * 128 * 2 / 8);
}

TEST_CASE("ISAAC's converters take their energy by resolution, apart from that of the cells") {
  CimDevice isaac = chip_of("isaac");
  const Decodes decodes(1, 1024);
  const auto spent = [&](EnergyComponent component) {
    return energy(step(isaac, int4_1b(), decodes.batch), component).si();
  };
  const double cells = spent(EnergyComponent::compute);
  // 16 input bits x 2 cells of an INT4 weight / 128 rows, at 2 mW / 1.28 GS/s; 16 layers of 3,072 x 2,048 for q, k and
  // v, 2,048 x 2,048 and 3 x 8,192 x 2,048, and 128,256 x 2,048 of logits.
  const double weights = (16 * (3072 + 2048 + 3 * 8192) + 128'256) * 2048.0;
  CHECK(spent(EnergyComponent::conversion) == approx(weights * 0.25 * 1.5625e-12).epsilon(1e-9));
  isaac.macro.adc_bits.value = 10;
  CHECK(spent(EnergyComponent::conversion) == approx(16 * weights * 0.25 * 1.5625e-12).epsilon(1e-9));
  CHECK(spent(EnergyComponent::compute) == cells);
}

TEST_CASE("ISAAC keeps Llama-3.2-1B in its cells: the bus carries KV alone and a step is one pass for each matrix") {
  const CimDevice isaac = chip_of("isaac");
  const Decodes decodes(1, 1024);
  const StepCost cost = step(isaac, int4_1b(), decodes.batch);
  CHECK(cost.bytes.si() == approx(16 * 2 * 8 * 64 * (1024 + 1)));
  CHECK(busy(cost, Resource::arithmetic).si() == approx((16 * 4 + 1) * 22 * 100e-9));
  CHECK(busy(cost, Resource::write).si() == 0);
  CHECK(energy(cost, EnergyComponent::write).si() == 0);
}

TEST_CASE("a macro whose rows take ten cycles each to write is written ten times as long") {
  CimDevice chip = chip_of("cim-edge");
  CimLoad load;
  load.write_rounds = 74;
  const Seconds once = step_times(chip, load).write;
  chip.macro.row_write_cycles.value = 10;
  CHECK(step_times(chip, load).write.si() == approx(10 * once.si()));
}

TEST_CASE("weights of eight bits take twice the cells, conversions and writes of four") {
  CimDevice chip = chip_of("isaac");
  chip.pinned_share.value = 0;
  const Decodes decodes(1, 16);
  const StepCost four = step(chip, int4_1b(), decodes.batch);
  const StepCost eight = step(chip, quantised(llama_1b(), kInt8), decodes.batch);
  for (const auto component : {EnergyComponent::conversion, EnergyComponent::write})
    CHECK(energy(eight, component).si() == approx(2 * energy(four, component).si()));
  CHECK(energy(eight, EnergyComponent::compute).si() ==
        approx(2 * energy(four, EnergyComponent::compute).si()).epsilon(0.02));
  CHECK(energy(eight, EnergyComponent::on_chip).si() == energy(four, EnergyComponent::on_chip).si());
}

TEST_CASE("the energy of a step is the sum of its loads at the chip's figures") {
  const CimDevice chip = chip_of("cim-edge");
  const Decodes decodes(8, 1024);
  const StepCost cost = step(chip, int4_1b(), decodes.batch);
  const double bits = 8 * (1235814400 * 0.5);
  CHECK(energy(cost, EnergyComponent::memory).si() == approx(cost.bytes.si() * 8 * 4e-12));
  CHECK(energy(cost, EnergyComponent::write).si() == approx(bits * 0.1e-12).epsilon(1e-3));
  const double elements = 16 * (2048 + 3072 + 2048 + 2048 + 2048 + 16384 + 8192 + 2048) + 2048 + 128256;
  CHECK(energy(cost, EnergyComponent::on_chip).si() == approx(8 * elements * 8 * 0.1e-12));
  const double vector = busy(cost, Resource::vector).si() * 1.024e12;
  // Sums of (k / 128 - 1) n across macros.
  const double additions = 8 * (16 * (15.0 * 3072 + 15.0 * 2048 + 15.0 * 16384 + 63.0 * 2048) + 15.0 * 128256);
  CHECK(energy(cost, EnergyComponent::compute).si() ==
        approx(8 * 1235814400.0 * 0.1e-12 + (vector + additions) * 0.05e-12).epsilon(1e-3));
  CHECK(energy(cost, EnergyComponent::conversion).si() == 0);
  CHECK(energy(cost, EnergyComponent::interconnect).si() == 0);
}

TEST_CASE("one part is busy for the whole of an overlapped step less its fill, the others for less") {
  CimDevice chip = chip_of("edgecim");
  chip.fill.value = Seconds(1e-5);
  const Decodes one(1, 192);
  const Prompt prompt(2048);
  CimDevice slow_vector = chip;
  slow_vector.vector_throughput.value *= 1e-3;
  CimDevice slow_writes = chip;
  slow_writes.macro.row_write_cycles.value = 100;
  const auto check = [](const CimDevice& device, const models::Batch& batch, Resource bound) {
    const StepCost cost = step(device, int4_1b(), batch);
    for (const auto part : {Resource::arithmetic, Resource::vector, Resource::memory, Resource::write}) {
      const double share = busy(cost, part) / (cost.device - *device.fill);
      if (part == bound) CHECK(share == approx(1).epsilon(1e-12));
      else CHECK(share < 0.999);
    }
    CHECK(busy(cost, Resource::links).si() == 0);
  };
  check(chip, one.batch, Resource::memory);
  check(chip, prompt.batch, Resource::arithmetic);
  check(slow_vector, prompt.batch, Resource::vector);
  check(slow_writes, one.batch, Resource::write);
}

TEST_CASE(
    "a macro that is written between its rounds shares its time: computing and being written are the whole step") {
  CimDevice chip = chip_of("cim-edge");
  chip.dram.width.value *= 64;  // so that the macros decide
  chip.vector_throughput.value *= 64;
  chip.clock.value *= 0.1;
  const Decodes decodes(8, 64);
  const StepCost cost = step(chip, int4_1b(), decodes.batch);
  CHECK((busy(cost, Resource::arithmetic) + busy(cost, Resource::write)).si() == approx(cost.device.si()));
}

TEST_CASE("activations beyond the buffer pass through the memory") {
  CimDevice chip = chip_of("cim-edge");
  chip.buffer.value = Bytes(1e12);
  const Prompt prompt(512);
  const StepCost roomy = step(chip, int4_1b(), prompt.batch);
  chip.buffer.value = Bytes(4e6);
  const StepCost tight = step(chip, int4_1b(), prompt.batch);
  // Of 512 tokens only gate and up (2,048 in, 16,384 out) and down (8,192 in, 2,048 out) exceed 4 MB; the head sees
  // one.
  const double beyond = 16 * (512 * (2048.0 + 16384) - 4e6 + 512 * (8192.0 + 2048) - 4e6);
  CHECK((tight.bytes - roomy.bytes).si() == approx(beyond));
  CHECK((busy(tight, Resource::memory) - busy(roomy, Resource::memory)).si() == approx(beyond / 102.4e9));
  CHECK((energy(tight, EnergyComponent::memory) - energy(roomy, EnergyComponent::memory)).si() ==
        approx(beyond * 8 * 4e-12));
  CHECK(step(chip, int4_1b(), Decodes(1, 1024).batch).bytes ==
        step(chip_of("cim-edge"), int4_1b(), Decodes(1, 1024).batch).bytes);
}

TEST_CASE("a memory carries packages x width x pin rate x efficiency") {
  const Dram dram = chip_of("cim-edge").dram;  // two packages of 64 pins at 6.4 Gbit/s, nothing taken off
  CHECK(dram.bandwidth().si() == approx(102.4e9));
  CHECK(dram.capacity().si() == 8e9);
  const Dram isaac = chip_of("isaac").dram;
  CHECK(isaac.bandwidth().si() == approx(0.9 * 8.533e9 * 64 / 8));
  CHECK(isaac.bandwidth_tag() == Tag::assumed);
}

TEST_CASE("every memory of the catalogue may stand in a chip, with a source for each figure") {
  const double peaks[] = {3.2 * 128, 6.4 * 128, 4.266 * 8, 6.4 * 8, 8.533 * 8};  // GB/s of a package, by name
  std::size_t i = 0;
  for (const std::string& name : catalog_names(kCatalog / "dram")) {
    CAPTURE(name);
    Diagnostics diagnostics;
    const auto tree = catalog_entry(kCatalog / "dram", "dram", name, {}, diagnostics);
    Dram dram;
    REQUIRE_MESSAGE(tree, diagnostics.text(false));
    REQUIRE_MESSAGE(dram_fields().read(dram, *tree, diagnostics), diagnostics.text(false));
    REQUIRE(i < std::size(peaks));
    CHECK((dram.bandwidth() / *dram.efficiency).si() == approx(peaks[i++] * 1e9));
    for (const auto* source : {&dram.packages.source, &dram.width.source, &dram.pin_rate.source,
                               &dram.package_capacity.source, &dram.efficiency.source, &dram.energy.source})
      CHECK_FALSE(source->empty());
  }
  CHECK(i == std::size(peaks));
}

TEST_CASE("weights come from the flash behind a chip where it has one") {
  CimDevice chip = chip_of("cim-edge");
  CHECK(chip.load_bandwidth()->si() == 2e9);
  chip.storage_bandwidth.reset();
  CHECK_FALSE(chip.load_bandwidth());
}

TEST_CASE("units at the banks stream four times what the pins carry, once for each row of a batch") {
  const auto pim = catalog_device("lpddr-pim");
  const double layers = 973078528, head = 262668288;  // of Llama-3.2-1B
  const auto products = [&pim](std::int64_t sequences) {
    const Decodes decodes(sequences, 256);
    return step(*pim, quantised(llama_1b(), kInt8), decodes.batch).by_family[0].si();
  };
  // Layers in 8 bits wait for the banks, 0.9 x 4 x 102.4 GB/s, the head with its 16-bit inputs for the units.
  CHECK(products(1) == approx(layers / (0.9 * 4 * 102.4e9) + 2 * head / 0.4096e12 + 65e-6).epsilon(1e-3));
  CHECK(products(8) == approx(8 * (2 * layers / 0.8192e12 + 2 * head / 0.4096e12) + 65e-6).epsilon(1e-3));
}

}  // namespace
}  // namespace llmscape::hardware
