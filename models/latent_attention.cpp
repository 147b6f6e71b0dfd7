// SPDX-License-Identifier: Apache-2.0
#include "models/latent_attention.hpp"

#include "models/attention_pairs.hpp"
#include "models/layer_shapes.hpp"

namespace llmscape::models {

bool absorbed_is_cheaper(const Attention& attention, std::int64_t tokens, std::int64_t cached) {
  // Both forms pay the expansion for n tokens; the expanded form pays it for the c cached ones too.
  const double per_key = 2.0 * static_cast<double>(latent_expansion(attention, 1).parameters());
  const double per_pair = absorbed_pair_flops(attention) - expanded_pair_flops(attention);
  return per_pair * causal_pairs(tokens, cached) < per_key * static_cast<double>(cached);
}

double expanded_pair_flops(const Attention& a) { return 2.0 * a.heads * (a.nope_dim + a.rope_dim + a.v_dim); }
double absorbed_pair_flops(const Attention& a) { return 2.0 * a.heads * (2 * a.kv_rank + a.rope_dim); }

}  // namespace llmscape::models
