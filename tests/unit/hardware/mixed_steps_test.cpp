// SPDX-License-Identifier: Apache-2.0
// Which kernels run where a step has prompts and decodes, and prompts that are shorter than what is cached.
#include <algorithm>
#include <array>

#include "hardware/gpu/pricing.hpp"
#include "hardware_fixtures.hpp"
#include "large_models.hpp"
#include "models/execution.hpp"
#include "models/format.hpp"
#include "tests/support/approx.hpp"

using llmscape::testing::approx;

namespace llmscape::hardware::mixed_steps_test {
namespace {

Seconds attention(const StepCost& cost) {
  const auto of = [&cost](OperatorFamily family) { return cost.by_family[static_cast<std::size_t>(family)]; };
  return of(OperatorFamily::prefill_attention) + of(OperatorFamily::decode_attention);
}

// What 256 decodes behind 1,024 tokens and a prompt of 16 cost beyond both by themselves.
double beyond(const char* device, const char* engine, models::AttentionForm form) {
  const std::array attended = {equal_contexts(256, 1024)};
  const std::array chunks = {models::PrefillChunk{16, 0, true}};
  models::Batch decodes, prompt;
  decodes.decodes = 256;
  decodes.attended = attended;
  prompt.chunks = chunks;
  models::Batch both = decodes;
  both.chunks = chunks;
  Device::Settings settings;
  settings.engine = engine;
  settings.execution.attention = form;
  const auto steps = catalog_gpu(device).bind(llama_70b(), {}, settings);
  const Seconds alone = attention(steps->step(decodes));
  return (attention(steps->step(both)) - attention(steps->step(prompt))) / alone;
}

// Microseconds of a chunk in one layer of DeepSeek-V3 on one of eight ranks.
double chunk_micros(const Gpu& gpu, std::int64_t tokens, std::int64_t cached) {
  models::ParallelPlan plan;
  plan.tensor = 8;
  models::ModelSpec model = deepseek_r1();
  const std::array chunks = {models::PrefillChunk{tokens, cached, true}};
  const auto work = models::attention_work(model, plan, {chunks, 0, 1, {}});
  return price(gpu, work).time().si() / 61 * 1e6;
}

}  // namespace

// FlashAttention 2 reads the keys of decodes once for each of 8 query heads of a group; kernels of decodes read them
// once.
TEST_CASE("decodes beside a prompt run in its kernel where that is FlashAttention 2 and the engine has one call") {
  using models::AttentionForm;
  for (const char* device : {"b200", "gb200", "h200", "h100-sxm"})
    for (const char* engine : {"vllm", "sglang", "tensorrt_llm"}) {
      CAPTURE(device);
      CAPTURE(engine);
      CHECK(beyond(device, engine, AttentionForm::flash) == approx(1).epsilon(1e-9));
    }
  CHECK(beyond("a100-80", "vllm", AttentionForm::flash) > 1.5);
  CHECK(beyond("a100-80", "vllm", AttentionForm::flash_separate) == approx(1).epsilon(1e-9));
}

// 16 tokens, 16 heads and 65,536 latents: 16 x 16 x 65,536 x 2 x (576 + 512) FLOP are 36.5 GFLOP, 37 us of an H100, and
// 75.5 MB are 23 us. One chain of blocks that passes over all of them takes 2,500.
TEST_CASE("a short chunk behind a long cache of latents is split over the device, as decodes are") {
  for (const char* device : {"h100-sxm", "h200", "b200", "mi300x", "h20"}) {
    const Gpu gpu = catalog_gpu(device);
    CAPTURE(device);
    for (const std::int64_t tokens : {16, 168}) {
      const double context = 65536.0 + static_cast<double>(tokens);
      const double flops = static_cast<double>(tokens) * 16 * context * 2 * 1088, bytes = context * 576 * 2;
      const double least = 1e6 * std::max(flops / gpu.peak_bf16.value.si(), bytes / gpu.hbm_bandwidth.value.si());
      CHECK(chunk_micros(gpu, tokens, 65536) >= least);
      CHECK(chunk_micros(gpu, tokens, 65536) < 5 * least);
    }
  }
}

TEST_CASE("experts in fp8 that no table timed are priced as those with scales for blocks, and a run says so") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  const auto fp8 = models::format_named("fp8").value(), blocks = models::format_named("fp8_block").value();
  CHECK(gpu.prices_as_block_scaled(fp8, fp8));
  CHECK(&gpu.grouped_gemm_of(fp8, fp8) == &gpu.grouped_gemm_of(blocks, blocks));
  CHECK_FALSE(gpu.prices_as_block_scaled(blocks, blocks));
  CHECK_FALSE(gpu.prices_as_block_scaled(fp8, {}));                   // widened before: the kernel of 16 bits
  CHECK_FALSE(catalog_gpu("l40s").prices_as_block_scaled(fp8, fp8));  // has rows of its own
  CHECK_FALSE(catalog_gpu("h200").of_engine("tensorrt_llm").prices_as_block_scaled(fp8, fp8));
}

}  // namespace llmscape::hardware::mixed_steps_test
