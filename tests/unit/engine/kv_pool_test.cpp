// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/kv_pool.hpp"
#include "tests/unit/hardware/hardware_fixtures.hpp"

namespace llmscape::engine {
namespace {

using namespace hardware;  // fixtures

constexpr std::int64_t kBlock = 16;

TEST_CASE("an RTX 4090 holds the blocks of Llama-3.1-8B that vLLM found") {
  const KvPool pool = kv_pool(catalog_gpu("rtx-4090"), llama_8b(), {}, 0.9, 2048, 256);
  CHECK(static_cast<double>(pool.tokens / kBlock) == doctest::Approx(2588).epsilon(0.02));
  // Without activations and runtime memory it would be a quarter more.
  CHECK(static_cast<double>((pool.offered - pool.need.weights) / pool.need.kv_per_token) / kBlock > 1.2 * 2588);
}

TEST_CASE("an H100 holds 58 GB of KV beside an 8B model") {
  const KvPool pool = kv_pool(catalog_gpu("h100-sxm"), llama_8b(), {}, 0.9, 8192, 256);
  // 0.9 x 84.9 GB, less 16.1 GB of weights, about 1 GB of activations and 1 GB of runtime memory
  CHECK(static_cast<double>(pool.tokens) * 131072 == doctest::Approx(58.4e9).epsilon(0.01));
  CHECK(pool.missing == Bytes());
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
  CHECK(four.need.kv_per_token.si() == doctest::Approx(one.need.kv_per_token.si() / 4));
  CHECK(four.tokens > 4 * one.tokens);
}

}  // namespace
}  // namespace llmscape::engine
