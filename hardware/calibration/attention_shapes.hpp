// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/calibration/sampling.hpp"
#include "models/format.hpp"
#include "models/operator.hpp"
#include "traces/kernel_record.hpp"

#include <stdexcept>
#include <string>

namespace llmscape::hardware {

// What the operators and records of all kinds of attention have in common. Throws on a format without a description.
template <class Attention, class Case>
Attention of_heads(const Case& r) {
  const auto format = models::format_named(r.kv_format);
  if (!format) throw std::invalid_argument("no number format '" + r.kv_format + "'");
  Attention a;
  a.heads = static_cast<int>(r.heads);
  a.kv_heads = static_cast<int>(r.kv_heads);
  a.head_dim = static_cast<int>(r.head_dim);
  a.kv = *format;
  return a;
}

// What a decode of these records attends to.
models::Attended attended(const traces::DecodeAttentionCase& r);

// Latent attention of DeepSeek-V3's widths (arXiv 2412.19437, 4.2), as the records timed it.
models::DecodeAttention latent_decode(const traces::LatentAttentionCase& r);
models::PrefillAttention latent_prompts(const traces::LatentAttentionCase& r);

template <class Case>
Group head_shape(const Case& r) {
  return {r.heads, r.kv_heads, r.head_dim};
}

}  // namespace llmscape::hardware
