// SPDX-License-Identifier: Apache-2.0
#include "model_fixtures.hpp"
#include "models/format.hpp"
#include "models/model.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape::models;
using llmscape::testing::approx;

TEST_CASE("parameter counts are exact") {
  CHECK(parameters(catalogued("llama-3.1-8b")) == 8'030'261'248);
  CHECK(parameters(catalogued("llama-3.1-70b")) == 70'553'706'496);
  CHECK(parameters(catalogued("llama-3.2-1b")) == 1'235'814'400);
  CHECK(static_cast<double>(parameters(catalogued("deepseek-v3"))) == approx(671.03e9).epsilon(1e-5));
  CHECK(static_cast<double>(parameters(catalogued("qwen3-30b-a3b"))) == approx(30.532e9).epsilon(1e-5));
}

TEST_CASE("a token passes through its own experts, and through the input embedding by one row only") {
  CHECK(active_parameters(catalogued("llama-3.1-8b")) == 8'030'261'248 - 128'256 * 4'096);
  CHECK(active_parameters(catalogued("llama-3.2-1b")) == 1'235'814'400);  // tied: the table is the head
  CHECK(static_cast<double>(active_parameters(catalogued("deepseek-v3"))) == approx(36.63e9).epsilon(2e-4));
  // Published as 3.353e9 with the embedding of 151,936 rows.
  const double qwen = static_cast<double>(active_parameters(catalogued("qwen3-30b-a3b")) + 151'936 * 2'048);
  CHECK(qwen == approx(3.353e9).epsilon(2e-4));
}

TEST_CASE("each part of a small model is counted once") {
  ModelSpec model;
  model.hidden = 10;
  model.vocabulary = 100;
  LayerGroup layer;
  layer.count = 3;
  layer.softmax().heads = 4;
  layer.softmax().kv_heads = 2;
  layer.softmax().head_dim = 5;
  layer.feed_forward.width = 7;
  model.groups = {layer};
  const auto with = [&](auto change) {
    ModelSpec changed = model;
    change(changed, changed.groups.front());
    return parameters(changed) - parameters(model);
  };
  // Per layer qkv 10 x (4 + 2 + 2) 5, o 20 x 10, feed-forward 3 x 10 x 7, two norms; final norm; two tables.
  CHECK(parameters(model) == 3 * (400 + 200 + 210 + 20) + 10 + 2 * 1000);
  CHECK(with([](auto& m, auto&) { m.tied_embeddings = true; }) == -1000);
  CHECK(with([](auto& m, auto&) { m.final_norm = false; }) == -10);
  CHECK(with([](auto& m, auto&) { m.position_table = 50; }) == 500);
  CHECK(with([](auto& m, auto&) { m.embedding_width = 6; }) == -2 * 100 * 4 + 2 * 60);
  CHECK(with([](auto&, auto& g) { g.softmax().qkv_bias = true; }) == 3 * 40);
  CHECK(with([](auto&, auto& g) { g.softmax().output_bias = true; }) == 3 * 10);
  CHECK(with([](auto&, auto& g) { g.softmax().qk_norm = true; }) == 3 * 2 * 5);
  CHECK(with([](auto&, auto& g) { g.softmax().qk_norm_full = true; }) == 3 * (4 + 2) * 5);
  CHECK(with([](auto&, auto& g) { g.softmax().sinks = true; }) == 3 * 4);
  CHECK(with([](auto&, auto& g) { g.feed_forward.gated = false; }) == -3 * 70);
  CHECK(with([](auto&, auto& g) { g.feed_forward.bias = true; }) == 3 * (14 + 10));
  CHECK(with([](auto&, auto& g) { g.norms = 4; }) == 3 * 20);
  CHECK(with([](auto&, auto& g) { g.norm_bias = true; }) == 3 * 20 + 10);
}

TEST_CASE("each part of a routed layer is counted once") {
  ModelSpec model;
  model.hidden = 10;
  model.vocabulary = 1;
  LayerGroup layer;
  layer.count = 1;
  layer.softmax().heads = layer.softmax().kv_heads = layer.softmax().head_dim = 1;
  layer.feed_forward.experts = 6;
  layer.feed_forward.experts_per_token = 2;
  layer.feed_forward.expert_width = 4;
  model.groups = {layer};
  const std::int64_t routed = parameters(model);
  CHECK(routed - active_parameters(model) == (6 - 2) * 3 * 10 * 4 + 10);  // the rest is the embedding's one row
  model.groups.front().feed_forward.shared_width = 8;
  CHECK(parameters(model) - routed == 3 * 10 * 8);
  model.groups.front().feed_forward.shared_gate = true;
  CHECK(parameters(model) - routed == 3 * 10 * 8 + 10);
  model.groups.front().feed_forward.router_bias = true;
  CHECK(parameters(model) - routed == 3 * 10 * 8 + 10 + 6);
}

TEST_CASE("KV bytes per token are the published figures") {
  CHECK(kv_bytes_per_token(catalogued("llama-3.1-8b")) == 131'072);
  CHECK(kv_bytes_per_token(catalogued("llama-3.1-70b")) == 327'680);
  CHECK(kv_bytes_per_token(catalogued("llama-3.2-1b")) == 32'768);
  CHECK(kv_bytes_per_token(catalogued("llama-3.2-3b")) == 114'688);
  CHECK(kv_bytes_per_token(catalogued("deepseek-v3")) == 70'272);
  CHECK(kv_bytes_per_token(catalogued("qwen3-30b-a3b")) == 98'304);
}

TEST_CASE("a quantised KV cache stores its scales too") {
  ModelSpec model = catalogued("llama-3.1-8b");
  model.precision.kv = Format{"int8", 1, 128, 2};
  CHECK(kv_bytes_per_token(model) == 66'560);
}

TEST_CASE("tensor ranks share the KV heads, repeat them when there are more ranks, and never cut a latent") {
  const ModelSpec llama = catalogued("llama-3.1-70b");  // 8 KV heads
  CHECK(kv_bytes_per_token(llama, 8) == 327'680 / 8);
  CHECK(kv_bytes_per_token(llama, 16) == 327'680 / 8);
  CHECK(kv_bytes_per_token(catalogued("deepseek-v3"), 8) == 70'272);
}
