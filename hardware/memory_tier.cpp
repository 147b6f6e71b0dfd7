// SPDX-License-Identifier: Apache-2.0
#include "hardware/memory_tier.hpp"

namespace llmscape::hardware {

const Fields<MemoryTier>& memory_tier_fields() {
  static const Fields<MemoryTier> fields = [] {
    using Sharing = MemoryTier::Sharing;
    Fields<MemoryTier> f("memory_tier", "a memory below that of the devices");
    f.add("name", &MemoryTier::name, "what results call it").required();
    f.add("capacity", &MemoryTier::capacity, "bytes of it; 0: it is not there").required().at_least(0);
    f.add("read", &MemoryTier::read, "bandwidth towards the devices, of all who share it together").required().above(0);
    f.add("write", &MemoryTier::write, "bandwidth from the devices, of all who share it together").required().above(0);
    f.add("latency", &MemoryTier::latency, "of a transfer").required().at_least(0);
    f.add_enum("shared_by", &MemoryTier::shared_by,
               {{"replica", Sharing::replica}, {"node", Sharing::node}, {"all", Sharing::all}},
               "who has it together: each replica has its own, those of a node, or all that serve the model");
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
