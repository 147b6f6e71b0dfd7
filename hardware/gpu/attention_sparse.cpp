// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/attention_sparse.hpp"

#include "hardware/operator_load.hpp"
#include "models/attention_pairs.hpp"

#include <algorithm>

namespace llmscape::hardware {
namespace {

constexpr double kSparseElement = 2;
constexpr double kSparseAppendPasses = 2;  // as in dense kernels

}  // namespace

const SparseAttentionParameters& assumed_sparse_attention() {
  static const SparseAttentionParameters parameters = [] {
    SparseAttentionParameters p;
    p.compute_efficiency = 0.177;  // as that of minference on the a100-80
    return p;
  }();
  return parameters;
}

bool runs_sparse(const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks) {
  if (shape.sparse_kernel.empty()) return false;
  return shape.estimate_queries > 0 ||
         std::ranges::any_of(chunks, [&](const auto& chunk) { return chunk.tokens + chunk.cached > shape.window; });
}

KernelCost sparse_attention_cost(const Chip& chip, const SparseAttentionParameters& p, double memory_efficiency,
                                 const models::PrefillAttention& shape, std::span<const models::PrefillChunk> chunks) {
  if (chunks.empty()) return {};
  double pairs = 0, scored = 0, keys = 0, tokens = 0;
  for (const models::PrefillChunk& chunk : chunks) {
    pairs += models::windowed_pairs(chunk.tokens, chunk.cached, shape.window);
    scored += estimated_pairs(shape, chunk);
    keys += keys_read(shape, chunk);
    tokens += static_cast<double>(chunk.tokens);
  }
  const double keys_width = shape.head_dim, widths = keys_width + shape.value_width();
  const Flops flops(2 * shape.heads * (widths * pairs + keys_width * scored));
  const double entry = shape.kv_heads * shape.stored_bytes();
  const Bytes bytes((keys + kSparseAppendPasses * tokens) * entry + tokens * shape.heads * widths * kSparseElement);
  const Seconds time =
      p.launch + flops / (p.compute_efficiency * *chip.peak_bf16) + bytes / (memory_efficiency * *chip.hbm_bandwidth);
  return {time, flops, flops, bytes, Bytes(), Flops(), std::min(kLongestLaunch, p.launch)};
}

KernelCost selection_cost(const Chip& chip, double compute_efficiency, const models::PrefillAttention& shape,
                          std::span<const models::PrefillChunk> chunks) {
  double scored = 0;
  if (shape.sparse_kernel.empty() && shape.estimate_queries > 0)
    for (const models::PrefillChunk& chunk : chunks) scored += estimated_pairs(shape, chunk);
  const Flops flops(2.0 * shape.heads * shape.head_dim * scored);
  return {flops / (compute_efficiency * *chip.peak_bf16), flops, flops, Bytes()};
}

const Fields<SparseAttentionParameters>& sparse_attention_fields() {
  static const Fields<SparseAttentionParameters> fields = [] {
    using P = SparseAttentionParameters;
    Fields<P> f("sparse_attention", "attention of prompt chunks that skips what a token plan leaves out");
    f.add("compute_efficiency", &P::compute_efficiency, "share of the peak, of the work that is left")
        .required()
        .above(0)
        .at_most(1);
    f.add("launch", &P::launch, "fixed time of the kernels of a layer").at_least(0);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
