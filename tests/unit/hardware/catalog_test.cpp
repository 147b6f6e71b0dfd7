// SPDX-License-Identifier: Apache-2.0
#include "closed_form_cases.hpp"
#include "hardware/cpu.hpp"
#include "hardware_fixtures.hpp"
#include "tests/support/approx.hpp"

#include <algorithm>
#include <array>
#include <fstream>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

TEST_CASE("what do the joules of each device of the catalogue include? each says so") {
  for (const std::string& name : catalog_names(kCatalog)) {
    CAPTURE(name);
    CHECK(catalog_device(name)->energy_boundary != EnergyBoundary::unstated);
  }
}

TEST_CASE("every device of the catalogue loads under its file's name and steps through Llama-3.2-1B") {
  const auto names = catalog_names(kCatalog);
  CHECK(names.size() >= 18);
  const std::array chunks = {models::PrefillChunk{64, 0, true}};
  const std::array attended = {equal_contexts(2, 128)};
  models::Batch decode;
  decode.decodes = 2;
  decode.attended = attended;
  models::Batch prefill{chunks, 0, 1, {}};
  for (const std::string& name : names) {
    CAPTURE(name);
    const auto device = catalog_device(name);
    CHECK(device->name == name);
    CHECK_FALSE(device->description.empty());
    CHECK(device->memory() > Bytes());
    models::ModelSpec spec = llama_1b();
    if (!device->problems(spec, {}).empty()) {  // a chip that stores 4-bit weights
      spec.precision.weights = {"int4", 0.5, 0, 0};
      spec.precision.activations = models::Format{"int8", 1, 0, 0};
      spec.precision.kv = spec.precision.activations;
    }
    models::ParallelPlan plan;
    if (!device->problems(spec, plan).empty()) plan.tensor = 4;  // a chip with nothing but SRAM
    CHECK(device->problems(spec, plan).empty());
    const auto model = device->bind(spec, plan, {});
    for (const models::Batch* batch : std::array{&decode, &prefill}) {
      const StepCost cost = model->step(*batch);
      Joules joules;
      CHECK(cost.device > Seconds());
      CHECK(cost.device < Seconds(10));
      CHECK(cost.flops > Flops());
      for (const Seconds busy : cost.busy) CHECK(busy <= cost.device);
      for (const auto component : {EnergyComponent::compute, EnergyComponent::memory, EnergyComponent::on_chip})
        joules += cost.energy[static_cast<std::size_t>(component)];
      CHECK(joules > Joules());
    }
  }
}

TEST_CASE("every figure of the catalogue says where it comes from") {
  for (const std::string& name : catalog_names(kCatalog)) {
    const auto device = catalog_device(name);
    CHECK((!device->die_area || !device->die_area->source.empty()));
    const auto* gpu = dynamic_cast<const Gpu*>(device.get());
    if (!gpu) continue;
    CAPTURE(name);
    for (const auto* source :
         {&gpu->peak_bf16.source, &gpu->hbm_bandwidth.source, &gpu->hbm_capacity.source, &gpu->multiprocessors.source,
          &gpu->l2.source, &gpu->tdp.source, &gpu->idle.source, &gpu->runtime_reserve.source, &gpu->gemm.source,
          &gpu->prefill_attention.source, &gpu->decode_attention.source, &gpu->elementwise.source,
          &gpu->links.bandwidth.source, &gpu->links.latency.source, &gpu->host.source, &gpu->energy.source})
      CHECK_FALSE(source->empty());
    for (const CollectiveFit& fit : gpu->links.collectives) CHECK_FALSE(fit.source.empty());
  }
}

TEST_CASE("an unknown device names the nearest and how to list them all") {
  Diagnostics diagnostics;
  CHECK_FALSE(catalog_entry(kCatalog, "device", "h100-smx", {}, diagnostics));
  REQUIRE(diagnostics.sorted().size() == 1);
  CHECK(diagnostics.sorted()[0].message == "no device 'h100-smx' in the catalogue");
  CHECK(diagnostics.sorted()[0].suggestion.find("h100-sxm") != std::string::npos);
  CHECK(diagnostics.sorted()[0].suggestion.find("llmscape list devices") != std::string::npos);
  CHECK_FALSE(catalog_entry(kCatalog, "device", "../catalog/h100-sxm", {}, diagnostics));
}

TEST_CASE("a description of another schema is refused") {
  const auto folder = std::filesystem::temp_directory_path() / "llmscape_catalog_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "old.yaml") << "schema: device/0\nkind: gpu\n";
  Diagnostics diagnostics;
  CHECK_FALSE(catalog_entry(folder, "device", "old", {}, diagnostics));
  CHECK(diagnostics.errors() == 1);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a fit is worth its tag unless a figure that it multiplies is assumed") {
  Gpu gpu = catalog_gpu("h100-sxm");
  CHECK(gpu.provenance()[static_cast<std::size_t>(OperatorFamily::gemm)] == Tag::fitted);
  gpu.hbm_bandwidth.tag = Tag::assumed;  // a what-if
  CHECK(gpu.provenance()[static_cast<std::size_t>(OperatorFamily::gemm)] == Tag::assumed);
  CHECK(catalog_gpu("mi300x").provenance()[static_cast<std::size_t>(OperatorFamily::decode_attention)] == Tag::assumed);
}

// An H200's active watts are 0.446 of its limit of 700 W, its dense work at the peak 0.815 of it: 0.5767 pJ x 989.5
// Tflop/s = 571 W. Of the 280 W of half an MI250 these are 125 W, and 1.26 pJ at 181 Tflop/s.
TEST_CASE("joules that are said to be shares of a power limit are these shares") {
  const Gpu h200 = catalog_gpu("h200");
  for (const char* name : {"mi250", "mi300x", "a100-80", "v100", "h20", "l40s"}) {
    CAPTURE(name);
    const Gpu gpu = catalog_gpu(name);
    const auto share = [](const Gpu& of, JoulesPerFlop work) {
      return work.si() * of.peak_bf16.value.si() / of.tdp.value.si();
    };
    CHECK(gpu.energy.active / *gpu.tdp == approx(h200.energy.active / *h200.tdp).epsilon(0.01));
    CHECK(share(gpu, gpu.energy.compute) == approx(share(h200, h200.energy.compute)).epsilon(0.01));
    CHECK(share(gpu, *gpu.energy.experts) == approx(share(h200, *h200.energy.experts)).epsilon(0.01));
    CHECK(share(gpu, *gpu.energy.attention) == approx(share(h200, *h200.energy.attention)).epsilon(0.01));
    CHECK(gpu.energy.padding == h200.energy.padding);
    CHECK(*gpu.energy.measured_limit / *gpu.tdp == approx(*h200.energy.measured_limit / *h200.tdp).epsilon(0.01));
  }
  // Two thirds of 60 W at 43 Tflop/s, and of 15 W at 10.
  CHECK(catalog_gpu("agx-orin").energy.compute.si() == approx(0.93e-12).epsilon(0.01));
  CHECK(catalog_gpu("orin-nano").energy.compute.si() == approx(1e-12).epsilon(0.01));
}

TEST_CASE("the MI300X of 2024 has the shares that the MI250 was fitted to end to end, as assumed") {
  const Gpu measured = catalog_gpu("mi250"), carried = catalog_gpu("mi300x-2024");
  CHECK(measured.gemm.tag == Tag::fitted_end_to_end);
  CHECK(measured.host.tag == Tag::fitted_end_to_end);
  CHECK(carried.gemm.tag == Tag::assumed);
  CHECK(carried.gemm.memory_efficiency == measured.gemm.memory_efficiency);
  CHECK(carried.gemm.compute_efficiency == measured.gemm.compute_efficiency);
  CHECK(carried.host.per_request == measured.host.per_request);
  // A lone token of an 8B model reads 15.0 GB: 0.40 of 5.3 TB/s are 7.1 ms, and the newer software takes less.
  const auto seconds = [](const Gpu& gpu) {
    const Decodes one(1, 128);
    return gpu.bind(llama_8b(), {}, {})->step(one.batch).device.si();
  };
  CHECK(seconds(carried) > 7.1e-3);
  CHECK(seconds(carried) < 9e-3);
  CHECK(seconds(catalog_gpu("mi300x")) < 0.7 * seconds(carried));
}

TEST_CASE("recorded decode steps and tokens per second are met where a device was measured") {
  const auto decode_seconds = [](const Device& device, const models::ModelSpec& model, std::int64_t decodes,
                                 std::int64_t context) {
    const std::array attended = {equal_contexts(decodes, context)};
    models::Batch batch;
    batch.decodes = decodes;
    batch.attended = attended;
    return device.bind(model, {}, {})->step(batch).device.si();
  };
  // Layer times of vLLM 0.19 (casys-kaist/LLMServingSim @ 5daddb2) times 32 layers, with head and sampler.
  const auto pro = catalog_device("rtx-pro-6000");
  CHECK(decode_seconds(*pro, llama_8b(), 128, 1024) == approx(25.3e-3).epsilon(0.05));
  CHECK(decode_seconds(*pro, llama_8b(), 128, 2048) == approx(36.7e-3).epsilon(0.05));
  // A vendor's table: Llama-3.2-3B with INT4 weights at 27.7 tokens per second.
  models::ModelSpec small = llama("llama-3.2-3b", 28, 3072, 24, 8, 128, 8192, true);
  small.precision.weights = {"int4", 0.5, 128, 2};
  CHECK(1 / decode_seconds(*catalog_device("orin-nano"), small, 1, 512) == approx(27.7).epsilon(0.15));
}

}  // namespace
}  // namespace llmscape::hardware
