// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "base/sourced.hpp"

#include <optional>
#include <string>

namespace llmscape::hardware {

// A memory below that of the devices: of the host, on CXL, a disk, a store on the network.
struct MemoryTier {
  // Whose it is, as one memory with one link. The order matters: each is shared by more than the one before it.
  enum class Sharing { replica, node, all };

  std::string name;
  Sourced<Bytes> capacity;
  Sourced<BytesPerSecond> read, write;                 // of all who share it together
  Sourced<Seconds> latency;                            // of a transfer
  std::optional<Sourced<BytesPerSecond>> device_link;  // of one device to it; absent: as wide as `read`
  Sharing shared_by = Sharing::replica;
};
const Fields<MemoryTier>& memory_tier_fields();

// The fields of a tier, for what has more of them.
template <class T>
void add_memory_tier_fields(Fields<T>& f) {
  using Sharing = MemoryTier::Sharing;
  f.add("name", &T::name, "what results call it").required();
  f.add("capacity", &T::capacity, "bytes of it; 0: it is not there").required().between(0, 1e18);
  f.add("read", &T::read, "bandwidth towards the devices, of all who share it together").required().above(0);
  f.add("write", &T::write, "bandwidth from the devices, of all who share it together").required().above(0);
  f.add("latency", &T::latency, "of a transfer").required().at_least(0);
  f.add("device_link", &T::device_link,
        "bandwidth of one device's own link to it, over which it reads its part of an entry; absent: as wide as 'read'")
      .above(0);
  f.add_enum("shared_by", &T::shared_by,
             {{"replica", Sharing::replica}, {"node", Sharing::node}, {"all", Sharing::all}},
             "who shares it: each replica has its own, those of a node, or all that serve the model");
}

}  // namespace llmscape::hardware
