// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/pricing.hpp"

namespace llmscape::hardware {
namespace {

// Adds an operator of each kind to a part.
struct Pricer {
  const Gpu& gpu;
  PartCost& part;
  int count;

  void operator()(const models::Gemm& g) const {
    part.add(OperatorFamily::gemm, gemm_cost(gpu, gpu.gemm_of(g.weights, g.activations), g), count);
  }
  void operator()(const models::GroupedGemm& g) const {
    part.add(OperatorFamily::grouped_gemm, grouped_gemm_cost(gpu, gpu.grouped_gemm_of(g.weights, g.activations), g),
             count);
  }
  void operator()(const models::PrefillAttention& a) const {
    if (runs_sparse(a, a.chunks)) {
      part.add(OperatorFamily::prefill_attention, sparse_attention_cost(gpu, a, a.chunks), count);
      return;
    }
    if (a.sparse_kernel.empty()) {
      part.add(OperatorFamily::prefill_attention, prefill_attention_cost(gpu, gpu.prefill_attention_of(a), a, a.chunks),
               count);
    } else {
      models::PrefillAttention dense = a;
      dense.window = 0;
      part.add(OperatorFamily::prefill_attention,
               prefill_attention_cost(gpu, gpu.prefill_attention_of(dense), dense, dense.chunks), count);
    }
    if (a.estimate_queries > 0) part.add(OperatorFamily::prefill_attention, selection_cost(gpu, a, a.chunks), count);
  }
  void operator()(const models::DecodeAttention& a) const {
    part.add(OperatorFamily::decode_attention, decode_attention_cost(gpu, gpu.decode_attention_of(a), a), count);
  }
  void operator()(const models::StateUpdate& u) const {
    part.add(u.scan ? OperatorFamily::prefill_attention : OperatorFamily::decode_attention,
             state_cost(gpu, gpu.state_of(u.form), u), count);
  }
  void operator()(const models::Elementwise& e) const {
    part.add(OperatorFamily::elementwise, elementwise_cost(gpu, gpu.elementwise, e), count);
  }
  void operator()(const models::Copy& c) const {
    part.add(OperatorFamily::elementwise, copy_cost(gpu, gpu.elementwise, c), count);
  }
  void operator()(const models::Sample& s) const {
    part.add(OperatorFamily::sampling, sample_cost(gpu, gpu.elementwise, s), count);
  }
  void operator()(const models::Collective& c) const {
    part.add(OperatorFamily::collective, {collective_time(gpu.links, c), Flops(), Flops(), Bytes()}, count);
    part.link_bytes += count * moved(c);
  }
};

}  // namespace

KernelCost sparse_attention_cost(const Gpu& gpu, const models::PrefillAttention& shape,
                                 std::span<const models::PrefillChunk> chunks) {
  return sparse_attention_cost(gpu, gpu.sparse_attention_of(shape.sparse_kernel),
                               gpu.prefill_attention.memory_efficiency, shape, chunks);
}

KernelCost selection_cost(const Gpu& gpu, const models::PrefillAttention& shape,
                          std::span<const models::PrefillChunk> chunks) {
  return selection_cost(gpu, gpu.prefill_attention.compute_efficiency, shape, chunks);
}

PartCost price(const Gpu& gpu, std::span<const models::Operator> operators) {
  PartCost part;
  for (const models::Operator& op : operators) std::visit(Pricer{gpu, part, op.count}, op.what);
  return part;
}

}  // namespace llmscape::hardware
