// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "hardware/catalog.hpp"
#include "hardware/device.hpp"

// What the tests of the closed-form devices share: models by hand, batches, and catalogue entries.
namespace llmscape::hardware::cases {

struct LlamaShape {
  std::int64_t hidden = 0;
  int layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t width = 0, vocabulary = 128256;
  bool tied = false;
};
inline constexpr LlamaShape kLlama1B{2048, 16, 32, 8, 64, 8192, 128256, true};
inline constexpr LlamaShape kLlama8B{4096, 32, 32, 8, 128, 14336, 128256, false};
inline constexpr LlamaShape kLlama70B{8192, 80, 64, 8, 128, 28672, 128256, false};

inline models::Format format_of(std::string name, double bytes) { return {std::move(name), bytes, 0, 0}; }

inline models::ModelSpec llama(const LlamaShape& shape, const models::Format& weights, const models::Format& activations) {
  models::ModelSpec spec;
  spec.name = "llama";
  spec.hidden = shape.hidden;
  spec.vocabulary = shape.vocabulary;
  spec.max_position = 131072;
  spec.tied_embeddings = shape.tied;
  models::LayerGroup group;
  group.count = shape.layers;
  group.attention.heads = shape.heads;
  group.attention.kv_heads = shape.kv_heads;
  group.attention.head_dim = shape.head_dim;
  group.feed_forward.width = shape.width;
  spec.groups = {group};
  spec.precision = {weights, activations, activations, {}, {}};
  return spec;
}

// Decodes of one token each at the same context, with the storage that the batch points into.
struct Decodes {
  std::vector<models::Attended> attended;
  models::Batch batch;
  Decodes(std::int64_t sequences, std::int64_t context) : attended{{sequences * context, context}} {
    batch.decodes = sequences;
    batch.attended = attended;
  }
  Decodes(const Decodes&) = delete;
};

// A prompt of `tokens` computed at once, after `cached` ones.
struct Prompt {
  std::vector<models::PrefillChunk> chunks;
  std::vector<models::Attended> attended{{0, 0}};
  models::Batch batch;
  explicit Prompt(std::int64_t tokens, std::int64_t cached = 0) : chunks{{tokens, cached, true}} {
    batch.chunks = chunks;
    batch.attended = attended;
  }
  Prompt(const Prompt&) = delete;
};

// The catalogue's device of that name, as a copy that a test may change.
template <class D>
D catalogued(const Fields<D>& fields, std::string_view name) {
  Diagnostics diagnostics;
  auto tree = load_device_tree("hardware/catalog", name, {}, diagnostics);
  REQUIRE_MESSAGE(tree, diagnostics.text(false));
  tree->erase("kind");
  D device;
  fields.read(device, *tree, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  return device;
}

inline StepCost step(const Device& device, const models::ModelSpec& model, const models::Batch& batch, int tensor = 1) {
  models::ParallelPlan plan;
  plan.tensor = tensor;
  REQUIRE(device.problems(model, plan).empty());
  return device.bind(model, plan, {})->step(batch);
}

inline Joules total(const StepCost& cost) {
  Joules sum;
  for (const Joules joules : cost.energy) sum += joules;
  return sum;
}

}  // namespace llmscape::hardware::cases
