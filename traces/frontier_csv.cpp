// SPDX-License-Identifier: Apache-2.0
// Kernel tables of Frontier (github.com NetX-lab/Frontier; MIT): attention by batch, and the pieces of an expert layer.
// Its table of the other operators has Vidur's columns and is read there. Times are milliseconds; the median counts.
#include "traces/kernel_table_format.hpp"

#include <algorithm>

namespace llmscape::traces {
namespace {

constexpr double kMilliseconds = 1e-3;

// Batches whose sequences are alike; others, and those that mix prefill and decode, are passed over. The kernels ran
// with heads of n_embd / n_q_head, also where the model's are wider.
void read_attention(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  enum Column {
    kPrefillTime,
    kDecodeTime,
    kHidden,
    kHeads,
    kKvHeads,
    kTp,
    kSequences,
    kChunk,
    kCached,
    kIsPrefill,
    kMixed,
    kMode,
    kPrecision,
    kClock
  };
  CsvTable table(path,
                 {{"time_stats.attn_prefill.median"},
                  {"time_stats.attn_decode.median"},
                  {"n_embd"},
                  {"n_q_head"},
                  {"n_kv_head"},
                  {"num_tensor_parallel_workers"},
                  {"batch_size"},
                  {"prefill_chunk_size"},
                  {"kv_cache_size"},
                  {"is_prefill"},
                  {"is_mixed_batch", false},
                  {"mode", false},
                  {"profiling_precision", false},
                  {"measurement_type", false}},
                 diagnostics, {""});
  while (table.next()) {
    if (table.has(kClock) && !same_clock(table, kClock, into)) return;
    if (table.has(kMixed) && table.text(kMixed) == "True") continue;
    if (table.has(kMode) && table.text(kMode) != "even") continue;
    const bool prefill = table.text(kIsPrefill) == "True";
    const auto hidden = table.whole(kHidden, 1), heads = table.whole(kHeads, 1), kv_heads = table.whole(kKvHeads, 1),
               tp = table.whole(kTp, 1), sequences = table.whole(kSequences, 1),
               tokens = table.whole(kChunk, prefill ? 1 : 0), cached = table.whole(kCached, 0);
    const auto time = read_time(table, prefill ? kPrefillTime : kDecodeTime, kMilliseconds);
    if (!hidden || !heads || !kv_heads || !tp || !sequences || !tokens || !cached || !time) continue;
    const std::int64_t rank_heads = *heads / *tp, rank_kv_heads = std::max<std::int64_t>(1, *kv_heads / *tp),
                       head_dim = *hidden / *heads;
    const std::string format = half_format(table, kPrecision);
    if (prefill)
      into.prefill_attention.push_back(
          {{*sequences, *tokens, *cached, rank_heads, rank_kv_heads, head_dim, format, format}, *time});
    else
      into.decode_attention.push_back(
          {{*sequences, *cached + 1, rank_heads, rank_kv_heads, head_dim, format, format}, *time});
  }
}

// Rows of one rank that holds all experts and has every piece timed; `routing` is how the rows were dealt out
// ("logit_topk": by the model's selection kernel).
void read_moe(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  enum Column {
    kSelect,
    kPermute,
    kProducts,
    kTokens,
    kExperts,
    kEp,
    kPerToken,
    kHidden,
    kWidth,
    kTp,
    kUtilisation,
    kRouting,
    kPrecision,
    kClock
  };
  CsvTable table(path,
                 {{"time_stats.moe_gating_routing_topk.median"},
                  {"time_stats.moe_shuffling.median"},
                  {"time_stats.moe_grouped_gemm.median"},
                  {"num_tokens"},
                  {"num_experts"},
                  {"expert_parallel_size"},
                  {"router_topk"},
                  {"hidden_dim"},
                  {"expert_hidden_dim"},
                  {"num_tensor_parallel_workers"},
                  {"expert_utilization"},
                  {"routing_assignment_policy"},
                  {"profiling_precision"},
                  {"measurement_type"}},
                 diagnostics, {""});
  while (table.next()) {
    if (!same_clock(table, kClock, into)) return;
    const auto ep = table.whole(kEp, 1);
    if (!ep || *ep > 1 || table.text(kSelect).empty()) continue;
    const auto select = read_time(table, kSelect, kMilliseconds), permute = read_time(table, kPermute, kMilliseconds),
               products = read_time(table, kProducts, kMilliseconds);
    const auto tokens = table.whole(kTokens, 1), experts = table.whole(kExperts, 1),
               per_token = table.whole(kPerToken, 1), hidden = table.whole(kHidden, 1), width = table.whole(kWidth, 1),
               tp = table.whole(kTp, 1);
    const auto utilisation = table.positive(kUtilisation);
    if (!select || !permute || !products || !tokens || !experts || !per_token || !hidden || !width || !tp ||
        !utilisation)
      continue;
    into.expert_layer.push_back(
        {{*tokens, *hidden, *width, *experts, *per_token, *tp, 1, *utilisation * static_cast<double>(*experts),
          std::string(table.text(kRouting)), half_format(table, kPrecision)},
         *select + *permute + *products});
  }
}

}  // namespace

std::vector<KernelTableFormat> frontier_tables() {
  return {{"Frontier attention", {"time_stats.attn_prefill.median", "kv_cache_size"}, read_attention},
          {"Frontier moe", {"time_stats.moe_grouped_gemm.median"}, read_moe}};
}

}  // namespace llmscape::traces
