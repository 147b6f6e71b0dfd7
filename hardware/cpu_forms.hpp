// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/part_cost.hpp"

namespace llmscape::hardware {

// Kernels of one processor thread and what they cost: oneDNN's GEMMs with prepacked weights, and the paged attention
// and the element-wise kernels of the harness (hardware/harness/cpu_kernels), which our mini engine runs too. Threads
// multiply rates and share bandwidths.

// launch + bytes / bandwidth + max(0, m - hidden_rows) 2 n k / rate: a few rows are computed while the weights come in,
// the others find them in the caches.
struct CpuProducts : Fit {
  FlopsPerSecond rate;
  double hidden_rows = 0;
  BytesPerSecond bandwidth;
  Seconds launch;
};
const Fields<CpuProducts>& cpu_products_fields();

// The rows of `g` spread over `matrices` like it (the experts that they touch, or 1).
KernelCost product_cost(const CpuProducts&, std::int64_t threads, const models::Gemm& g, double matrices = 1);

// For each KV head of each sequence, launch + KV bytes / bandwidth + scores (4 head_dim / rate + softmax). Query rows
// that share a KV head are worked off in tiles of 12; fewer than 4 take as long as 4, fewer than 8 as long as 8. Keys
// come in blocks of 16.
struct CpuAttention : Fit {
  FlopsPerSecond rate;  // of full tiles
  Seconds softmax;      // of one score
  BytesPerSecond bandwidth;
  Seconds launch;  // of a tile
};
const Fields<CpuAttention>& cpu_attention_fields();

KernelCost attention_cost(const CpuAttention&, std::int64_t threads, const models::PrefillAttention&);
KernelCost attention_cost(const CpuAttention&, std::int64_t threads, const models::DecodeAttention&);

// launch + bytes / bandwidth, where activations come from the caches.
struct CpuStream {
  Seconds launch;
  BytesPerSecond bandwidth;
};
KernelCost stream_cost(const CpuStream&, std::int64_t threads, double bytes);

// Routers, permutes and quantisation take the row of activations, copies that of embeddings.
struct CpuElementwise : Fit {
  CpuStream norm, activation, rope, add, embedding, sampling;
};
const Fields<CpuElementwise>& cpu_elementwise_fields();

// Of recurrent states: at the rate and bandwidth of attention, as no kernel of the harness updates any.
KernelCost state_cost(const CpuAttention& p, std::int64_t threads, const models::StateUpdate& u);
// Of an index, likewise.
KernelCost index_cost(const CpuAttention& p, std::int64_t threads, const models::IndexScores& s);
KernelCost elementwise_cost(const CpuElementwise&, std::int64_t threads, const models::Elementwise&);
KernelCost elementwise_cost(const CpuElementwise&, std::int64_t threads, const models::Copy&);
KernelCost elementwise_cost(const CpuElementwise&, std::int64_t threads, const models::Sample&);

}  // namespace llmscape::hardware
