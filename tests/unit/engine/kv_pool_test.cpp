// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/kv_pool.hpp"
#include "tests/support/approx.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"

using llmscape::testing::approx;

namespace llmscape::engine {
namespace {

using namespace hardware;  // fixtures

constexpr std::int64_t kBlock = 16;

// vLLM samples in its profile run (sim/scenario/device_memory.cpp).
constexpr HeldBack kVllm{39, Bytes(), Bytes(1.9e9)};

TEST_CASE("an RTX 4090 holds the blocks of Llama-3.1-8B that vLLM found") {
  const KvPool pool = kv_pool(catalog_gpu("rtx-4090"), llama_8b(), {}, 0.9, 2048, 256, Bytes(), kVllm);
  CHECK(static_cast<double>(pool.tokens / kBlock) == approx(2588).epsilon(0.02));
  // Without activations and runtime memory it would be a quarter more.
  CHECK(static_cast<double>((pool.offered - pool.need.weights) / pool.need.kv_per_token) / kBlock > 1.2 * 2588);
}

TEST_CASE("an H100 holds 59 GB of KV beside an 8B model") {
  const KvPool pool = kv_pool(catalog_gpu("h100-sxm"), llama_8b(), {}, 0.9, 8192, 256, Bytes(), kVllm);
  // 0.9 x 84.9 GB, less 16.1 GB of weights, 256 x 128,256 logits of 39 bytes and 0.1 GB of runtime memory
  CHECK(static_cast<double>(pool.tokens) * 131072 == approx(59.0e9).epsilon(0.01));
  CHECK(pool.missing == Bytes());
}

TEST_CASE("the peak of a profiled step is the forward pass or the sampler behind it, whichever holds more") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  const auto profiled = [&](std::int64_t tokens, std::int64_t sequences) {
    return kv_pool(gpu, llama_8b(), {}, 0.9, tokens, sequences, Bytes(), kVllm).profiled;
  };
  CHECK(profiled(2048, 256).si() == approx(39.0 * 256 * 128256));
  CHECK(profiled(2048, 4096) == profiled(2048, 2048));  // no more rows than tokens
  CHECK(profiled(65536, 1) == models::memory_need(llama_8b(), {}, 65536, 1).activations);
}

TEST_CASE("ranks of several GPUs hold communicators beside that: Llama-3.1-70B on two A100 has 40 thousand tokens") {
  const models::ModelSpec model = llama("llama-70b", 80, 8192, 64, 8, 128, 28672, false);
  const Gpu gpu = catalog_gpu("a100-80");
  const auto pool = [&](int ranks, const HeldBack& held) {
    return kv_pool(gpu, model, {.tensor = ranks}, 0.95, 2048, 256, Bytes(), held);
  };
  // 0.95 x 85.0 GB - 70.6 - 1.28 (sampler) - 0.08 - 1.9 - 0.45 (context) = 6.5 GB at 163,840 bytes a token
  HeldBack with_context = kVllm;
  with_context.runtime = Bytes(0.45e9);
  CHECK(static_cast<double>(pool(2, with_context).tokens) == approx(39.9e3).epsilon(0.02));
  CHECK(static_cast<double>(pool(2, kVllm).tokens - pool(2, with_context).tokens) * 163840 ==
        approx(0.45e9).epsilon(0.001));
  CHECK((pool(4, kVllm).runtime - pool(1, kVllm).runtime).si() == approx(1.9e9));
  CHECK(pool(4, {}).runtime.si() == approx(1e9));
}

TEST_CASE("a machine that states no runtime memory holds nothing back") {
  CHECK(kv_pool(*catalog_device("tpu-v5e"), llama_8b(), {.tensor = 8}, 0.9, 2048, 256, Bytes(), kVllm).runtime ==
        Bytes());
}

TEST_CASE("a model that does not fit says what is missing") {
  const KvPool pool =
      kv_pool(catalog_gpu("l4"), llama("llama-70b", 80, 8192, 64, 8, 128, 28672, false), {}, 0.9, 2048, 256);
  CHECK(pool.tokens == 0);
  // 141.1 GB of weights against 21.3 GB
  CHECK(pool.missing.si() > 119e9);
  CHECK(pool.missing.si() < 123e9);
}

TEST_CASE("tensor parallelism divides weights and KV heads over the ranks") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  const KvPool one = kv_pool(gpu, llama_8b(), {}, 0.9, 8192, 256),
               four = kv_pool(gpu, llama_8b(), {4, 1, 1, 1}, 0.9, 8192, 256);
  CHECK(four.need.kv_per_token.si() == approx(one.need.kv_per_token.si() / 4));
  CHECK(four.tokens > 4 * one.tokens);
}

}  // namespace
}  // namespace llmscape::engine
