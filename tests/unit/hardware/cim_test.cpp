// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "closed_form_cases.hpp"
#include "hardware/cim/step.hpp"

namespace llmscape::hardware {
namespace {

using namespace cases;
using doctest::Approx;

constexpr double kWeights1B = 1235814400 * 0.5;            // bytes of Llama-3.2-1B at INT4
constexpr double kCache1B = 16 * 2 * 8 * 64 * 1024;        // bytes of its INT8 KV at 1,024 tokens
constexpr double kTiles1B = 16 * (384 + 256 + 2048 + 1024) + 16032;  // qkv, o, gate and up, down; head

CimDevice cim_edge() { return catalogued(cim_fields(), "cim-edge"); }
models::ModelSpec llama_1b(const models::Format& weights = format_of("int4", 0.5)) {
  return llama(kLlama1B, weights, format_of("int8", 1));
}
double tokens_per_second(const CimDevice& chip, const models::ModelSpec& model, std::int64_t sequences) {
  const Decodes decodes(sequences, 1024);
  return static_cast<double>(sequences) / step(chip, model, decodes.batch).device.si();
}

TEST_CASE("a digital bit-serial macro takes one cycle per input bit and one per row to be written") {
  const Macro macro = cim_edge().macro;
  CHECK(weight_columns(macro, 4) == 128);
  CHECK(weight_columns(macro, 8) == 64);
  CHECK(vector_cycles(macro) == 8 + 2);
  CHECK(write_cycles(macro) == 128);
}

TEST_CASE("the macros of Llama-3.2-1B: 75,424 tiles in 74 packed rounds or 96 matrix by matrix") {
  const CimDevice chip = cim_edge();
  CHECK(chip.macros() == 1024);
  CHECK(chip.weight_capacity(format_of("int4", 0.5)).si() == 8388608);
  const StepShape shape(llama_1b(), {}, {});
  const Mapping mapping(shape, chip.macro, 0);
  CHECK(16 * mapping.layers[0].common.tiles() + mapping.head.tiles() == kTiles1B);
  CHECK(kTiles1B == 75424);
  const auto rounds = [&](Packing packing) {
    return mapping.layers[0].common.rounds(16, packing, 1024) + mapping.head.rounds(1, packing, 1024);
  };
  CHECK(rounds(Packing::packed) == 74);
  CHECK(rounds(Packing::by_matrix) == 96);

  CimLoad load;
  load.vector_passes = load.write_rounds = 74;
  CHECK(step_times(chip, load).macros.si() == Approx(51.06e-6));
  load.vector_passes = load.write_rounds = 96;
  CHECK(step_times(chip, load).macros.si() == Approx(66.24e-6));
}

TEST_CASE("a decode of Llama-3.2-1B takes 6.198 ms and 21.55 mJ by the closed form") {
  const CimDevice chip = cim_edge();
  CimLoad load;
  load.weights = Bytes(kWeights1B);
  load.kv = Bytes(kCache1B);
  load.vector_passes = load.write_rounds = 74;
  load.multiply_adds = 1235814400;
  const Seconds time = step_times(chip, load).step;
  CHECK(time.si() == Approx(6.198e-3).epsilon(1e-4));
  CHECK(1 / time.si() == Approx(161.3).epsilon(1e-3));
  const auto parts = step_energy(chip, load, format_of("int4", 0.5));
  CHECK(parts[0].si() == Approx(0.124e-3).epsilon(4e-3));  // 0.1 pJ per multiply-add
  CHECK(parts[1].si() == Approx(20.31e-3).epsilon(1e-3));  // 4 pJ/bit
  CHECK(parts[3].si() == Approx(0.494e-3).epsilon(1e-3));  // 0.1 pJ/bit
  const Joules energy = parts[0] + parts[1] + parts[2] + parts[3] + chip.idle_power() * time;
  CHECK(energy.si() == Approx(21.55e-3).epsilon(1e-3));
  CHECK(1 / energy.si() == Approx(46.4).epsilon(1e-3));
}

TEST_CASE("the step model agrees with the closed form: 161.3, 1,089 and 2,838 tokens/s for 1, 8 and 32 sequences") {
  const CimDevice chip = cim_edge();
  CHECK(tokens_per_second(chip, llama_1b(), 1) == Approx(161.3).epsilon(1e-3));
  CHECK(tokens_per_second(chip, llama_1b(), 8) == Approx(1089).epsilon(1e-3));
  CHECK(tokens_per_second(chip, llama_1b(), 32) == Approx(2838).epsilon(1e-3));
}

TEST_CASE("the parts of a step sum to it: times by family, energy by component with static power") {
  const CimDevice chip = cim_edge();
  const Decodes decodes(1, 1024);
  const StepCost cost = step(chip, llama_1b(), decodes.batch);
  Seconds sum;
  for (const Seconds part : cost.by_family) sum += part;
  CHECK(sum.si() == Approx(cost.device.si()));
  CHECK(cost.host.si() == 0);
  CHECK(cost.by_family[0] / cost.device == Approx(kWeights1B / (kWeights1B + kCache1B)).epsilon(1e-3));
  CHECK((total(cost) + chip.idle_power() * cost.device).si() == Approx(21.55e-3).epsilon(1e-3));
  CHECK(cost.bytes.si() == Approx(kWeights1B + kCache1B).epsilon(1e-3));
}

TEST_CASE("a batch without work costs nothing") { CHECK(step(cim_edge(), llama_1b(), {}).device.si() == 0); }

TEST_CASE("streaming the weights hides up to 1,618 vectors") {
  const CimDevice chip = cim_edge();
  CimLoad load;
  load.weights = Bytes(kWeights1B);
  load.write_rounds = 74;
  load.vector_passes = 74 * 1618;
  CHECK(step_times(chip, load).macros < step_times(chip, load).memory);
  load.vector_passes = 74 * 1619;
  CHECK(step_times(chip, load).macros > step_times(chip, load).memory);
}

TEST_CASE("more macros change nothing, twice the bandwidth doubles the speed, INT8 weights halve it") {
  const double base = tokens_per_second(cim_edge(), llama_1b(), 1);
  CimDevice larger = cim_edge();
  larger.macros_per_tile.value *= 2;
  CHECK(tokens_per_second(larger, llama_1b(), 1) == base);
  CimDevice faster = cim_edge();
  faster.memory_bandwidth.value *= 2;
  CHECK(tokens_per_second(faster, llama_1b(), 1) == Approx(2 * base));
  CHECK(tokens_per_second(cim_edge(), llama_1b(format_of("int8", 1)), 1) == Approx(base / 2).epsilon(0.05));
}

TEST_CASE("without double buffering transfer and compute add up") {
  CimDevice chip = cim_edge();
  CimLoad load;
  load.weights = Bytes(kWeights1B);
  load.vector_passes = load.write_rounds = 74;
  const CimTimes staged = step_times(chip, load);
  chip.overlap = Overlap::none;
  CHECK(step_times(chip, load).step == staged.memory + staged.macros + staged.vector);
  chip.overlap = Overlap::rotating;  // with every macro active there is none to write meanwhile
  CHECK(step_times(chip, load).step == staged.memory + staged.macros + staged.vector);
  chip.active_share.value = 0.5;
  CHECK(step_times(chip, load).step == staged.memory);
}

}  // namespace
}  // namespace llmscape::hardware
