// SPDX-License-Identifier: Apache-2.0
#include "hardware/dataflow/chip.hpp"
#include "hardware/dataflow/placement.hpp"
#include "large_models.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware::dataflow_test {
namespace {

using llmscape::testing::approx;

DataflowDevice sn40l() { return catalogued<DataflowDevice>("sn40l"); }

// The machine of the worked example: 1.8 TB/s at 0.75, every parameter streamed, nothing but memory time.
DataflowDevice plain_machine() {
  DataflowDevice socket = sn40l();
  socket.tiers.hbm_bandwidth.value = BytesPerSecond(1.8e12);
  socket.fabric.fill.value = socket.call.value = Seconds();
  socket.streams_embedding = true;
  socket.shapes = {};
  return socket;
}

double tokens_per_second(const Device& socket, const models::ModelSpec& model, std::int64_t context = 1) {
  const Decodes decodes(1, context);
  models::ParallelPlan plan;
  plan.tensor = 16;
  REQUIRE(socket.problems(model, plan).empty());
  return 1 / socket.bind(model, plan, {})->step(decodes.batch).device.si();
}

TEST_CASE("Llama-3.1-70B on 16 sockets streams 141.1 GB in 6.533 ms: 153.1 tokens/s") {
  const DataflowDevice socket = plain_machine();
  CHECK(streaming_time(socket.tiers, Bytes(70553706496.0 * 2), Bytes(), 16).si() == approx(6.533e-3).epsilon(1e-4));
  CHECK(tokens_per_second(socket, llama_70b()) == approx(153.1).epsilon(1e-3));

  DataflowDevice gathers = plain_machine();
  gathers.streams_embedding = false;
  CHECK(1e3 / tokens_per_second(gathers, llama_70b()) == approx(6.44).epsilon(1e-3));
  DataflowDevice published = plain_machine();
  published.tiers.hbm_bandwidth = sn40l().tiers.hbm_bandwidth;
  CHECK(tokens_per_second(published, llama_70b()) == approx(136).epsilon(2e-3));
}

TEST_CASE("switching to Llama-3.1-8B on 8 sockets takes 10.04 ms at 200 GB/s and 16.1 ms at 125 GB/s") {
  models::ParallelPlan plan;
  plan.tensor = 8;
  DataflowDevice socket = sn40l();
  CHECK(socket.model_switch(llama_8b(), plan).si() == approx(16.06e-3).epsilon(1e-3));
  socket.tiers.ddr_bandwidth.value = BytesPerSecond(200e9);
  CHECK(socket.model_switch(llama_8b(), plan).si() == approx(10.04e-3).epsilon(1e-3));
}

TEST_CASE("eight tiles pass a pipeline of four stages in eleven stage times") {
  CHECK(pipeline_stages(8, 4) == 11);
  Fabric fabric = sn40l().fabric;
  fabric.pipeline_depth.value = 4;
  const SectionLoad load{Bytes(), Bytes(), Flops(8e12), Bytes()};
  const Seconds stage = Flops(1e12) / (*fabric.peak * 0.7);
  CHECK(section_times(fabric, sn40l().tiers, load, {1, 8, false}).compute / stage == approx(11));
}

TEST_CASE("a model that the SRAM holds reads no HBM") {
  const DataflowDevice socket = sn40l();
  const Decodes decodes(1, 512);
  models::ModelSpec model = llama_1b();
  model.precision.weights = kInt4;  // 618 MB: two sockets hold it, one does not
  const engine::EngineCost one = step(socket, model, decodes.batch, 1);
  const engine::EngineCost two = step(socket, model, decodes.batch, 2);
  CHECK(one.bytes.si() > 600e6);
  CHECK(two.bytes.si() == 0);
  CHECK(energy(two, EnergyComponent::memory).si() == 0);
  CHECK(two.device < one.device / 2);
  DataflowDevice slow = socket;
  slow.tiers.hbm_bandwidth.value *= 0.5;
  CHECK(step(slow, model, decodes.batch, 2).device == two.device);
}

TEST_CASE("where all memory is SRAM, sequences that share blocks may read more than it holds, at its bandwidth") {
  DataflowDevice socket = plain_machine();
  socket.tiers.hbm.value = Bytes();
  socket.tiers.sram.value = Bytes(4e9);
  socket.tiers.sram_bandwidth.value = BytesPerSecond(1e12);
  const models::ModelSpec model = llama_1b();  // 2.47 GB
  const auto time = [&](std::int64_t sequences) {
    const Decodes decodes(sequences, 30150);
    return step(socket, model, decodes.batch, 1).device.si();
  };
  // 16 layers x 8 heads x 64 x 2 x 2 B = 32,768 B of each of 30,151 keys: 3.46, 4.45 and 10.4 GB in all.
  const double of_one = 30151 * 32768 / 1e12;
  CHECK(time(2) - time(1) == approx(of_one).epsilon(1e-6));
  CHECK(time(8) - time(1) == approx(7 * of_one).epsilon(1e-6));
  CHECK(time(1) == approx(2.4715e-3 + of_one).epsilon(1e-3));
}

TEST_CASE("70B at int8 needs the SRAM of 307 sockets of 230 MB") {
  MemoryTiers tiers;
  tiers.sram.value = Bytes(230e6);
  CHECK(sockets_to_hold(tiers, Bytes(70553706496.0)) == 307);
}

TEST_CASE("collectives run inside a section: they cost nothing until the links are the bottleneck") {
  const DataflowDevice socket = sn40l();
  SectionLoad load{Bytes(1.2e9), Bytes(), Flops(1e9), Bytes(1e6)};
  const auto with = section_times(socket.fabric, socket.tiers, load, {});
  CHECK(with.longest().si() == approx(1e-3));  // 1.2 GB at 0.75 of 1.6 TB/s
  load.sent = Bytes(800e6);
  CHECK(section_times(socket.fabric, socket.tiers, load, {}).longest().si() == approx(2e-3));
}

TEST_CASE("weights and KV add up on one channel and overlap on two") {
  MemoryTiers tiers = sn40l().tiers;
  CHECK(streaming_time(tiers, Bytes(1.2e9), Bytes(0.6e9), 1).si() == approx(1.5e-3));
  tiers.shared_channel = false;
  CHECK(streaming_time(tiers, Bytes(1.2e9), Bytes(0.6e9), 1).si() == approx(1e-3));
}

TEST_CASE("sizes are rounded up to what was compiled, beyond the largest to its multiples") {
  const std::vector<std::int64_t> sizes = {1, 4, 16};
  CHECK(rounded_up(0, sizes) == 0);
  CHECK(rounded_up(1, sizes) == 1);
  CHECK(rounded_up(5, sizes) == 16);
  CHECK(rounded_up(33, sizes) == 48);
  CHECK(rounded_up(33, {}) == 33);
}

TEST_CASE("a context bucket never reaches beyond a layer's window") {
  PaddedBatch padded({{4}, {512, 1024}}, 16, {0, 600});
  const std::vector<models::Attended> attended = {{1300, 700}, {1200, 600}};
  models::Batch batch;
  batch.decodes = 2;
  batch.attended = attended;
  const models::Batch& run = padded.pad(batch);
  CHECK(run.decodes == 4);
  CHECK(run.attended[0] == models::Attended{4 * 1024, 1024});
  CHECK(run.attended[1] == models::Attended{4 * 600, 600});
  CHECK(padded.tiles() == 1);
}

TEST_CASE("half empty slots and half empty contexts take as long as full ones") {
  const auto model = llama_8b();
  const auto time = [&](std::int64_t sequences, std::int64_t context) {
    const Decodes decodes(sequences, context);
    return step(sn40l(), model, decodes.batch, 16).device;
  };
  CHECK(time(17, 4096) == time(32, 4096));
  CHECK(time(32, 2049) == time(32, 4096));
  CHECK(time(16, 4096) < time(32, 4096));
  CHECK(time(32, 2048) < time(32, 4096));
}

TEST_CASE("the KV cache is shared evenly: 38 sequences of 128K stand beside DeepSeek-R1 in fp8 on 16 sockets") {
  models::ParallelPlan plan;
  plan.tensor = 16;
  CHECK(sn40l().kv_tokens(deepseek_r1(), plan) / 131072 == 38);
}

TEST_CASE("sections called one by one each pay for the call") {
  DataflowDevice socket = sn40l();
  const Decodes decodes(1, 512);
  const Seconds looped = step(socket, llama_8b(), decodes.batch, 16).device;
  socket.hardware_loop = false;
  const Seconds called = step(socket, llama_8b(), decodes.batch, 16).device;
  CHECK((called - looped).si() == approx(32 * 15e-6));  // 32 layers and the head: 33 calls instead of one
}

TEST_CASE("a layer whose weights exceed the SRAM is cut into sections") {
  const DataflowDevice socket = sn40l();
  const std::vector<Bytes> stages = {Bytes(), Bytes(302e6), Bytes(939.5e6), Bytes(469.5e6)};  // of 70B in bf16, 1711 MB
  CHECK(sections_of(stages, socket.fabric, socket.tiers, 1) == 4);
  CHECK(sections_of(stages, socket.fabric, socket.tiers, 4) == 1);
}

TEST_CASE("stages take whole memory units: ten of a unit and a half fill twenty") {
  DataflowDevice socket = sn40l();
  socket.tiers.sram.value = Bytes(20e6);
  socket.fabric.memory_units.value = 20;
  const std::vector<Bytes> stages(10, Bytes(1.5e6));
  CHECK(sections_of(stages, socket.fabric, socket.tiers, 1) == 1);
  socket.fabric.memory_units.value = 10;  // of 2 MB: one each
  CHECK(sections_of(stages, socket.fabric, socket.tiers, 1) == 1);
  socket.fabric.memory_units.value = 19;  // still two each
  CHECK(sections_of(stages, socket.fabric, socket.tiers, 1) == 2);
}

TEST_CASE("a layer whose stages want more compute units than there are is cut into sections") {
  DataflowDevice socket = sn40l();
  const std::vector<Bytes> stages(7, Bytes());
  socket.fabric.least_units.value = 148;  // 7 x 148 = 1,036 of 1,040
  CHECK(sections_of(stages, socket.fabric, socket.tiers, 1) == 1);
  socket.fabric.least_units.value = 149;
  CHECK(sections_of(stages, socket.fabric, socket.tiers, 1) == 2);
  CHECK(sections_of(stages, socket.fabric, socket.tiers, 16) == 2);  // every socket has a part of every stage
}

TEST_CASE(
    "compute units go to stages in proportion to work, so that all last alike, but for the least that each takes") {
  Fabric fabric = sn40l().fabric;
  fabric.compute_units.value = 100;
  fabric.least_units.value = 10;
  CHECK(stage_balance({30, 70}, fabric, 1) == approx(1));
  // 10 units for the small stage, 90 for 99 of 100 parts of the work: 99/90 against a mean of 100/100.
  CHECK(stage_balance({99, 1}, fabric, 1) == approx(90.0 / 99));
  // Two sections have 200 units: 10 and 190.
  CHECK(stage_balance({99, 1}, fabric, 2) == approx(100.0 / 200 / (99.0 / 190)));
  CHECK(stage_balance({0, 5}, fabric, 1) == approx(0.9));
}

TEST_CASE("a step is slower by what the least units of idle stages take from the busy ones") {
  DataflowDevice socket = sn40l();
  const Prompt prompt(16384);
  const double before = step(socket, llama_8b(), prompt.batch, 1).device.si();
  socket.fabric.least_units.value = 173;  // 6 stages need 1,038; q, k and v and the output would take 100 and 67
  CHECK(step(socket, llama_8b(), prompt.batch, 1).device.si() > 1.1 * before);
}

TEST_CASE("the parts of a dataflow step sum to it, and its energy counts every socket") {
  const DataflowDevice socket = sn40l();
  const Decodes decodes(8, 1024);
  const engine::EngineCost cost = step(socket, llama_8b(), decodes.batch, 16);
  CHECK(cost.host.si() == approx(8 * 4e-6));  // the catalogue's 4 us for each of eight sequences
  CHECK(total_time(cost).si() == approx((cost.device + cost.host).si()));
  const double hbm = 16 * cost.bytes.si() * 8 * 7e-12;
  CHECK(energy(cost, EnergyComponent::memory).si() == approx(hbm));
  const double compute = 16 * cost.flops.si() * 0.577e-12;
  CHECK(energy(cost, EnergyComponent::compute).si() == approx(compute));
  CHECK(total_energy(cost).si() > hbm + compute);
}

TEST_CASE("a long prompt runs at the balanced peak of the fabric") {
  const DataflowDevice socket = sn40l();
  const Prompt prompt(16384);
  const engine::EngineCost cost = step(socket, llama_8b(), prompt.batch, 1);
  const Seconds busy = cost.flops / (*socket.fabric.peak * 0.7);
  CHECK(cost.device > busy);
  CHECK(cost.device / busy == approx(1).epsilon(0.01));  // (16,384 + 6 - 1) / 16,384 tiles
}

TEST_CASE("sockets refuse what they cannot hold and plans other than tensor parallelism") {
  models::ParallelPlan plan;
  CHECK(sn40l().problems(llama_70b(), plan).size() == 1);  // 141 GB on one socket of 64
  plan.tensor = 4;
  CHECK(sn40l().problems(llama_70b(), plan).empty());
  plan.data = 2;
  CHECK(sn40l().problems(llama_70b(), plan).size() == 1);
}

TEST_CASE(
    "groups of sockets with consecutive layers: a tile passes in the sum of their times and the hops, and what further "
    "ones add is done by all groups at once") {
  DataflowDevice socket = sn40l();
  socket.fabric.link_bandwidth.value = BytesPerSecond(1e15);
  socket.fabric.hop.value = Seconds(3e-6);
  socket.shapes = {};
  const models::ParallelPlan one, four{.tensor = 1, .pipeline = 4};
  const auto time = [&](const models::ParallelPlan& plan, std::int64_t sequences) {
    const Decodes decodes(sequences, 1024);
    return socket.bind(llama_8b(), plan, {})->step(decodes.batch).device.si();
  };
  // The contract has the step of one group, of which the replica passes four.
  CHECK(4 * time(four, 1) == approx(time(one, 1) + 4 * 3e-6));
  CHECK(4 * time(four, 3) == approx(time(one, 1) + (time(one, 3) - time(one, 1)) / 4 + 4 * 3e-6));
}

TEST_CASE("weights come from DDR at its bandwidth, where there is DDR") {
  CHECK(sn40l().load_bandwidth()->si() == approx(125e9));
  CHECK_FALSE(catalogued<DataflowDevice>("groq-lpu").load_bandwidth());
}

TEST_CASE("a decode step keeps HBM busy at the share of its bandwidth that streaming reaches") {
  const DataflowDevice socket = plain_machine();
  const Decodes decodes(1, 1);
  const engine::EngineCost cost = step(socket, llama_70b(), decodes.batch, 16);
  const auto busy = [&](Resource part) { return cost.busy[static_cast<std::size_t>(part)] / cost.device; };
  CHECK(busy(Resource::memory) == approx(0.75));
  CHECK(busy(Resource::arithmetic) == approx(cost.flops / *socket.fabric.peak / cost.device));
  CHECK(busy(Resource::links) > 0);
  CHECK(busy(Resource::vector) == 0);
}

}  // namespace
}  // namespace llmscape::hardware::dataflow_test
