// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmscape::models {

// Width of one element and of the scales that go with a group of them.
struct Format {
  std::string name = "bf16";  // bf16, fp16, fp32, fp8, int8, int4, fp4, mxfp4: as written in YAML
  double bytes = 2;           // per element, without scales
  int group = 0;              // elements that share one scale; 0: no scales
  double scale_bytes = 0;     // per scale
  // Bytes of one element with its share of the scales.
  [[nodiscard]] double bytes_with_scales() const { return bytes + (group > 0 ? scale_bytes / group : 0); }
  bool operator==(const Format&) const = default;
};

struct Precision {
  Format weights, activations, kv;
  // Where they are not stored as `weights`: routed experts (GPT-OSS: mxfp4), and embedding and head, which most
  // quantised checkpoints leave at 16 bits.
  std::optional<Format> experts, embeddings;
  [[nodiscard]] const Format& expert_weights() const { return experts ? *experts : weights; }
  [[nodiscard]] const Format& embedding_weights() const { return embeddings ? *embeddings : weights; }
};

// Softmax attention of one layer. All widths are of the whole model, before tensor parallelism.
struct Attention {
  enum class Kind { gqa, mla };  // gqa covers multi-head and multi-query
  Kind kind = Kind::gqa;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  std::int64_t window = 0;  // sliding window in tokens, the token itself included; 0: full
  bool qkv_bias = false, output_bias = false;
  bool qk_norm = false;       // a norm of head_dim weights each for queries and keys
  bool qk_norm_full = false;  // qk_norm over all heads at once (OLMo style)
  bool sinks = false;         // one learned sink per head (GPT-OSS)
  // Multi-head latent attention (DeepSeek): ranks and widths; q_rank 0: queries are projected directly.
  int q_rank = 0, kv_rank = 0, rope_dim = 0, nope_dim = 0, v_dim = 0;
  // What token plans change (models/token_plan.hpp); 0 everywhere: nothing.
  std::int64_t sink_tokens = 0;       // kept and attended to beside the window (StreamingLLM)
  std::int64_t sparse_entries = 0;    // that a prompt token attends to: vertical and slash lines of a head (MInference)
  std::int64_t estimate_queries = 0;  // of a chunk, scored against all keys to find those lines, or what to keep
  std::int64_t kept_prompt = 0;       // entries of a prompt that stay in the KV cache (SnapKV); 0: all
  std::string sparse_kernel{};        // that skips what is not attended to, as devices name it; empty: a dense one
  // Most entries that a decode attends to, the token itself included, and a prompt token; 0: all.
  [[nodiscard]] std::int64_t reach() const { return window > 0 ? window + sink_tokens : 0; }
  [[nodiscard]] std::int64_t prompt_reach() const { return sparse_entries > 0 ? sparse_entries : reach(); }
  bool operator==(const Attention&) const = default;
};

struct FeedForward {
  std::int64_t width = 0;  // dense width; 0 in a routed layer
  bool gated = true;       // gate and up projections, or up alone
  bool bias = false;
  // Mixture of experts; experts 0: dense.
  int experts = 0;
  int experts_per_token = 0;
  std::int64_t expert_width = 0;
  std::int64_t shared_width = 0;  // all shared experts together
  bool router_bias = false;
  bool shared_gate = false;  // a gate of `hidden` weights on the shared expert (Qwen2-MoE)
  [[nodiscard]] bool routed() const { return experts > 0; }
  bool operator==(const FeedForward&) const = default;
};

// Layers that are alike. The order of groups does not matter to any cost.
struct LayerGroup {
  int count = 0;
  Attention attention;
  FeedForward feed_forward;
  int norms = 2;           // vectors of `hidden` weights per layer
  bool norm_bias = false;  // each has a bias too (LayerNorm)
  // What token plans change (models/token_plan.hpp):
  bool prompt_kv_only = false;  // prompt tokens before the last one pass the K and V projections only (SwiftKV)
  int kv_shared_by = 1;         // neighbouring layers that keep one KV cache between them
  // Caches that `layers` of them keep.
  [[nodiscard]] int caches(int layers) const { return (layers + kv_shared_by - 1) / kv_shared_by; }
};

struct ModelSpec {
  std::string name;
  std::string family;  // "llama", "qwen2", ...
  std::int64_t hidden = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_position = 0;     // longest context in tokens
  bool tied_embeddings = false;      // the head uses the input embedding's table
  std::int64_t position_table = 0;   // rows of a learned position embedding (OPT)
  std::int64_t embedding_width = 0;  // narrower input embedding with projections (OPT-350M); 0: hidden
  bool final_norm = true;
  std::vector<LayerGroup> groups;
  Precision precision;
  std::string source;                          // where the figures come from
  std::optional<double> published_parameters;  // as the authors state them

  [[nodiscard]] int layers() const;
};

// Exact counts, without quantisation scales.
std::int64_t parameters(const ModelSpec&);
// Of the input embedding's table; an untied head has as many again.
std::int64_t table_parameters(const ModelSpec&);
// Parameters that one token passes through: routed experts count experts_per_token of them; the input embedding table
// is left out unless it is tied (then it is the head), as a token gathers one row of it.
std::int64_t active_parameters(const ModelSpec&);
// Bytes of KV cache that one token adds over all layers, windows and what SnapKV drops ignored (cost-model 2.3), over
// `kv_shards` tensor-parallel ranks: what one rank stores. MLA latents are not divided.
double kv_bytes_per_token(const ModelSpec&, int tensor_parallel = 1);
// The same for one layer.
double kv_bytes_per_token(const Attention&, const Format& kv, int tensor_parallel = 1);

}  // namespace llmscape::models
