// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/attention_shapes.hpp"

#include <algorithm>

namespace llmscape::hardware {
namespace {

constexpr int kLatent = 512, kRotary = 64, kNope = 128, kValue = 128;

models::Format stored(const traces::LatentAttentionCase& r) {
  const auto format = models::format_named(r.kv_format);
  if (!format) throw std::invalid_argument("no number format '" + r.kv_format + "'");
  return *format;
}

}  // namespace

models::Attended attended(const traces::DecodeAttentionCase& r) {
  const std::int64_t seen = r.window > 0 ? std::min(r.window, r.context) : r.context;
  return {r.sequences * seen, seen};
}

models::DecodeAttention latent_decode(const traces::LatentAttentionCase& r) {
  models::DecodeAttention a;
  a.kernel = models::AttentionKernel::latent;
  a.sequences = r.sequences;
  const std::int64_t context = r.cached + r.tokens;
  a.attended = {r.sequences * context, context};
  a.heads = static_cast<int>(r.heads);
  a.kv_heads = 1;
  a.head_dim = kLatent + kRotary;
  a.value_dim = kLatent;
  a.values_in_keys = true;
  a.kv = stored(r);
  return a;
}

models::PrefillAttention latent_prompts(const traces::LatentAttentionCase& r) {
  models::PrefillAttention a;
  a.kernel = models::AttentionKernel::latent;
  a.chunks.assign(static_cast<std::size_t>(r.sequences), {r.tokens, r.cached, false});
  a.heads = a.kv_heads = static_cast<int>(r.heads);
  a.head_dim = kNope + kRotary;
  a.value_dim = kValue;
  a.kv = stored(r);
  return a;
}

}  // namespace llmscape::hardware
