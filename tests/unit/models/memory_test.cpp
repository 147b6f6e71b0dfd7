// SPDX-License-Identifier: Apache-2.0
#include "models/memory.hpp"

#include "model_fixtures.hpp"
#include "models/format.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape::models;
using llmscape::testing::approx;

TEST_CASE("a decode step streams every parameter but the input embedding") {
  CHECK(streamed_weights(catalogued("llama-3.1-8b")).si() == 2.0 * 7'504'924'672);  // 8,030,261,248 - 128,256 x 4,096
  CHECK(streamed_weights(catalogued("llama-3.1-70b")).si() / 2 == approx(69.503e9).epsilon(1e-5));
  CHECK(streamed_weights(catalogued("llama-3.2-1b")).si() == 2.0 * 1'235'814'400);  // tied: the table is the head
}

TEST_CASE("one rank of one stage holds the whole model") {
  for (const char* name :
       {"llama-3.1-8b", "llama-3.2-1b", "qwen3-30b-a3b", "deepseek-v2-lite", "opt-13b", "gemma-2-9b"}) {
    CAPTURE(name);
    const ModelSpec model = catalogued(name);
    CHECK(memory_need(model, {}, 1, 1).weights.si() ==
          approx(2.0 * static_cast<double>(parameters(model))).epsilon(1e-14));
    CHECK(memory_need(model, {}, 1, 1).kv_per_token.si() == kv_bytes_per_token(model));
  }
}

TEST_CASE("tensor ranks share all weights but the norms") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  const double norms = 2.0 * (2 * 32 + 1) * 4096;
  const double all = 2.0 * 8'030'261'248;
  CHECK(memory_need(model, {.tensor = 8}, 1, 1).weights.si() == approx((all - norms) / 8 + norms).epsilon(1e-14));
  CHECK(memory_need(model, {.tensor = 8}, 1, 1).kv_per_token.si() == 131'072 / 8);
}

TEST_CASE("the fullest pipeline stage holds its share of the layers and one table") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  const double table = 2.0 * 128'256 * 4'096, norm = 2.0 * 4'096;
  const double layers = 2.0 * 8'030'261'248 - 2 * table - norm;
  CHECK(memory_need(model, {.pipeline = 2}, 1, 1).weights.si() == approx(layers / 2 + table + norm).epsilon(1e-14));
  // 32 layers over 3 stages: 11 in the fullest.
  CHECK(memory_need(model, {.pipeline = 3}, 1, 1).weights.si() ==
        approx(layers * 11 / 32 + table + norm).epsilon(1e-14));
  CHECK(memory_need(model, {.pipeline = 3}, 1, 1).kv_per_token.si() == 131'072.0 * 11 / 32);
}

TEST_CASE("a stage of a model with two kinds of layers holds no more of them than there are: 8 of 62") {
  const ModelSpec model = catalogued("gemma-3-27b");
  REQUIRE(model.layers() == 62);
  const double all = memory_need(model, {}, 1, 1).kv_per_token.si();
  CHECK(memory_need(model, {.pipeline = 8}, 1, 1).kv_per_token.si() == approx(all * 8 / 62).epsilon(1e-14));
}

TEST_CASE("experts dealt out over ranks take as much memory as experts cut over them") {
  const ModelSpec model = catalogued("qwen3-30b-a3b");
  const double cut = memory_need(model, {.tensor = 4}, 1, 1).weights.si();
  CHECK(memory_need(model, {.tensor = 4, .expert = 4}, 1, 1).weights.si() == cut);
  CHECK(memory_need(model, {.tensor = 4, .expert = 2}, 1, 1).weights.si() == cut);
}

TEST_CASE("the checkpoint of GPT-OSS-20B is 13.76 GB: mxfp4 experts, the rest bf16") {
  CHECK(memory_need(catalogued("gpt-oss-20b"), {}, 1, 1).weights.si() == approx(13.76e9).epsilon(1e-3));
}

TEST_CASE("attention that stays in 16 bits, as in Llama-3.1-405B-FP8, is 72 GB more") {
  ModelSpec model = catalogued("llama-3.1-405b");
  set_weights(model, *format_named("fp8"));
  model.precision.embeddings = format_named("bf16");
  const double fp8 = memory_need(model, {}, 1, 1).weights.si();
  // 126 layers of 16,384 x (128 + 2 x 8) x 128 into attention and 16,384 x 16,384 out of it, one byte more for each.
  const double into = 126.0 * 16'384 * 144 * 128, out = 126.0 * 16'384 * 16'384;
  model.precision.attention = format_named("bf16");
  CHECK(memory_need(model, {}, 1, 1).weights.si() == fp8 + into + out);
  CHECK(memory_need(model, {.tensor = 8}, 1, 1).weights.si() == approx((fp8 + into + out) / 8).epsilon(1e-4));
  CHECK(streamed_weights(model).si() == fp8 + into + out - 2.0 * 128'256 * 16'384);
  model.precision.attention_output = format_named("fp8");
  CHECK(memory_need(model, {}, 1, 1).weights.si() == fp8 + into);
}

TEST_CASE("activations are hidden states, the widest part of a layer and 32-bit logits") {
  const ModelSpec model = catalogued("llama-3.1-8b");
  const double per_token = 2 * (2 * 4096 + 3 * 14336);  // bf16: state and residual; gate, up and their product
  CHECK(memory_need(model, {}, 8192, 256).activations.si() == 8192 * per_token + 256 * 128'256 * 4.0);
  const double cut = 2 * (2 * 4096 + 3 * 14336 / 8);
  CHECK(memory_need(model, {.tensor = 8}, 8192, 256).activations.si() == 8192 * cut + 256 * 128'256 * 4.0);
}
