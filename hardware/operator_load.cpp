// SPDX-License-Identifier: Apache-2.0
#include "hardware/operator_load.hpp"

#include <algorithm>

#include "hardware/index_load.hpp"
#include "hardware/state_work.hpp"
#include "models/attention_pairs.hpp"

namespace llmscape::hardware {
namespace {

constexpr double kQueryBytes = 2;
const models::Format kHalf{"bf16", 2}, kEighth{"fp8", 1};

struct Loader {
  OperatorLoad operator()(const models::Gemm& g) const {
    const double m = static_cast<double>(g.m), n = static_cast<double>(g.n), k = static_cast<double>(g.k);
    return {OperatorFamily::gemm, 2 * m * n * k,
            n * k * g.weights.bytes_with_scales() + m * (n + k) * g.activations.bytes, g.weights, g.activations};
  }
  OperatorLoad operator()(const models::GroupedGemm& g) const {
    return experts(g, static_cast<double>(g.rows), g.experts_touched);
  }
  // Each touched expert's weights are read once.
  static OperatorLoad experts(const models::GroupedGemm& g, double m, double touched) {
    const double n = static_cast<double>(g.n), k = static_cast<double>(g.k);
    return {OperatorFamily::grouped_gemm, 2 * m * n * k,
            touched * n * k * g.weights.bytes_with_scales() + m * (n + k) * g.activations.bytes, g.weights,
            g.activations};
  }
  OperatorLoad operator()(const models::PrefillAttention& a) const {
    const double widths = a.head_dim + a.value_width();
    double pairs = 0, keys = 0, queries = 0, scored = 0;
    for (const models::PrefillChunk& chunk : a.chunks) {
      pairs += models::windowed_pairs(chunk.tokens, chunk.cached, a.window);
      keys += keys_read(a, chunk);
      queries += static_cast<double>(chunk.tokens);
      scored += estimated_pairs(a, chunk);
    }
    return {
        OperatorFamily::prefill_attention, 2 * a.heads * widths * pairs + 2.0 * a.heads * a.head_dim * scored,
        keys * a.kv_heads * a.kv.stored_bytes(a.head_dim, a.value_width()) + queries * a.heads * widths * kQueryBytes,
        kHalf, kHalf};
  }
  OperatorLoad operator()(const models::DecodeAttention& a) const {
    const double score_width = a.head_dim, value_width = a.value_width();
    const double entries = static_cast<double>(a.attended.sum), queries = static_cast<double>(a.tokens_per_sequence);
    return {OperatorFamily::decode_attention, 2 * a.heads * (score_width + value_width) * entries * queries,
            entries * a.kv_heads * a.stored_bytes(), kHalf, kHalf};
  }
  OperatorLoad operator()(const models::IndexScores& s) const {
    const IndexLoad load = load_of(s);
    return {s.chunks.empty() ? OperatorFamily::decode_attention : OperatorFamily::prefill_attention, load.flops(s),
            load.bytes(s), kEighth, kEighth};
  }
  OperatorLoad operator()(const models::StateUpdate& u) const {
    const StateLoad load = load_of(u);
    return {u.scan ? OperatorFamily::prefill_attention : OperatorFamily::decode_attention, load.flops, load.bytes,
            kHalf, kHalf};
  }
  OperatorLoad operator()(const models::Elementwise& e) const {
    return {OperatorFamily::elementwise, 0, e.bytes, kHalf, kHalf};
  }
  OperatorLoad operator()(const models::Copy& c) const {
    return {OperatorFamily::elementwise, 0, c.bytes, kHalf, kHalf};
  }
  OperatorLoad operator()(const models::Sample& s) const {
    return {OperatorFamily::sampling, 0, s.bytes(), kHalf, kHalf};
  }
  OperatorLoad operator()(const models::Collective&) const { return {OperatorFamily::collective, 0, 0, kHalf, kHalf}; }
};

}  // namespace

double estimated_pairs(const models::PrefillAttention& a, const models::PrefillChunk& chunk) {
  if (!a.estimates_each_chunk && !chunk.ends_prompt) return 0;
  return models::estimated_pairs(chunk.tokens, chunk.cached, a.estimate_queries);
}

double keys_read(const models::PrefillAttention& a, const models::PrefillChunk& chunk) {
  const std::int64_t window = a.estimate_queries > 0 ? 0 : a.window;
  return static_cast<double>(models::keys_read(chunk.tokens, chunk.cached, window));
}

OperatorLoad load_of(const models::AnyOperator& op) { return std::visit(Loader(), op); }

OperatorLoad average_load_of(const models::AnyOperator& op) {
  if (const auto* e = std::get_if<models::Elementwise>(&op); e && e->average)
    return {OperatorFamily::elementwise, 0, *e->average, kHalf, kHalf};
  const auto* g = std::get_if<models::GroupedGemm>(&op);
  return g && g->average ? Loader::experts(*g, g->average->rows, g->average->experts_touched) : load_of(op);
}

}  // namespace llmscape::hardware
