// SPDX-License-Identifier: Apache-2.0
#include "models/mixer/latent_attention.hpp"

#include "model_fixtures.hpp"
#include "models/layer_shapes.hpp"
#include "tests/support/approx.hpp"

using namespace llmscape::models;
using llmscape::testing::approx;

TEST_CASE("FLOPs per pair and per expanded token of DeepSeek-V3") {
  const auto attention = std::get<LatentAttention>(catalogued("deepseek-v3").groups.front().mixer);
  CHECK(attention.expanded_pair_flops() == 81'920);
  CHECK(attention.absorbed_pair_flops() == 278'528);
  CHECK(attention.absorbed_pair_flops() / attention.expanded_pair_flops() == approx(3.4));
  CHECK(2 * attention.expansion(1).parameters() == 33'554'432);
}

TEST_CASE("the absorbed form needs fewer FLOPs iff A(n, c) < 170.67 c") {
  const auto attention = std::get<LatentAttention>(catalogued("deepseek-v3").groups.front().mixer);
  for (std::int64_t cached : {0, 1, 100, 1000, 50'000})
    for (std::int64_t tokens : {1, 2, 20, 100, 150, 170, 171, 5000}) {
      CAPTURE(cached);
      CAPTURE(tokens);
      const bool fewer = causal_pairs(tokens, cached) * 3 < 512.0 * static_cast<double>(cached);  // 170.67 = 512 / 3
      CHECK(attention.absorbed_is_cheaper(tokens, cached) == fewer);
    }
}

TEST_CASE("the largest chunk that runs absorbed grows with the cached tokens") {
  const auto attention = std::get<LatentAttention>(catalogued("deepseek-v3").groups.front().mixer);
  const std::pair<std::int64_t, std::int64_t> largest[] = {{128, 116},   {512, 148},   {1024, 158},  {4096, 167},
                                                           {16384, 169}, {65536, 170}, {131072, 170}};
  for (const auto& [cached, tokens] : largest) {
    CAPTURE(cached);
    CHECK(attention.absorbed_is_cheaper(tokens, cached));
    CHECK_FALSE(attention.absorbed_is_cheaper(tokens + 1, cached));
  }
}
