// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/catalog.hpp"
#include "hardware/device_entry.hpp"
#include "hardware/gpu/gpu.hpp"
#include "models/model.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <string>

namespace llmscape::hardware {

inline const std::filesystem::path kCatalog = "hardware/catalog";

// A device of the shipped catalogue, or of another folder; the tests run in the repository's root.
inline std::shared_ptr<const Device> catalog_device(const std::string& name,
                                                    const std::filesystem::path& folder = kCatalog) {
  Diagnostics diagnostics;
  const auto tree = device_entry(folder, name, {}, diagnostics);
  auto device = tree ? devices().read(*tree, diagnostics) : nullptr;
  REQUIRE_MESSAGE(device, diagnostics.text(false));
  return device;
}

inline Gpu catalog_gpu(const std::string& name, const std::filesystem::path& folder = kCatalog) {
  const auto device = catalog_device(name, folder);
  const auto* gpu = dynamic_cast<const Gpu*>(device.get());
  REQUIRE(gpu);
  return *gpu;
}

// Figures that the closed forms were worked out with by hand, whatever the catalogue learns of the device.
inline Gpu worked_gpu(const std::string& name) { return catalog_gpu(name, "tests/unit/hardware/forms"); }

// A decoder of the Llama 3 family, bf16.
inline models::ModelSpec llama(std::string name, int layers, int hidden, int heads, int kv_heads, int head_dim,
                               int width, bool tied) {
  models::LayerGroup group;
  group.count = layers;
  group.softmax().heads = heads;
  group.softmax().kv_heads = kv_heads;
  group.softmax().head_dim = head_dim;
  group.feed_forward.width = width;
  models::ModelSpec model;
  model.name = std::move(name);
  model.family = "llama";
  model.hidden = hidden;
  model.vocabulary = 128256;
  model.max_position = 131072;
  model.tied_embeddings = tied;
  model.groups = {group};
  return model;
}
inline models::ModelSpec llama_1b() { return llama("llama-3.2-1b", 16, 2048, 32, 8, 64, 8192, true); }
inline models::ModelSpec llama_8b() { return llama("llama-3.1-8b", 32, 4096, 32, 8, 128, 14336, false); }

// All sequences alike.
inline models::Attended equal_contexts(std::int64_t sequences, std::int64_t context) {
  return {sequences * context, context};
}

}  // namespace llmscape::hardware
