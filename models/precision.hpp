// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

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

}  // namespace llmscape::models
