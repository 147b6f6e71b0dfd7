// SPDX-License-Identifier: Apache-2.0
// Kernels belong to a serving engine: what choosing one changes, and what it does not.
#include "hardware/gpu/pricing.hpp"
#include "hardware_fixtures.hpp"
#include "models/format.hpp"
#include "models/operator_list.hpp"
#include "tests/support/approx.hpp"

#include <array>

using llmscape::testing::approx;

namespace llmscape::hardware::kernel_sets_test {
namespace {

constexpr std::array<const char*, 3> kWithSets = {"h200", "b200", "gb200"};

StepCost step(const Device& device, const std::string& engine, std::int64_t prompt = 512) {
  const std::array attended = {equal_contexts(32, 1024)};
  const std::array chunks = {models::PrefillChunk{prompt, 0, true}};
  models::Batch batch;
  if (prompt > 0) batch.chunks = chunks;
  batch.decodes = 32;
  batch.attended = attended;
  Device::Settings settings;
  settings.engine = engine;
  return device.bind(llama_8b(), {}, settings)->step(batch);
}

Seconds of(const StepCost& cost, OperatorFamily family) { return cost.by_family[static_cast<std::size_t>(family)]; }

// Seconds of one product with its quantisation, as that engine's kernels run it.
double product(const Gpu& device, const std::string& engine, const char* format, std::int64_t m, std::int64_t n,
               std::int64_t k) {
  const Gpu gpu = device.of_engine(engine);
  models::OperatorList list;
  const auto in = models::format_named(format).value();
  list.add_gemm(m, k, n, in, in, 1);
  return price(gpu, list.take()).time().si();
}

TEST_CASE("every set of every entry prices a step, never below the roofline, and differs from the entry's own") {
  for (const char* name : kWithSets) {
    const Gpu gpu = catalog_gpu(name);
    CHECK(gpu.engine == "vllm");
    const Seconds own = step(gpu, "vllm").device;
    for (const char* engine : {"sglang", "tensorrt_llm"}) {
      REQUIRE(gpu.kernel_sets.contains(engine));
      const StepCost cost = step(gpu, engine);
      CAPTURE(name);
      CAPTURE(engine);
      CHECK(cost.device >= 0.9 * cost.bytes / *gpu.hbm_bandwidth);  // what stays in L2 is faster
      CHECK(cost.device >= cost.flops / *gpu.peak_bf16);
      CHECK(cost.device.si() != own.si());
      CHECK(cost.device / own == approx(1).epsilon(0.35));
    }
  }
}

TEST_CASE("an engine changes the families that its set has, and no other") {
  Gpu gpu = catalog_gpu("h200");
  KernelSet products = gpu.kernel_sets.at("sglang");
  products.prefill_attention.reset();
  products.decode_attention.reset();
  gpu.kernel_sets["sglang"] = products;
  const StepCost own = step(gpu, "vllm"), other = step(gpu, "sglang");
  CHECK(of(own, OperatorFamily::gemm).si() != of(other, OperatorFamily::gemm).si());
  for (const OperatorFamily family : {OperatorFamily::prefill_attention, OperatorFamily::decode_attention,
                                      OperatorFamily::elementwise, OperatorFamily::sampling})
    CHECK(of(own, family).si() == of(other, family).si());
  // One engine's tables hold kernels that find scales; another's do not for that.
  CHECK(gpu.elementwise.scales);
  CHECK_FALSE(gpu.of_engine("sglang").elementwise.scales);
  // Formats that the set lacks are the entry's own: int8 runs in bf16's kernels at its own width.
  const Gpu chosen = gpu.of_engine("sglang");
  CHECK(chosen.engine == "sglang");
  CHECK(gpu.of_engine("tensorrt_llm").expert_gemm_by_format.at("int4").launch ==
        gpu.expert_gemm_by_format.at("int4").launch);
}

// Sets of a GB200 have rows of two and four ranks; eight keep the entry's own, and not NCCL's 25 us.
TEST_CASE("an engine's collectives take the place of the entry's small ones of the same ranks alone") {
  const Gpu gpu = catalog_gpu("gb200");
  const auto small = [&gpu](const char* engine, int ranks) {
    return 1e6 *
           collective_time(gpu.of_engine(engine).links, {models::Collective::Kind::all_reduce, 16384, ranks}).si();
  };
  CHECK(small("sglang", 8) == approx(small("vllm", 8)));
  CHECK(small("tensorrt_llm", 8) < 10);
  CHECK(small("sglang", 4) < small("vllm", 4));
}

// Of the four quantisations of a dense layer, that of the attention's output is left: with 32 tokens of an 8B model,
// inputs of 4,096 (queries, keys and values; gate and up) and of 14,336 elements (down) are written by the kernel
// before. 3 bytes an element and 4 a token each, in 32 layers.
TEST_CASE("which quantisations does an engine not launch? those behind norms and activations, with scales of tokens") {
  Gpu fused = catalog_gpu("h200");
  fused.quantises_in = {"norm", "activation"};
  Gpu apart = fused;
  apart.quantises_in.clear();
  const auto elementwise = [](const Gpu& gpu, const char* weights) {
    models::ModelSpec model = llama_8b();
    model.precision.weights = models::format_named(weights).value();
    model.precision.activations = models::format_named("fp8").value();
    const std::array attended = {equal_contexts(32, 1024)};
    models::Batch batch;
    batch.decodes = 32;
    batch.attended = attended;
    return of(gpu.bind(model, {}, {})->step(batch), OperatorFamily::elementwise).si();
  };
  const auto& kernel = *fused.elementwise.quantise;
  double saved = 0;
  for (const double width : {4096.0, 4096.0, 14336.0})
    saved += kernel.launch.si() + 32 * (3 * width + 4) / (kernel.efficiency * fused.hbm_bandwidth.value.si());
  CHECK(elementwise(apart, "fp8") - elementwise(fused, "fp8") == approx(32 * saved));
  CHECK(elementwise(apart, "fp8_block") == elementwise(fused, "fp8_block"));
  CHECK(elementwise(apart, "bf16") == elementwise(fused, "bf16"));
  // vLLM and TensorRT-LLM fuse, SGLang does not.
  const Gpu h200 = catalog_gpu("h200");
  CHECK(h200.of_engine("vllm").quantises_in.size() == 2);
  CHECK(h200.of_engine("tensorrt_llm").quantises_in.size() == 2);
  CHECK(h200.of_engine("sglang").quantises_in.empty());
}

TEST_CASE("an engine without a set, and a device without sets, are priced as they are") {
  const Gpu h200 = catalog_gpu("h200"), h100 = catalog_gpu("h100-sxm");
  CHECK(step(h200, "orca").device.si() == step(h200, "").device.si());
  CHECK_FALSE(h200.with_kernels_of("orca"));
  CHECK_FALSE(h100.with_kernels_of("sglang"));
  CHECK(h100.kernels() == "vllm");
  const auto tpu = catalog_device("tpu-v6e");
  CHECK(tpu->kernels().empty());
  CHECK(step(*tpu, "sglang").device.si() == step(*tpu, "vllm").device.si());
}

TEST_CASE("a back end that vLLM takes on request changes its experts of mxfp4 alone") {
  for (const char* name : {"h100-sxm", "h200"}) {
    const Gpu gpu = catalog_gpu(name), marlin = gpu.of_engine("vllm_marlin");
    CHECK(step(gpu, "vllm_marlin").device.si() == step(gpu, "vllm").device.si());
    CHECK(marlin.quantises_in == gpu.quantises_in);
    // GPT-OSS-120B on one GPU: 8,192 tokens of Marlin's run at half of Triton's rate, by tables of both (205 and 411
    // Tflop/s where loads follow a power law), and few tokens read the weights as fast.
    models::GroupedGemm work{8192 * 4, 128, 128, 2 * 2880, 2880, models::format_named("mxfp4").value(), {}};
    const auto seconds = [&](const Gpu& by) {
      return grouped_gemm_cost(by, by.grouped_gemm_of(work.weights, work.activations), work).time.si();
    };
    CHECK(seconds(marlin) / seconds(gpu) == approx(2).epsilon(0.3));
    work.rows = 64 * 4;
    CHECK(seconds(marlin) / seconds(gpu) == approx(1).epsilon(0.3));
  }
}

TEST_CASE("a B200's nvfp4 products: TensorRT-LLM's as timed, four times bf16's peak but not its time") {
  const Gpu gpu = catalog_gpu("b200");
  // Rows of ai-dynamo/aiconfigurator @ 095f58a, b200_sxm, TensorRT-LLM 1.3.0rc20.
  CHECK(product(gpu, "tensorrt_llm", "nvfp4", 1281, 51200, 16384) == approx(549.7e-6).epsilon(0.15));
  CHECK(product(gpu, "tensorrt_llm", "nvfp4", 16, 65536, 8192) == approx(66.8e-6).epsilon(0.15));
  // By hand: 2 x 4096 x 8192 x 8192 FLOP at 9 Pflop/s are 61.1 us, at bf16's 2.25 244.3 us.
  const double narrow = product(gpu, "vllm", "nvfp4", 4096, 8192, 8192);
  CHECK(narrow > 61.1e-6);
  CHECK(product(gpu, "vllm", "bf16", 4096, 8192, 8192) > 244.3e-6);
  CHECK(product(gpu, "vllm", "bf16", 4096, 8192, 8192) / narrow < 4);
}

TEST_CASE("latent attention has parameters of its own by the format of its latents") {
  const Gpu gpu = catalog_gpu("b200");
  models::DecodeAttention decode;
  decode.kernel = models::AttentionKernel::latent;
  CHECK(&gpu.decode_attention_of(decode) == &gpu.latent_decode_attention.at("bf16"));
  decode.kv = models::format_named("fp8").value();
  CHECK(&gpu.decode_attention_of(decode) == &gpu.latent_decode_attention.at("fp8"));
  const Gpu without = catalog_gpu("a100-80");
  CHECK(&without.decode_attention_of(decode) == &without.decode_attention);
}

}  // namespace
}  // namespace llmscape::hardware::kernel_sets_test
