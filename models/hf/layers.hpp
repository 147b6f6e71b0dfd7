// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "models/hf/config_reader.hpp"
#include "models/model.hpp"

namespace llmscape::models::hf {

// Parts that the families' readers share.

// Widths outside the layers; `tied` is the family's default of tie_word_embeddings.
ModelSpec frame_of(ConfigReader& config, bool tied);

// What the family's class takes where the file says nothing; 0: the number of heads is required, there are as many KV
// heads, and head_dim is hidden_size / heads.
struct HeadDefaults {
  std::int64_t heads = 0, kv_heads = 0, head_dim = 0;
};
SoftmaxAttention heads_of(ConfigReader& config, std::int64_t hidden, const HeadDefaults& defaults = {});

// Window of each layer, 0: full. The file's `layer_types` decide; where it has none, the layers for which `slides`
// holds have the window. A window as long as the longest context, `max_position`, is none.
std::vector<std::int64_t> windows_of(ConfigReader& config, std::int64_t layers, std::int64_t window,
                                     std::int64_t max_position, const std::function<bool(std::int64_t layer)>& slides);

// All layers have a window.
inline bool every_layer(std::int64_t) { return true; }

// A feed-forward block of `intermediate_size` that every token passes.
FeedForward dense_of(ConfigReader& config, bool bias = false);

// Every token takes `experts_per_token` of the experts, so there must be that many.
void check_experts(ConfigReader& config, const FeedForward& kind, std::string_view per_token_key);

// One layer for each window, alike but for the window and what `feed_forward` gives; layers that are alike share a
// group.
std::vector<LayerGroup> groups_of(LayerGroup layer, const std::vector<std::int64_t>& windows,
                                  const std::function<FeedForward(std::int64_t layer)>& feed_forward);

// Single layers as groups of those that are alike.
std::vector<LayerGroup> alike(const std::vector<LayerGroup>& layers);

}  // namespace llmscape::models::hf
