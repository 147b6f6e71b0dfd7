// SPDX-License-Identifier: Apache-2.0
// Steps whose tokens pass through low-rank adapters.
#include "closed_form_cases.hpp"
#include "hardware/cpu.hpp"
#include "hardware/roofline.hpp"
#include "sim/engine/kv_pool.hpp"
#include "tests/support/approx.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;

const models::Adapter kAdapter{16, {"q", "k", "v", "o", "mlp"}};

StepCost adapted_step(const Device& device, models::Batch batch, std::int64_t adapters,
                      const models::Adapter& adapter = kAdapter) {
  Device::Settings settings;
  settings.adapter = adapter;
  batch.adapters = adapters;
  return device.bind(llama_8b(), {}, settings)->step(batch);
}

TEST_CASE("a step with one adapter costs the base and two thin GEMMs a layer") {
  const auto device = catalogued<Roofline>("gaudi3");
  const Decodes decodes(32, 1024);
  const StepCost base = adapted_step(device, decodes.batch, 0);
  const StepCost adapted = adapted_step(device, decodes.batch, 1, {16, {"q"}});
  const double flops = 2.0 * 32 * 4096 * 16, bytes = 2.0 * 4096 * 16 + 2.0 * 32 * (4096 + 16);
  const double thin = std::max(flops / (*device.compute_efficiency * device.peak_bf16.value.si()),
                               bytes / (*device.memory_efficiency * device.memory_bandwidth.value.si()));
  CHECK((adapted.device - base.device).si() == approx(32 * 2 * (device.per_operator.value.si() + thin)));
  CHECK((adapted.flops - base.flops).si() == approx(32 * 2 * flops));
}

TEST_CASE("n distinct adapters read n times the bytes of one, whatever the device") {
  const Decodes decodes(32, 1024);
  const auto one_adapter = models::adapter_bytes(kAdapter, llama_8b(), {});
  for (const char* name : {"h100-sxm", "tpu-v6e", "cpu-epyc-vm"}) {
    CAPTURE(name);
    const auto device = catalog_device(name);
    CHECK(device->takes_adapters());
    const StepCost one = adapted_step(*device, decodes.batch, 1), many = adapted_step(*device, decodes.batch, 9);
    CHECK((many.bytes - one.bytes).si() == approx(8 * one_adapter.si()));
    CHECK(many.flops == one.flops);
    CHECK(many.device > one.device);
  }
}

TEST_CASE("a prompt passes through its adapter too, and its family is that of grouped GEMMs") {
  const Prompt prompt(512);
  const auto device = catalog_device("h100-sxm");
  const StepCost base = adapted_step(*device, prompt.batch, 0), adapted = adapted_step(*device, prompt.batch, 1);
  const auto grouped = static_cast<std::size_t>(OperatorFamily::grouped_gemm);
  CHECK(base.by_family[grouped] == Seconds());
  CHECK((adapted.device - base.device).si() == approx(adapted.by_family[grouped].si()));
  CHECK((adapted.flops - base.flops).si() == approx(2.0 * 512 * 41943040));
}

TEST_CASE("adapters without a shape are refused, and dataflow devices take none") {
  const Decodes decodes(2, 64);
  CHECK_THROWS_AS(adapted_step(*catalog_device("h100-sxm"), decodes.batch, 1, {}), std::invalid_argument);
  CHECK_FALSE(catalog_device("sn40l")->takes_adapters());
}

TEST_CASE("resident adapters take their bytes from the KV pool") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  const Bytes resident = 8 * models::adapter_bytes(kAdapter, llama_8b(), {});
  const auto without = engine::kv_pool(gpu, llama_8b(), {}, 0.9, 8192, 256).tokens;
  const auto with = engine::kv_pool(gpu, llama_8b(), {}, 0.9, 8192, 256, resident).tokens;
  // 8 x 41,943,040 parameters of 2 bytes, 131,072 bytes of KV per token
  CHECK(without - with == 8 * 41943040 * 2 / 131072);
}

TEST_CASE("an adapter is loaded in its bytes over the host's link, every rank its own") {
  const auto device = catalog_device("h100-sxm");
  REQUIRE(device->load_bandwidth());
  const Seconds load = models::adapter_bytes(kAdapter, llama_8b(), {}) / *device->load_bandwidth();
  CHECK(load.si() == approx(83886080.0 / 55.3e9));
  CHECK_FALSE(catalog_device("orin-nano")->load_bandwidth());
}

}  // namespace
}  // namespace llmscape::hardware
