// SPDX-License-Identifier: Apache-2.0
#include "closed_form_cases.hpp"
#include "hardware/cim/step.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware::cim_test {
namespace {

using llmscape::testing::approx;

constexpr double kWeights1B = 1235814400 * 0.5;                      // bytes of Llama-3.2-1B at INT4
constexpr double kCache1B = 16 * 2 * 8 * 64 * 1024;                  // bytes of its INT8 KV at 1,024 tokens
constexpr double kTiles1B = 16 * (384 + 256 + 2048 + 1024) + 16032;  // qkv, o, gate and up, down; head

CimDevice cim_edge() { return catalogued<CimDevice>("cim-edge"); }
CimDevice edgecim() { return catalogued<CimDevice>("edgecim"); }
models::ModelSpec int4_1b() { return quantised(llama_1b(), kInt4); }
double tokens_per_second(const CimDevice& chip, const models::ModelSpec& model, std::int64_t sequences) {
  const Decodes decodes(sequences, 1024);
  return static_cast<double>(sequences) / step(chip, model, decodes.batch).device.si();
}

TEST_CASE("a digital bit-serial macro takes one cycle per input bit and one per row to be written") {
  const Macro macro = cim_edge().macro;
  CHECK(weight_columns(macro, kInt4) == 128);
  CHECK(weight_columns(macro, kInt8) == 64);
  CHECK(vector_cycles(macro) == 8 + 2);
  CHECK(write_cycles(macro) == 128);
}

TEST_CASE("the macros of Llama-3.2-1B: 75,424 tiles in 74 packed rounds or 96 matrix by matrix") {
  const CimDevice chip = cim_edge();
  CHECK(chip.macros() == 1024);
  CHECK(chip.weight_capacity(kInt4).si() == 8388608);
  const StepShape shape(int4_1b(), {});
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
  CHECK(step_times(chip, load).macros.si() == approx(51.06e-6));
  load.vector_passes = load.write_rounds = 96;
  CHECK(step_times(chip, load).macros.si() == approx(66.24e-6));
}

TEST_CASE("a decode of Llama-3.2-1B takes 6.198 ms and 21.55 mJ by the closed form") {
  const CimDevice chip = cim_edge();
  CimLoad load;
  load.weights = load.written = Bytes(kWeights1B);
  load.kv = Bytes(kCache1B);
  load.vector_passes = load.write_rounds = 74;
  load.multiply(1235814400, kInt4, chip.macro);
  const Seconds time = step_times(chip, load).step;
  CHECK(time.si() == approx(6.198e-3).epsilon(1e-4));
  CHECK(1 / time.si() == approx(161.3).epsilon(1e-3));
  const auto parts = step_energy(chip, load);
  const auto part = [&](EnergyComponent component) { return parts[static_cast<std::size_t>(component)]; };
  const Joules cells = part(EnergyComponent::compute), dram = part(EnergyComponent::memory),
               writes = part(EnergyComponent::write);
  CHECK(cells.si() == approx(0.124e-3).epsilon(4e-3));   // 0.1 pJ per multiply-add
  CHECK(dram.si() == approx(20.31e-3).epsilon(1e-3));    // 4 pJ/bit
  CHECK(writes.si() == approx(0.494e-3).epsilon(1e-3));  // 0.1 pJ/bit into the macros
  const Joules energy = cells + dram + writes + chip.idle_power() * time;
  CHECK(energy.si() == approx(21.55e-3).epsilon(1e-3));
  CHECK(1 / energy.si() == approx(46.4).epsilon(1e-3));
}

TEST_CASE("the step model agrees with the closed form: 161.3, 1,089 and 2,838 tokens/s for 1, 8 and 32 sequences") {
  const CimDevice chip = cim_edge();
  CHECK(tokens_per_second(chip, int4_1b(), 1) == approx(161.3).epsilon(1e-3));
  CHECK(tokens_per_second(chip, int4_1b(), 8) == approx(1089).epsilon(1e-3));
  CHECK(tokens_per_second(chip, int4_1b(), 32) == approx(2838).epsilon(1e-3));
}

TEST_CASE("the parts of a step sum to it: times by family, energy by component with static power") {
  const CimDevice chip = cim_edge();
  const Decodes decodes(1, 1024);
  const engine::EngineCost cost = step(chip, int4_1b(), decodes.batch);
  CHECK(total_time(cost).si() == approx(cost.device.si()));
  CHECK(cost.host.si() == 0);
  CHECK(cost.by_family[0] / cost.device == approx(kWeights1B / (kWeights1B + kCache1B)).epsilon(1e-3));
  CHECK((total_energy(cost) + chip.idle_power() * cost.device).si() == approx(21.55e-3).epsilon(1e-3));
  CHECK(cost.bytes.si() == approx(kWeights1B + kCache1B).epsilon(1e-3));
}

TEST_CASE("a batch without work costs nothing") { CHECK(step(cim_edge(), int4_1b(), {}).device.si() == 0); }

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
  const double base = tokens_per_second(cim_edge(), int4_1b(), 1);
  CimDevice larger = cim_edge();
  larger.macros_per_tile.value *= 2;
  CHECK(tokens_per_second(larger, int4_1b(), 1) == base);
  CimDevice faster = cim_edge();
  faster.dram.width.value *= 2;
  CHECK(tokens_per_second(faster, int4_1b(), 1) == approx(2 * base));
  CHECK(tokens_per_second(cim_edge(), quantised(llama_1b(), kInt8), 1) == approx(base / 2).epsilon(0.05));
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

TEST_CASE("memory at 1.05 instead of 4 pJ/bit is worth 152.2 instead of 46.4 tokens/J") {
  const Decodes decodes(1, 1024);
  const auto tokens_per_joule = [&](double picojoules_per_bit) {
    CimDevice chip = cim_edge();
    chip.dram.energy.value = JoulesPerByte(8 * picojoules_per_bit * 1e-12);
    const engine::EngineCost cost = step(chip, int4_1b(), decodes.batch);
    return 1 / (total_energy(cost) + chip.idle_power() * cost.device).si();
  };
  CHECK(tokens_per_joule(4) == approx(46.4).epsilon(1e-3));
  CHECK(tokens_per_joule(1.05) == approx(152.2).epsilon(2e-3));
}

// 4 layers of 28 tiles each and a head of 16: 128 tiles.
models::ModelSpec tiny_model() {
  models::ModelSpec model = quantised(llama("tiny", 4, 256, 4, 2, 64, 512, true), kInt4);
  model.vocabulary = 1024;
  return model;
}

TEST_CASE("weights that stay in the macros are not streamed") {
  CimDevice chip = cim_edge();
  const StepShape shape(tiny_model(), {});
  const Mapping all(shape, chip.macro, 1024);
  CHECK(all.pinned_macros == 4 * (8 + 4 + 16 + 8) + 16);
  CHECK_FALSE(all.streams());
  const Mapping two(shape, chip.macro, 2 * 36 + 35);  // no third layer, but the head fits
  CHECK(two.layers[0].pinned == 2);
  CHECK(two.pinned_macros == 2 * 36 + 16);
  CHECK(two.streams());

  chip.pinned_share.value = 1;
  const Decodes decodes(1, 16);
  const engine::EngineCost resident = step(chip, tiny_model(), decodes.batch);
  CHECK(resident.bytes.si() == 4 * 2 * 2 * 64 * (16 + 1));  // the KV cache alone
  CHECK(energy(resident, EnergyComponent::write).si() == 0);
  CHECK(energy(step(cim_edge(), tiny_model(), decodes.batch), EnergyComponent::write).si() > 0);
  chip.dram.width.value /= 2;
  chip.vector_throughput.value *= 100;
  CHECK(step(chip, tiny_model(), decodes.batch).by_family[0] == resident.by_family[0]);
}

// 4 layers of 4 matrices and the head, a pass of 10 cycles of 200 MHz each.
TEST_CASE("where tokens follow one another through pinned matrices, a prompt takes T + M - 1 passes instead of T M") {
  CimDevice chip = cim_edge();
  chip.pinned_share.value = 1;
  chip.vector_throughput.value *= 1e6;
  chip.dram.width.value *= 1000;
  const auto passes = [&](const models::Batch& batch) {
    return step(chip, tiny_model(), batch).device.si() * 200e6 / 10;
  };
  const Prompt prompt(64);
  const Decodes one(1, 16), eight(8, 16);
  CHECK(passes(prompt.batch) == approx(16 * 64 + 1));
  CHECK(passes(eight.batch) == approx(17 * 8));
  const double alone = passes(one.batch);
  CHECK(alone == approx(17));
  chip.pipelined = true;
  CHECK(passes(prompt.batch) == approx(16 + 1 + 63));
  CHECK(passes(eight.batch) == approx(17 + 7));
  CHECK(passes(one.batch) == alone);
  chip.pinned_share.value = 0;  // streamed matrices take all tokens while they are there
  const double streamed = passes(prompt.batch);
  chip.pipelined = false;
  CHECK(passes(prompt.batch) == streamed);
}

TEST_CASE("macros outside the active share are written while the others compute") {
  CimDevice chip = edgecim();
  chip.active_share.value = 0.5;
  CimLoad load;
  load.vector_passes = load.write_rounds = 10;  // 10 cycles to compute, 64 to write a round, at 200 MHz
  CHECK(step_times(chip, load).macros.si() == approx(10 * 64 / 200e6));
  chip.active_share.value = 0.25;  // three times as many macros are being written as compute
  CHECK(step_times(chip, load).macros.si() == approx(10 * 64 / 200e6 / 3));
  load.vector_passes = 1000;
  CHECK(step_times(chip, load).macros.si() == approx(1000 * 10 / 200e6));
}

TEST_CASE("a prompt of 2,048 tokens waits for the vector unit, or for the macros once they run attention") {
  CimDevice chip = cim_edge();
  const Prompt prompt(2048);
  const double pairs = 16 * 2048.0 * 2049 / 2;  // of one head, all layers
  const engine::EngineCost on_vector = step(chip, int4_1b(), prompt.batch);
  const double attention = pairs * 32 * (4 * 64 + 5) / 1.024e12;
  CHECK(on_vector.device.si() > attention);
  CHECK(on_vector.device.si() == approx(attention).epsilon(0.03));  // and norms, rope, activations

  chip.attention = AttentionUnit::macros;
  chip.buffer.value *= 10;            // or activations would pass through the memory
  chip.vector_throughput.value *= 2;  // or softmax and norms would still be the bound
  const engine::EngineCost in_macros = step(chip, int4_1b(), prompt.batch);
  // Layers: 58 rounds of 2,048 vectors and the head's 16 of one. Attention: 16 x 8 heads of 32.5 + 16.5 tiles in 7
  // rounds of 4 x 2,048 queries. 10 cycles each, 128 to write a round.
  const double cycles = 10 * (58 * 2048.0 + 16 + 7 * 4 * 2048.0) + 128 * (74 + 7);
  CHECK(in_macros.device.si() == approx(cycles / 200e6));

  // With a window of 128 tokens a tile of 64 keys is passed by 191 queries, one of 128 values by 255.
  models::ModelSpec windowed = int4_1b();
  std::get<models::SoftmaxAttention>(windowed.groups[0].mixer).window = 128;
  chip.dram.width.value *= 4;  // or the weights would be the bound
  const double fewer = 10 * (58 * 2048.0 + 16 + 7 * 4 * 255.0) + 128 * (74 + 7);
  CHECK(step(chip, windowed, prompt.batch).device.si() == approx(fewer / 200e6));
}

TEST_CASE("attention in macros leaves a decode of one sequence to the memory") {
  CimDevice chip = cim_edge();
  chip.attention = AttentionUnit::macros;
  CHECK(tokens_per_second(chip, int4_1b(), 1) == tokens_per_second(cim_edge(), int4_1b(), 1));
}

TEST_CASE("experts that no token chose are not streamed") {
  models::ModelSpec model = tiny_model();
  auto& kind = model.groups[0].feed_forward;
  kind.width = 0;
  kind.experts = 16;
  kind.experts_per_token = 2;
  kind.expert_width = 256;
  const CimDevice chip = cim_edge();
  const double expert = 3 * 256 * 256 * 0.5, common = (256 * 512 + 256 * 256 + 256 * 16) * 0.5, head = 256 * 1024 * 0.5;
  const double entry = 2 * 2 * 64;
  const Decodes one(1, 16);
  CHECK(step(chip, model, one.batch).bytes.si() == approx(4 * (common + 2 * expert + entry * 17) + head));
  const Prompt many(4096);
  CHECK(step(chip, model, many.batch).bytes.si() ==
        approx(4 * (common + 16 * expert + entry * 8192) + head).epsilon(0.02));
}

TEST_CASE("a chip refuses what its macros or its memory cannot hold, and plans over several chips") {
  CimDevice chip = cim_edge();
  const auto refusals = [&](const models::ModelSpec& model, const models::ParallelPlan& plan) {
    return chip.problems(model, plan).size();
  };
  CHECK(refusals(int4_1b(), {}) == 0);
  CHECK(refusals(llama_1b(), {}) == 1);                    // bf16 weights
  CHECK(refusals(quantised(llama_8b(), kInt8), {}) == 1);  // 8.03 GB beside a memory of 8 GB
  CHECK(refusals(int4_1b(), {2, 1, 1, 1}) == 1);
  models::ModelSpec mixed = int4_1b();
  mixed.groups[0].own_attention = kInt8;
  CHECK(refusals(mixed, {}) == 1);  // a layer is held in one format
  chip.macros_per_tile.value = 9;   // 36 macros, all of which hold the first layer
  chip.pinned_share.value = 1;
  CHECK(refusals(tiny_model(), {}) == 1);
}

TEST_CASE("a row count that is no power of two is refused where it stands") {
  Diagnostics diagnostics;
  auto tree = device_entry(kCatalog, "cim-edge", {}, diagnostics);
  REQUIRE(tree);
  tree->find("macro")->find("rows")->find("value")->text = "300";
  CHECK_FALSE(devices().read(*tree, diagnostics));
  REQUIRE(diagnostics.errors() == 1);
  CHECK(diagnostics.sorted()[0].message.find("power of two") != std::string::npos);
  CHECK(diagnostics.sorted()[0].where.line == 10);
}

}  // namespace
}  // namespace llmscape::hardware::cim_test
