// SPDX-License-Identifier: Apache-2.0
#include "models/parallel_plan.hpp"

#include "model_fixtures.hpp"

using namespace llmscape::models;
using Sentences = std::vector<std::string>;

TEST_CASE("plans that fit have no problems") {
  const ModelSpec llama = catalogued("llama-3.1-70b"), deepseek = catalogued("deepseek-v3");
  for (int tensor : {1, 2, 4, 8, 16, 32}) CHECK(problems({.tensor = tensor}, llama) == Sentences{});
  CHECK(problems({.tensor = 8, .pipeline = 80}, llama) == Sentences{});
  CHECK(problems({.tensor = 8, .expert = 8}, deepseek) == Sentences{});
  CHECK(problems({.tensor = 2, .expert = 16, .data = 16}, deepseek) == Sentences{});
}

TEST_CASE("all that is wrong with a plan is said at once") {
  ModelSpec model = catalogued("llama-3.2-3b");  // 24 heads, 8 KV heads, width 8192, 28 layers, vocabulary 128,256
  CHECK(problems({.tensor = 5, .pipeline = 29}, model) ==
        Sentences{"tensor parallelism 5 does not divide the 24 attention heads",
                  "tensor parallelism 5 does not divide the 8 KV heads",
                  "tensor parallelism 5 does not divide the 8192 feed-forward channels",
                  "tensor parallelism 5 does not divide the 128256 tokens of the vocabulary",
                  "pipeline parallelism 29 leaves stages without any of the 28 layers"});
  CHECK(problems({.tensor = 12}, model) ==
        Sentences{"tensor parallelism 12 is no multiple of the 8 KV heads that it would replicate",
                  "tensor parallelism 12 does not divide the 8192 feed-forward channels"});
}

TEST_CASE("experts are dealt out whole over their ranks, and cut over what is left") {
  const ModelSpec model = catalogued("qwen3-30b-a3b");  // 128 experts of width 768
  CHECK(problems({.tensor = 4, .expert = 3}, model) ==
        Sentences{"expert parallelism 3 does not divide the 128 experts",
                  "expert parallelism 3 does not divide the 4 ranks (tensor 4 x data 1)"});
  CHECK(problems({.tensor = 4, .data = 128}, model) ==
        Sentences{"a cut of each expert by 512 does not divide the 768 expert channels"});
  CHECK(expert_shards({.tensor = 4, .expert = 2, .data = 1}) == 2);
  CHECK(expert_shards({.tensor = 2, .expert = 16, .data = 8}) == 1);
}

TEST_CASE("degrees below one and experts of a dense model are refused") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  CHECK(problems({.tensor = 0, .pipeline = -1}, model) ==
        Sentences{"tensor parallelism must be at least 1, not 0", "pipeline parallelism must be at least 1, not -1"});
  CHECK(problems({.tensor = 2, .expert = 2}, model) ==
        Sentences{"expert parallelism needs a model with routed experts"});
}

TEST_CASE("KV heads are shared out and then repeated") {
  const SoftmaxAttention attention{.heads = 64, .kv_heads = 8};
  CHECK(attention.kv_heads_of_rank(1) == 8);
  CHECK(attention.kv_heads_of_rank(4) == 2);
  CHECK(attention.kv_heads_of_rank(16) == 1);
}
