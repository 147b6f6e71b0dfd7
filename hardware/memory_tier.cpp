// SPDX-License-Identifier: Apache-2.0
#include "hardware/memory_tier.hpp"

namespace llmscape::hardware {

const Fields<MemoryTier>& memory_tier_fields() {
  static const Fields<MemoryTier> fields = [] {
    Fields<MemoryTier> f("memory_tier", "a memory below that of the devices");
    add_memory_tier_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
