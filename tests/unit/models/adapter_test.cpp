// SPDX-License-Identifier: Apache-2.0
#include "models/adapter.hpp"

#include "model_fixtures.hpp"

#include <array>

using namespace llmscape;
using namespace llmscape::models;

namespace {

const Adapter kAttention{16, {"q", "k", "v", "o"}};
const Adapter kAll{16, {"q", "k", "v", "o", "mlp"}};

}  // namespace

TEST_CASE("an adapter has rank x (in + out) parameters, summed over targets and layers") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  CHECK(parameters({16, {"q"}}, model) == 32 * 16 * (4096 + 4096));
  CHECK(parameters({16, {"k"}}, model) == 32 * 16 * (4096 + 1024));
  CHECK(parameters(kAttention, model) == 13631488);  // as PEFT counts them
  CHECK(parameters(kAll, model) == 41943040);
  CHECK(parameters({64, {"mlp"}}, model) == 32 * 64 * 3 * (4096 + 14336));
  CHECK(adapter_bytes(kAll, model, {}).si() == 2 * 41943040);
}

TEST_CASE("the target q takes in the columns of the output's gate") {
  // Qwen3.5-35B-A3B: 10 of 40 layers of 16 heads of 256, whose q_proj gives 2 x 4,096 columns from 2,048.
  CHECK(parameters({16, {"q"}}, catalogued("qwen3.5-35b-a3b")) == 10 * 16 * (2048 + 8192));
}

TEST_CASE("the projection behind a state is no target: it is called out_proj") {
  // 10 of 40 layers are attention: (2,048 + 8,192) for q and its gate, 2 x (2,048 + 512) for k and v, 4,096 + 2,048 for
  // o.
  CHECK(parameters(kAttention, catalogued("qwen3.5-35b-a3b")) == 10 * 16 * (10240 + 2 * 2560 + 6144));
  // Nemotron-3 Nano: 6 of 52 layers, 32 heads of 128 from 2,688.
  CHECK(parameters({1, {"o"}}, catalogued("nemotron-3-nano-30b-a3b")) == 6 * (4096 + 2688));
}

TEST_CASE("tensor ranks cut one half of each pair and hold the other whole, stages hold their layers") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  const double q = 4096 + 2048, kv = 4096 + 512, o = 2048 + 4096, up = 4096 + 7168, down = 7168 + 4096;
  CHECK(adapter_bytes(kAll, model, {.tensor = 2}).si() == 2 * 32 * 16 * (q + 2 * kv + o + 2 * up + down));
  CHECK(adapter_bytes(kAll, model, {.pipeline = 4}).si() == 2 * 41943040 / 4);
}

TEST_CASE("adapters add two thin GEMMs for each input of their targets") {
  const auto work = all_of<GroupedGemm>(adapter_work(kAll, catalogued("llama-3.1-8b"), {}, 32, 4));
  // Inputs of q, k, v; of o; of gate and up; of down, whose product up is as that of o.
  constexpr std::array<std::array<std::int64_t, 3>, 7> kExpected = {{{4096, 3 * 16, 32},
                                                                     {16, 4096 + 2 * 1024, 32},
                                                                     {4096, 16, 32},
                                                                     {16, 4096, 64},
                                                                     {4096, 2 * 16, 32},
                                                                     {16, 2 * 14336, 32},
                                                                     {14336, 16, 32}}};
  REQUIRE(work.size() == kExpected.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto& [product, count] = work[i];
    CHECK(std::array<std::int64_t, 3>{product.k, product.n, static_cast<std::int64_t>(count)} == kExpected[i]);
    CHECK(product.rows == 32);
    CHECK(product.experts_touched == 4);
  }
}

TEST_CASE("no more adapters are read than there are tokens") {
  const auto work = all_of<GroupedGemm>(adapter_work({8, {"q"}}, catalogued("llama-3.1-8b"), {}, 3, 10));
  for (const auto& [product, count] : work) CHECK(product.experts_touched == 3);
}

TEST_CASE("what cannot be adapted is said") {
  CHECK(problems(Adapter{16, {}}, catalogued("llama-3.1-8b")) ==
        std::vector<std::string>{"adapters need targets: some of q, k, v, o and mlp"});
  CHECK(problems(kAll, catalogued("llama-3.1-8b")).empty());
  CHECK(problems(kAll, catalogued("qwen3-30b-a3b")) ==
        std::vector<std::string>{"adapters of mlp need a model without routed experts"});
  CHECK(problems(kAttention, catalogued("qwen3-30b-a3b")).empty());
  CHECK(problems(kAttention, catalogued("deepseek-v3")) ==
        std::vector<std::string>{"adapters of q, k and v need a model without latent attention"});
}

TEST_CASE("an adapter is read from YAML, and an unknown target is refused") {
  Fields<Adapter> fields("lora", "an adapter");
  add_adapter_fields(fields);
  Adapter adapter;
  Diagnostics diagnostics;
  CHECK(fields.read(adapter, parsed("rank: 16\ntargets: [q, mlp]\n"), diagnostics));
  CHECK(adapter.rank == 16);
  CHECK(adapter.targets == std::vector<std::string>{"q", "mlp"});
  CHECK_FALSE(fields.read(adapter, parsed("rank: 16\ntargets: [q, gate]\n"), diagnostics));
}
