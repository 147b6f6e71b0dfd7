// SPDX-License-Identifier: Apache-2.0
// Kernel tables in Vidur's layout (github.com microsoft/vidur, and Frontier, which grew out of it; MIT): the operators
// of one layer outside attention by tokens of the step, and collectives. Times are milliseconds, of Vidur rounded to
// one microsecond; the median counts.
#include "traces/kernel_table_format.hpp"

namespace llmscape::traces {
namespace {

constexpr double kMilliseconds = 1e-3;

enum LayerColumn {
  kHeads,
  kKvHeads,
  kHidden,
  kWidth,
  kVocabulary,
  kGated,
  kTokens,
  kTp,
  kQueryKeyNorm,
  kPrecision,
  kQuantisation,
  kClock,
  kFirstOperator
};

// The share of one rank in a layer, and the tokens of the step.
struct Layer {
  std::int64_t tokens = 0, hidden = 0, width = 0, heads = 0, kv_heads = 0, head_dim = 0, vocabulary = 0;
  bool gated = true;
  std::string format;
};

using ReadOperator = void (*)(const Layer& layer, Seconds time, KernelTables& into);

void add_gemm(const Layer& layer, std::int64_t n, std::int64_t k, Seconds time, KernelTables& into) {
  into.gemm.push_back({{layer.tokens, n, k, layer.format}, time});
}
void add_elementwise(std::string_view kind, const Layer& layer, std::int64_t width, Seconds time, KernelTables& into) {
  into.elementwise.push_back({{std::string(kind), layer.tokens, width, layer.format}, time});
}
void add_norm(const Layer& layer, Seconds time, KernelTables& into) {
  add_elementwise("norm", layer, layer.hidden, time, into);
}

// An operator's column, and what it times. Where queries and keys are normed, the first two columns span those norms as
// well, and the width of a head is not hidden / heads.
struct LayerOperator {
  std::string name;
  bool plain_heads_only;
  ReadOperator read;
};
const std::vector<LayerOperator>& layer_operators() {
  static const std::vector<LayerOperator> operators = {
      {"attn_pre_proj", true,
       [](const Layer& l, Seconds t, KernelTables& into) {
         add_gemm(l, (l.heads + 2 * l.kv_heads) * l.head_dim, l.hidden, t, into);
       }},
      {"attn_rope", true,
       [](const Layer& l, Seconds t, KernelTables& into) {
         add_elementwise("rope", l, (l.heads + l.kv_heads) * l.head_dim, t, into);
       }},
      {"attn_post_proj", true,
       [](const Layer& l, Seconds t, KernelTables& into) { add_gemm(l, l.hidden, l.heads * l.head_dim, t, into); }},
      {"mlp_up_proj", false,
       [](const Layer& l, Seconds t, KernelTables& into) {
         add_gemm(l, (l.gated ? 2 : 1) * l.width, l.hidden, t, into);
       }},
      {"mlp_act", false,
       [](const Layer& l, Seconds t, KernelTables& into) {
         if (l.gated) add_elementwise("activation", l, l.width, t, into);
       }},
      {"mlp_down_proj", false,
       [](const Layer& l, Seconds t, KernelTables& into) { add_gemm(l, l.hidden, l.width, t, into); }},
      {"lm_head_linear", false,
       [](const Layer& l, Seconds t, KernelTables& into) { add_gemm(l, l.vocabulary, l.hidden, t, into); }},
      {"emb", false,
       [](const Layer& l, Seconds t, KernelTables& into) { add_elementwise("embedding", l, l.hidden, t, into); }},
      {"input_layernorm", false, add_norm},
      {"post_attention_layernorm", false, add_norm},
      {"add", false,
       [](const Layer& l, Seconds t, KernelTables& into) { add_elementwise("add", l, l.hidden, t, into); }},
  };
  return operators;
}

std::string median_of(std::string_view operation) { return "time_stats." + std::string(operation) + ".median"; }

std::optional<Layer> read_layer(const CsvTable& table) {
  const auto heads = table.whole(kHeads, 1), kv_heads = table.whole(kKvHeads, 1), hidden = table.whole(kHidden, 1),
             width = table.whole(kWidth, 1), vocabulary = table.whole(kVocabulary, 1), tokens = table.whole(kTokens, 1),
             tp = table.whole(kTp, 1);
  if (!heads || !kv_heads || !hidden || !width || !vocabulary || !tokens || !tp) return std::nullopt;
  Layer layer{*tokens,
              *hidden,
              *width / *tp,
              *heads / *tp,
              std::max<std::int64_t>(1, *kv_heads / *tp),
              *hidden / *heads,
              *vocabulary / *tp,
              table.text(kGated) == "True",
              half_format(table, kPrecision)};
  // Weights that are quantised alone have no format of ours.
  if (table.has(kQuantisation) && table.text(kQuantisation) != "none") layer.format = table.text(kQuantisation);
  return layer;
}

void read_layers(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  std::vector<CsvColumn> columns = {{"n_head"},
                                    {"n_kv_head"},
                                    {"n_embd"},
                                    {"n_expanded_embd"},
                                    {"vocab_size"},
                                    {"use_gated_mlp"},
                                    {"num_tokens"},
                                    {"num_tensor_parallel_workers"},
                                    {"use_qk_norm", false},
                                    {"profiling_precision", false},
                                    {"quant_signature", false},
                                    {"measurement_type", false}};
  for (const LayerOperator& operation : layer_operators()) columns.push_back({median_of(operation.name), false});
  CsvTable table(path, columns, diagnostics, {""});
  while (table.next()) {
    if (table.has(kClock) && !same_clock(table, kClock, into)) return;
    const auto layer = read_layer(table);
    if (!layer) continue;
    const bool plain_heads = !table.has(kQueryKeyNorm) || table.text(kQueryKeyNorm) != "True";
    for (std::size_t i = 0; i < layer_operators().size(); ++i) {
      const LayerOperator& operation = layer_operators()[i];
      const std::size_t column = kFirstOperator + i;
      if (!table.has(column) || table.text(column).empty() || (operation.plain_heads_only && !plain_heads)) continue;
      if (const auto time = read_time(table, column, kMilliseconds)) operation.read(*layer, *time, into);
    }
  }
}

void read_collective(std::string_view kind, std::string_view operation, const std::string& path, KernelTables& into,
                     Diagnostics& diagnostics) {
  enum Column { kTime, kRanks, kBytes, kRanksPerNode };
  CsvTable table(path, {{median_of(operation)}, {"num_workers"}, {"size"}, {"devices_per_node"}}, diagnostics, {""});
  while (table.next()) {
    const auto ranks = table.whole(kRanks, 2), bytes = table.whole(kBytes, 1),
               ranks_per_node = table.whole(kRanksPerNode, 1);
    const auto time = read_time(table, kTime, kMilliseconds);
    if (ranks && bytes && ranks_per_node && time)
      into.collective.push_back({{std::string(kind), *bytes, *ranks, "nccl", *ranks_per_node}, *time});
  }
}
void read_all_reduce(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  read_collective("all_reduce", "all_reduce", path, into, diagnostics);
}
void read_send(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  read_collective("send", "send_recv", path, into, diagnostics);
}

}  // namespace

std::vector<KernelTableFormat> vidur_tables() {
  return {{"Vidur mlp or Frontier linear_op", {median_of("mlp_up_proj"), "num_tokens"}, read_layers},
          {"Vidur all_reduce", {median_of("all_reduce")}, read_all_reduce},
          {"Vidur send_recv", {median_of("send_recv")}, read_send}};
}

}  // namespace llmscape::traces
