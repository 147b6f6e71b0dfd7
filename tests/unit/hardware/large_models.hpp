// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "closed_form_cases.hpp"

namespace llmscape::hardware {

inline models::ModelSpec llama_70b() { return llama("llama-3.1-70b", 80, 8192, 64, 8, 128, 28672, false); }

inline models::ModelSpec llama_405b() { return llama("llama-3.1-405b", 126, 16384, 128, 8, 128, 53248, false); }

inline models::ModelSpec deepseek_r1() {
  models::ModelSpec spec;
  spec.name = "deepseek-r1";
  spec.hidden = 7168;
  spec.vocabulary = 129280;
  spec.max_position = 163840;
  models::LayerGroup dense;
  dense.count = 3;
  dense.mixer = models::LatentAttention{
      .heads = 128, .q_rank = 1536, .kv_rank = 512, .rope_dim = 64, .nope_dim = 128, .v_dim = 128};
  dense.feed_forward.width = 18432;
  models::LayerGroup routed = dense;
  routed.count = 58;
  routed.feed_forward = {};
  routed.feed_forward.experts = 256;
  routed.feed_forward.experts_per_token = 8;
  routed.feed_forward.expert_width = routed.feed_forward.shared_width = 2048;
  spec.groups = {dense, routed};
  spec.precision.weights = kFp8;
  return spec;
}

}  // namespace llmscape::hardware
