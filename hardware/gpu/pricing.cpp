// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/pricing.hpp"

#include <algorithm>

#include "hardware/gpu/absorbed_prompts.hpp"

namespace llmscape::hardware {
namespace {

// Adds an operator of each kind to a part.
struct Pricer {
  const Gpu& gpu;
  PartCost& part;
  double count;

  void operator()(const models::Gemm& g) const {
    const KernelCost cost = gemm_cost(gpu, gpu.gemm_of(g.weights, g.activations), g);
    part.add(OperatorFamily::gemm, cost, gpu.work_of_gemm(g.weights, g.activations, cost), count);
  }
  void operator()(const models::GroupedGemm& g) const {
    const KernelCost cost = grouped_gemm_cost(gpu, gpu.grouped_gemm_of(g.weights, g.activations), g);
    part.add(OperatorFamily::grouped_gemm, cost, gpu.work_of_experts(g.weights, g.activations, cost), count);
  }
  void operator()(const models::IndexScores& s) const {
    attention(s.chunks.empty() ? OperatorFamily::decode_attention : OperatorFamily::prefill_attention,
              index_cost(gpu, gpu.indexed_attention_of(s.kv), s), s.kv);
  }
  void operator()(const models::PrefillAttention& a) const {
    if (a.kernel == models::AttentionKernel::indexed) {
      attention(OperatorFamily::prefill_attention, indexed_attention_cost(gpu, gpu.indexed_attention_of(a), a), a.kv);
      return;
    }
    if (absorbed(a)) {
      for (const models::DecodeAttention& chunks : as_decodes(a, a.chunks)) {
        KernelCost cost = decode_attention_cost(gpu, gpu.decode_attention_of(chunks), chunks);
        // Of decodes, which memory bounds, fits may put more than the peak, which is that of 16 bits for such entries.
        if (a.kv.bytes() >= models::Format().bytes) cost.time = std::max(cost.time, cost.flops / gpu.peak_bf16.value);
        attention(OperatorFamily::prefill_attention, cost, a.kv);
      }
      return;
    }
    if (runs_sparse(a, a.chunks)) {
      attention(OperatorFamily::prefill_attention, sparse_attention_cost(gpu, a, a.chunks), a.kv);
      return;
    }
    if (a.sparse_kernel.empty()) {
      attention(OperatorFamily::prefill_attention,
                prefill_attention_cost(gpu, gpu.prefill_attention_of(a), a, a.chunks), a.kv);
    } else {
      models::PrefillAttention dense = a;
      dense.window = 0;
      attention(OperatorFamily::prefill_attention,
                prefill_attention_cost(gpu, gpu.prefill_attention_of(dense), dense, dense.chunks), a.kv);
    }
    if (a.estimate_queries > 0) attention(OperatorFamily::prefill_attention, selection_cost(gpu, a, a.chunks), a.kv);
  }
  void operator()(const models::DecodeAttention& a) const {
    if (attends_in_own_kernel(gpu, a)) {
      attention(OperatorFamily::decode_attention, indexed_attention_cost(gpu, gpu.indexed_attention_of(a.kv), a), a.kv);
      return;
    }
    models::DecodeAttention dense = a;
    if (a.kernel == models::AttentionKernel::indexed) dense.kernel = models::AttentionKernel::latent;
    attention(OperatorFamily::decode_attention, decode_attention_cost(gpu, gpu.decode_attention_of(dense), dense),
              a.kv);
  }
  void operator()(const models::StateUpdate& u) const {
    attention(u.scan ? OperatorFamily::prefill_attention : OperatorFamily::decode_attention,
              state_cost(gpu, gpu.state_of(u.form), u), {});
  }
  void operator()(const models::Elementwise& e) const {
    if (gpu.fused(e)) return;
    stream(OperatorFamily::elementwise, elementwise_cost(gpu, gpu.elementwise, e));
  }
  void operator()(const models::Copy& c) const {
    stream(OperatorFamily::elementwise, copy_cost(gpu, gpu.elementwise, c));
  }
  void operator()(const models::Sample& s) const {
    stream(OperatorFamily::sampling, sample_cost(gpu, gpu.elementwise, s));
  }
  void operator()(const models::Collective& c) const {
    stream(OperatorFamily::collective, {collective_time(gpu.links, c), Flops(), Flops(), Bytes()});
    part.link_bytes += count * average_moved(c);
    part.link_wait += count * average_wait(gpu.links, c);
  }

 private:
  void attention(OperatorFamily family, const KernelCost& cost, const models::KvFormat& kv) const {
    part.add(family, cost, cost.flops * gpu.work_of_attention(kv), count);
  }
  // A kernel whose arithmetic is nothing beside its traffic.
  void stream(OperatorFamily family, const KernelCost& cost) const { part.add(family, cost, Joules(), count); }
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

bool attends_in_own_kernel(const Gpu& gpu, const models::DecodeAttention& a) {
  return a.kernel == models::AttentionKernel::indexed && !gpu.indexed_attention_of(a.kv).decodes_as_latent;
}

void add_price(const Gpu& gpu, const models::Operator& op, PartCost& part) {
  std::visit(Pricer{gpu, part, op.count}, op.what);
}

PartCost price(const Gpu& gpu, std::span<const models::Operator> operators) {
  PartCost part;
  for (const models::Operator& op : operators) add_price(gpu, op, part);
  return part;
}

}  // namespace llmscape::hardware
