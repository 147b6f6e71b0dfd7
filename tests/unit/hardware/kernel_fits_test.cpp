// SPDX-License-Identifier: Apache-2.0
// Whose errors a model's times have: those of the kernels that it runs, and of no others.
#include "hardware/gpu/kernel_fits.hpp"

#include "hardware_fixtures.hpp"
#include "large_models.hpp"
#include "models/format.hpp"

namespace llmscape::hardware::kernel_fits_test {
namespace {

const Residuals kWide = {{-1, 1}, {-1, 1}, {-1, 1}};
constexpr auto kLarge = static_cast<std::size_t>(Regime::large);

Device::Settings of_engine(const char* engine) {
  Device::Settings settings;
  settings.engine = engine;
  return settings;
}

bool wide(const Gpu& gpu, OperatorFamily family, const models::ModelSpec& model, const char* engine = "vllm") {
  return gpu.spreads(model, {}, of_engine(engine))[static_cast<std::size_t>(family)][kLarge] == kWide.large;
}

models::ModelSpec in_fp8(models::ModelSpec model) {
  model.precision.weights = model.precision.activations = models::format_named("fp8").value();
  return model;
}

TEST_CASE("a format has the errors of its own kernels, and another format's say nothing of it") {
  Gpu gpu = catalog_gpu("h200");
  gpu.gemm_by_format.at("fp8").residuals = kWide;
  CHECK(wide(gpu, OperatorFamily::gemm, in_fp8(llama_8b())));
  CHECK_FALSE(wide(gpu, OperatorFamily::gemm, llama_8b()));
  gpu = catalog_gpu("h200");
  gpu.gemm.residuals = kWide;
  CHECK_FALSE(wide(gpu, OperatorFamily::gemm, in_fp8(llama_8b())));
  CHECK(wide(gpu, OperatorFamily::gemm, llama_8b()));
}

TEST_CASE("so has an engine") {
  Gpu gpu = catalog_gpu("h200");
  gpu.kernel_sets.at("sglang").gemm->residuals = kWide;
  CHECK(wide(gpu, OperatorFamily::gemm, llama_8b(), "sglang"));
  CHECK_FALSE(wide(gpu, OperatorFamily::gemm, llama_8b()));
}

TEST_CASE("and KV in a format, latent attention, experts") {
  Gpu gpu = catalog_gpu("h200");
  gpu.decode_attention_by_kv.at("fp8").residuals = kWide;
  models::ModelSpec narrow = llama_8b();
  narrow.precision.kv = models::format_named("fp8").value();
  CHECK(wide(gpu, OperatorFamily::decode_attention, narrow));
  CHECK_FALSE(wide(gpu, OperatorFamily::decode_attention, llama_8b()));

  gpu = catalog_gpu("h200");
  gpu.decode_attention.residuals = gpu.prefill_attention.residuals = kWide;
  CHECK(wide(gpu, OperatorFamily::decode_attention, llama_8b()));
  CHECK_FALSE(wide(gpu, OperatorFamily::decode_attention, deepseek_r1()));
  for (auto& [kv, fit] : gpu.latent_decode_attention) fit.residuals = kWide;
  CHECK(wide(gpu, OperatorFamily::decode_attention, deepseek_r1()));

  gpu = catalog_gpu("h200");
  gpu.expert_gemm->residuals = kWide;
  models::ModelSpec blocks = deepseek_r1();
  blocks.precision.weights = blocks.precision.activations = models::format_named("fp8_block").value();
  CHECK_FALSE(wide(gpu, OperatorFamily::grouped_gemm, blocks));
  gpu.expert_gemm_by_format.at("fp8_block").residuals = kWide;
  CHECK(wide(gpu, OperatorFamily::grouped_gemm, blocks));
}

// An MI300X has no fit of experts, and that of its dense GEMMs is another chip's.
TEST_CASE("experts that are priced as dense GEMMs do not have the errors of these") {
  Gpu gpu = catalog_gpu("mi300x");
  REQUIRE_FALSE(gpu.expert_gemm);
  gpu.gemm.residuals = kWide;
  CHECK(wide(gpu, OperatorFamily::gemm, llama_8b()));
  CHECK_FALSE(wide(gpu, OperatorFamily::grouped_gemm, deepseek_r1()));
}

}  // namespace
}  // namespace llmscape::hardware::kernel_fits_test
