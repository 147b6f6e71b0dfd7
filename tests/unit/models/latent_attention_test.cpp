// SPDX-License-Identifier: Apache-2.0
#include "models/latent_attention.hpp"

#include "model_fixtures.hpp"
#include "models/layer_shapes.hpp"

using namespace llmscape::models;
using doctest::Approx;

TEST_CASE("FLOPs per pair and per expanded token of DeepSeek-V3") {
  const Attention attention = catalogued("deepseek-v3").groups.front().attention;
  CHECK(expanded_pair_flops(attention) == 81'920);
  CHECK(absorbed_pair_flops(attention) == 278'528);
  CHECK(absorbed_pair_flops(attention) / expanded_pair_flops(attention) == Approx(3.4));
  CHECK(2 * latent_expansion(attention, 1).parameters() == 33'554'432);
}

TEST_CASE("the absorbed form needs fewer FLOPs iff A(n, c) < 170.67 c") {
  const Attention attention = catalogued("deepseek-v3").groups.front().attention;
  for (std::int64_t cached : {0, 1, 100, 1000, 50'000})
    for (std::int64_t tokens : {1, 2, 20, 100, 150, 170, 171, 5000}) {
      CAPTURE(cached);
      CAPTURE(tokens);
      const bool fewer = causal_pairs(tokens, cached) * 3 < 512.0 * static_cast<double>(cached);  // 170.67 = 512 / 3
      CHECK(absorbed_is_cheaper(attention, tokens, cached) == fewer);
    }
}

TEST_CASE("the largest chunk that runs absorbed grows with the cached tokens") {
  const Attention attention = catalogued("deepseek-v3").groups.front().attention;
  const std::pair<std::int64_t, std::int64_t> largest[] = {{128, 116},   {512, 148},   {1024, 158},  {4096, 167},
                                                           {16384, 169}, {65536, 170}, {131072, 170}};
  for (const auto& [cached, tokens] : largest) {
    CAPTURE(cached);
    CHECK(absorbed_is_cheaper(attention, tokens, cached));
    CHECK_FALSE(absorbed_is_cheaper(attention, tokens + 1, cached));
  }
}
