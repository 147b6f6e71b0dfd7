// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>

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

// How a KV cache stores keys and values. Latent attention has one entry for both, in the format of the keys.
struct KvFormat {
  KvFormat() = default;
  // Both alike, as nearly all engines store them.
  KvFormat(const Format& both) : keys(both), values(both) {}
  KvFormat(Format of_keys, Format of_values) : keys(std::move(of_keys)), values(std::move(of_values)) {}
  Format keys, values;
  [[nodiscard]] bool alike() const { return keys == values; }
  // "fp8", or "int8 keys and int2 values".
  [[nodiscard]] std::string name() const {
    return keys.name == values.name ? keys.name : keys.name + " keys and " + values.name + " values";
  }
  // Of one element without scales, the mean of both.
  [[nodiscard]] double bytes() const { return (keys.bytes + values.bytes) / 2; }
  // What so many elements of keys and of values take, with their scales.
  [[nodiscard]] double stored_bytes(double key_width, double value_width) const {
    return key_width * keys.bytes_with_scales() + value_width * values.bytes_with_scales();
  }
  bool operator==(const KvFormat&) const = default;
};

// Weights in one format whose GEMMs have inputs of their own: in a checkpoint of several schemes (NVIDIA's Qwen3.6 in
// NVFP4: attention W8A8 in fp8, experts and head W4A16).
struct OwnInputs {
  Format weights, inputs;
};

struct Precision {
  Format weights, activations;
  KvFormat kv;
  // Where they are not stored as `weights`: routed experts (GPT-OSS: mxfp4), and embedding and head, which most
  // quantised checkpoints leave at 16 bits.
  std::optional<Format> experts, embeddings;
  std::optional<Format> head{};           // where it is not stored as the embedding is, with which it is then not tied
  std::optional<OwnInputs> own_inputs{};  // the inputs of other weights are `activations`
  // Projections around attention or a state, and of these the last, whose output goes into the residual stream (Meta's
  // Llama-3.1-405B-FP8 and many nvfp4 checkpoints keep all of them in 16 bits, DeepSeek's in nvfp4 all but the last).
  std::optional<Format> attention{}, attention_output{};
  [[nodiscard]] const Format& expert_weights() const { return experts ? *experts : weights; }
  [[nodiscard]] const Format& embedding_weights() const { return embeddings ? *embeddings : weights; }
  [[nodiscard]] const Format& head_weights() const { return head ? *head : embedding_weights(); }
  [[nodiscard]] const Format& attention_weights() const { return attention ? *attention : weights; }
  [[nodiscard]] const Format& output_weights() const {
    return attention_output ? *attention_output : attention_weights();
  }
};

}  // namespace llmscape::models
