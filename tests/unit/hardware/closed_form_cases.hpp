// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hardware_fixtures.hpp"
#include "sim/engine/engine_model.hpp"
#include "sim/engine/kv_pool.hpp"

// What the tests of the closed-form devices share: formats, batches, and catalogue entries that a test may change.
namespace llmscape::hardware {

// Without scales, as closed forms on paper have it.
inline const models::Format kInt4{"int4", 0.5, 0, 0};
inline const models::Format kInt8{"int8", 1, 0, 0};
inline const models::Format kFp8{"fp8", 1, 0, 0};

// The model with weights in `weights`, activations and KV in int8.
inline models::ModelSpec quantised(models::ModelSpec model, const models::Format& weights) {
  model.precision.weights = weights;
  model.precision.kv = model.precision.activations = kInt8;
  return model;
}

// Decodes of one token each at the same context, with the storage that the batch points into.
struct Decodes {
  std::vector<models::Attended> attended;
  models::Batch batch;
  Decodes(std::int64_t sequences, std::int64_t context) : attended{equal_contexts(sequences, context)} {
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

template <class D>
D catalogued(const std::string& name) {
  const auto device = catalog_device(name);
  const auto* copied = dynamic_cast<const D*>(device.get());
  REQUIRE(copied);
  return *copied;
}

// One step with `tensor` devices, which must be able to run the model.
inline engine::EngineCost step(const Device& device, const models::ModelSpec& model, const models::Batch& batch,
                               int tensor = 1) {
  models::ParallelPlan plan;
  plan.tensor = tensor;
  REQUIRE(device.problems(model, plan).empty());
  return engine::bind(device, model, plan, {})->step(batch);
}

inline Joules energy(const StepCost& cost, EnergyComponent component) {
  return cost.energy[static_cast<std::size_t>(component)];
}
inline Seconds busy(const StepCost& cost, Resource part) { return cost.busy[static_cast<std::size_t>(part)]; }
inline Joules total_energy(const StepCost& cost) {
  Joules sum;
  for (const Joules part : cost.energy) sum += part;
  return sum;
}
inline Seconds total_time(const StepCost& cost) {
  Seconds sum;
  for (const Seconds part : cost.by_family) sum += part;
  return sum;
}

}  // namespace llmscape::hardware
