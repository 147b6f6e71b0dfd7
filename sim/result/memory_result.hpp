// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "models/step_memory.hpp"

namespace llmscape::result {

// What the rank that held most held in the step in which it did (INV-18).
struct MemoryResult {
  std::string group;  // of its device
  double device_bytes = 0;
  models::MemoryByKind by_kind;
  double start_s = 0;  // of the step
  std::int64_t prompt_tokens = 0, decodes = 0;
  [[nodiscard]] double bytes(models::MemoryKind kind) const { return by_kind.of(kind).si(); }
};

}  // namespace llmscape::result
