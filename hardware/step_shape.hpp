// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "base/quantity.hpp"
#include "models/batch.hpp"
#include "models/expert_coverage.hpp"
#include "models/layer_shapes.hpp"

namespace llmscape::hardware {

struct Matrix : models::Linear {
  models::Format format;
  [[nodiscard]] Bytes bytes() const;  // with quantisation scales, without biases
};

// Matrices that are read together.
struct MatrixSet {
  MatrixSet() = default;
  explicit MatrixSet(std::vector<Matrix> list);
  std::vector<Matrix> matrices;
  models::Format format;  // of the last of them, and of all where a device takes no others
  double weights = 0;     // also the multiply-adds of one token
  double elements = 0;    // activations in and out, of one token
  Bytes bytes;            // as Matrix::bytes
};

// The layers of one group, whole: devices that are priced by closed forms share them evenly, if at all.
struct LayerShape {
  int count = 0;
  MatrixSet common;  // every token passes through these
  MatrixSet expert;  // one routed expert; no matrices in a dense layer
  int experts = 0, experts_per_token = 0;
  std::size_t law = 0;                 // index into kv_laws(model)
  std::int64_t window = 0;             // of prompts; 0: full attention
  models::TokenChange change{};        // by a KV budget
  int heads = 0, kv_heads = 0;         // latent attention has one KV head
  int key_width = 0, value_width = 0;  // of a KV head's entries; latent attention keeps its values in the keys
  double kv_bytes = 0;                 // of one token in this layer
  double prefill_pair_flops = 0;       // per query-key pair: scores and values
  double decode_pair_flops = 0;
  double index_pair_flops = 0;  // to score an entry of the context, where an index chooses what is attended to
  double index_share = 0;       // of kv_bytes: its key, which is read of all entries
  double expansion_flops = 0;   // per cached token of a prefill chunk (latent attention expands it)
};

struct AttentionLoad {
  double pairs = 0;  // of queries and keys, for one head
  double flops = 0;
  double keys = 0;    // KV entries read
  double tokens = 0;  // KV entries written
};

// What one layer of a group does in a step.
struct LayerLoad {
  double experts_touched = 0;  // whose weights are read
  double expert_rows = 0;      // token-expert pairs
  AttentionLoad prefill, decode;
};

// A model reduced to what closed forms need, so that pricing a step neither lists operators nor allocates.
struct StepShape {
  StepShape(const models::ModelSpec&, const models::ExpertCoverage&);

  std::vector<LayerShape> layers;
  MatrixSet head;
  Bytes embedding;               // an input embedding that is not the head too
  double elementwise_bytes = 0;  // per token, all layers
  models::ExpertCoverage coverage;

  [[nodiscard]] LayerLoad load(const LayerShape&, const models::Batch&) const;
};

}  // namespace llmscape::hardware
