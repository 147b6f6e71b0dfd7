// SPDX-License-Identifier: Apache-2.0
// Kernel tables of AIConfigurator (github.com ai-dynamo/aiconfigurator; Apache-2.0). Times are milliseconds. Attention
// was timed with its keys and values in L2 from the launch before, so caches below the size of L2 read up to 1.35 times
// faster than in serving.
#include <fmt/format.h>

#include "traces/aiconfigurator_table.hpp"
#include "traces/engine_kernels.hpp"
#include "traces/kernel_table_format.hpp"

namespace llmscape::traces {
namespace {

using namespace aiconfigurator;

std::string format_name(std::string_view name) {
  if (name == "bfloat16") return "bf16";
  if (name == "float16") return "fp16";
  if (name == "int4_wo") return "int4";
  if (name == "w4a16_mxfp4") return "mxfp4";
  return std::string(name);
}

void read_gemm(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  enum Column { kFormat = kCommonColumns, kM, kN, kK };
  Table table(path, {{"gemm_dtype"}, {"m"}, {"n"}, {"k"}}, into, diagnostics);
  while (table.next()) {
    const bool gemm = table.is_of("gemm");
    const auto m = table.whole(kM, 1), n = table.whole(kN, 1), k = table.whole(kK, 1);
    const auto time = table.time();
    if (gemm && m && n && k && time) table.keep(into.gemm, {*m, *n, *k, format_name(table.text(kFormat))}, *time);
  }
}

// Prefill and decode tables have the same columns; each row says which it is.
void read_attention(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  enum Column {
    kSequences = kCommonColumns,
    kTokens,
    kHeads,
    kKvHeads,
    kHeadDim,
    kBeams,
    kFormat,
    kKvFormat,
    kCached,
    kWindow
  };
  Table table(path,
              {{"batch_size"},
               {"isl"},
               {"num_heads"},
               {"num_key_value_heads"},
               {"head_dim"},
               {"beam_width"},
               {"attn_dtype"},
               {"kv_cache_dtype"},
               {"step"},
               {"window_size", false}},
              into, diagnostics);
  into.warm_attention = true;
  while (table.next()) {
    const bool decode = table.text(kOperator) == "generation_attention";
    if (!decode && !table.is_of("context_attention")) continue;
    const auto sequences = table.whole(kSequences, 1), tokens = table.whole(kTokens, 1),
               cached = table.whole(kCached, 0), heads = table.whole(kHeads, 1), kv_heads = table.whole(kKvHeads, 1),
               head_dim = table.whole(kHeadDim, 1);
    const auto window = table.has(kWindow) ? table.whole(kWindow, 0) : 0;
    const auto time = table.time();
    if (!sequences || !tokens || !cached || !heads || !kv_heads || !head_dim || !window || !time) continue;
    if (*window > 0 && table.has(kPower)) continue;  // watts are of whole contexts
    const std::string format = format_name(table.text(kFormat)), kv_format = format_name(table.text(kKvFormat));
    if (!decode)
      table.keep(into.prefill_attention,
                 {*sequences, *tokens, *cached, *heads, *kv_heads, *head_dim, format, kv_format, *window}, *time);
    else if (*tokens == 1)
      table.keep(into.decode_attention,
                 {*sequences, *cached + 1, *heads, *kv_heads, *head_dim, format, kv_format, *window}, *time);
    else table.error(kTokens, fmt::format("'isl' must be 1 in a decode; got {}", *tokens));
  }
}

void read_moe(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  enum Column { kFormat = kCommonColumns, kTokens, kHidden, kWidth, kPerToken, kExperts, kTp, kEp, kRouting };
  Table table(path,
              {{"moe_dtype"},
               {"num_tokens"},
               {"hidden_size"},
               {"inter_size"},
               {"topk"},
               {"num_experts"},
               {"moe_tp_size"},
               {"moe_ep_size"},
               {"distribution"}},
              into, diagnostics);
  const auto passed = [&](std::string_view why) {
    if (why != kTwoMatrices) return;
    const auto hidden = table.whole(kHidden, 1), width = table.whole(kWidth, 1), experts = table.whole(kExperts, 1),
               per_token = table.whole(kPerToken, 1);
    if (hidden && width && experts && per_token) into.two_matrices.insert({*hidden, *width, *experts, *per_token});
  };
  while (table.next(passed)) {
    const bool moe = table.is_of("moe");
    const auto tokens = table.whole(kTokens, 1), hidden = table.whole(kHidden, 1), width = table.whole(kWidth, 1),
               per_token = table.whole(kPerToken, 1), experts = table.whole(kExperts, 1), tp = table.whole(kTp, 1),
               ep = table.whole(kEp, 1);
    const auto time = table.time();
    if (moe && tokens && hidden && width && per_token && experts && tp && ep && time)
      table.keep(
          into.expert_layer,
          {*tokens, *hidden, *width, *experts, *per_token, *tp, *ep, 0, std::string(table.text(kRouting)),
           format_name(table.text(kFormat)),
           placed_rows(table.engine(), table.text(kDevice), table.text(kKernel), format_name(table.text(kFormat)))},
          *time);
  }
}

// Latent attention without its projections: TensorRT-LLM's and SGLang's tables.
void read_latent_attention(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  enum Column { kFormat = kCommonColumns, kKvFormat, kHeads, kSequences, kTokens, kTp, kCached };
  Table table(path, {{"mla_dtype"}, {"kv_cache_dtype"}, {"num_heads"}, {"batch_size"}, {"isl"}, {"tp_size"}, {"step"}},
              into, diagnostics);
  into.warm_attention = true;
  while (table.next()) {
    const bool decode = table.text(kOperator) == "mla_generation";
    const bool known = decode || table.is_of("mla_context");
    const auto sequences = table.whole(kSequences, 1), tokens = table.whole(kTokens, 1),
               cached = table.whole(kCached, 0), heads = table.whole(kHeads, 1);
    const auto time = table.time();
    if (known && sequences && tokens && cached && heads && time)
      into.latent_attention.push_back({{*sequences, *tokens, *cached, *heads, decode, format_name(table.text(kFormat)),
                                        format_name(table.text(kKvFormat))},
                                       *time,
                                       table.engine()});
  }
}

// Watts of latent attention with its projections; the times of such modules are left out.
void read_latent_power(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  enum Column { kFormat = kCommonColumns, kKvFormat, kProjections, kHeads, kSequences, kTokens, kCached };
  Table table(path,
              {{"mla_dtype"},
               {"kv_cache_dtype"},
               {"gemm_type"},
               {"num_heads"},
               {"batch_size"},
               {"isl"},
               {"step"},
               {"model"},
               {"architecture"},
               {"tp_size"}},
              into, diagnostics);
  while (table.next()) {
    const bool decode = table.text(kOperator) == "mla_generation_module";
    const bool known = decode || table.is_of("mla_context_module");
    const auto sequences = table.whole(kSequences, 1), tokens = table.whole(kTokens, 1),
               cached = table.whole(kCached, 0), heads = table.whole(kHeads, 1);
    const auto time = table.time();
    if (known && sequences && tokens && cached && heads && time)
      table.keep_module({*sequences, *tokens, *cached, *heads, decode, format_name(table.text(kFormat)),
                         format_name(table.text(kKvFormat))},
                        format_name(table.text(kProjections)), *time);
  }
}

// Activations written in the format by known scales. What finding those of tokens adds to this kernel is in no product
// of the tables.
void read_quantisation(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  enum Column { kRows = kCommonColumns, kWidth, kFormat };
  Table table(path, {{"m"}, {"k"}, {"quant_dtype"}}, into, diagnostics);
  while (table.next()) {
    if (table.text(kOperator) == "compute_scale" || !table.is_of("scale_matrix")) continue;
    const auto rows = table.whole(kRows, 1), width = table.whole(kWidth, 1);
    if (const auto time = table.time(); rows && width && time)
      into.elementwise.push_back(
          {{"quantise", *rows, *width, format_name(table.text(kFormat))}, *time, table.engine()});
  }
}

// What of an index a table timed; empty: something else.
std::string_view indexed_part(std::string_view operation) {
  if (operation == "dsa_context_module" || operation == "dsa_generation_module") return "module";
  if (operation.ends_with("_mqa_logits_module")) return "scores";
  return operation.ends_with("_topk_module") ? "choice" : "";
}

// Whole modules, attention with its projections, norms and cache writes, and kernels of an index. Those of dense latent
// attention and of MiniMax's sparse one are left out. Scores that are all alike are the worst case of a choice, and no
// model's; contexts that need no choice took no time.
void read_modules(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  enum Column {
    kModel = kCommonColumns,
    kArchitecture,
    kKvFormat,
    kProjections,
    kHeads,
    kSequences,
    kTokens,
    kCached,
    kScores
  };
  Table table(path,
              {{"model"},
               {"architecture"},
               {"kv_cache_dtype"},
               {"gemm_type"},
               {"num_heads"},
               {"batch_size"},
               {"isl"},
               {"step"},
               {"score_mode", false},
               {"mla_dtype"},
               {"tp_size"},
               {"compress_ratio", false}},
              into, diagnostics);
  while (table.next()) {
    const std::string_view part = indexed_part(table.text(kOperator));
    if (part.empty() || (table.has(kScores) && table.text(kScores) == "flat")) continue;
    if (part != "module" && table.text(kLatency) == "0") continue;
    const auto sequences = table.whole(kSequences, 1), tokens = table.whole(kTokens, 1),
               cached = table.whole(kCached, 0), heads = table.whole(kHeads, 1);
    const auto time = table.time();
    if (sequences && tokens && cached && heads && time)
      into.indexed_attention.push_back({{std::string(table.text(kModel)), std::string(part), *sequences, *tokens,
                                         *cached, *heads, table.text(kOperator) == "dsa_generation_module",
                                         format_name(table.text(kProjections)), format_name(table.text(kKvFormat))},
                                        *time,
                                        table.engine()});
  }
}

// The tables count elements.
std::optional<std::int64_t> bytes_of_element(const CsvTable& table, std::size_t column) {
  const std::string_view format = table.text(column);
  if (format == "half" || format == "bfloat16") return 2;
  if (format == "int8") return 1;
  table.error(column, fmt::format("must be half, bfloat16 or int8; got {}", in_quotes(format)));
  return std::nullopt;
}

struct Message {
  std::int64_t bytes, ranks;
  Seconds time;
};
enum CollectiveColumn { kElement = kCommonColumns, kRanks, kElements, kBackend, kImplementation };

std::optional<Message> read_message(const Table& table) {
  const auto element = bytes_of_element(table, kElement), ranks = table.whole(kRanks, 2),
             elements = table.whole(kElements, 1);
  const auto time = table.time();
  if (!element || !ranks || !elements || !time) return std::nullopt;
  return Message{*elements * *element, *ranks, *time};
}

void read_custom_all_reduce(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  Table table(path,
              {{"allreduce_dtype"}, {"num_gpus"}, {"message_size"}, {"backend", false}, {"implementation", false}},
              into, diagnostics);
  while (table.next()) {
    const auto m = read_message(table);
    std::string by(table.text(kKernel));
    if (const auto own = table.has(kBackend) ? kBackend : kImplementation; table.has(own)) by = table.text(own);
    if (table.is_of("all_reduce") && m)
      into.collective.push_back({{"all_reduce", m->bytes, m->ranks, by, m->ranks}, m->time, table.engine()});
  }
}

void read_library_collectives(const std::string& path, KernelTables& into, Diagnostics& diagnostics) {
  Table table(path, {{"nccl_dtype"}, {"num_gpus"}, {"message_size"}}, into, diagnostics);
  while (table.next()) {
    const auto m = read_message(table);
    const std::string operation(table.text(kOperator)), by = table.text(kKernel) == "oneCCL" ? "oneccl" : "nccl",
                                                        kind = operation == "alltoall" ? "all_to_all" : operation;
    // Sums of int8 take 3 to 8 % longer than those of as many bytes in 16 bits, and no engine adds up in it.
    if ((kind == "all_reduce" || kind == "reduce_scatter") && table.text(kElement) == "int8") continue;
    if (kind != "all_reduce" && kind != "all_gather" && kind != "reduce_scatter" && kind != "all_to_all")
      table.error(kOperator, fmt::format("'op_name' must be all_reduce, all_gather, reduce_scatter or alltoall; got {}",
                                         in_quotes(operation)));
    else if (m) into.collective.push_back({{kind, m->bytes, m->ranks, by, m->ranks}, m->time});
  }
}

}  // namespace

std::vector<KernelTableFormat> aiconfigurator_tables() {
  return {{"AIConfigurator watts of latent attention", {"mla_dtype", "gemm_type", "power"}, read_latent_power},
          {"AIConfigurator modules", {"architecture", "latency"}, read_modules},
          {"AIConfigurator latent attention", {"mla_dtype"}, read_latent_attention},
          {"AIConfigurator quantisation", {"quant_dtype"}, read_quantisation},
          {"AIConfigurator gemm", {"gemm_dtype"}, read_gemm},
          {"AIConfigurator attention", {"attn_dtype", "kv_cache_dtype"}, read_attention},
          {"AIConfigurator moe", {"moe_dtype"}, read_moe},
          {"AIConfigurator custom_allreduce", {"allreduce_dtype"}, read_custom_all_reduce},
          {"AIConfigurator nccl", {"nccl_dtype"}, read_library_collectives}};
}

}  // namespace llmscape::traces
