// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "base/sourced.hpp"

#include <string>

namespace llmscape::hardware {

// A memory below that of the devices: of the host, on CXL, a disk, a store on the network.
struct MemoryTier {
  // Whose it is, as one memory with one link. The order matters: each is shared by more than the one before it.
  enum class Sharing { replica, node, all };

  std::string name;
  Sourced<Bytes> capacity;
  Sourced<BytesPerSecond> read, write;  // of all who share it together
  Sourced<Seconds> latency;             // of a transfer
  Sharing shared_by = Sharing::replica;
};
const Fields<MemoryTier>& memory_tier_fields();

}  // namespace llmscape::hardware
