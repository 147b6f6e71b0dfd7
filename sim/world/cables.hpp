// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/kernel/fabric.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/world/seat.hpp"

namespace llmscape::world {

// A link carries no more than this for a while; 0: it is down, and what it carries is lost.
struct LinkFault {
  Seconds from, until;
  std::string link;  // link_of_site() or link_of_node()
  BytesPerSecond bandwidth;
};
std::string link_of_site(const std::string& site);
std::string link_of_node(const std::string& group, std::int64_t node);

std::vector<LinkFault> link_faults(const scenario::Scenario& scenario);

// A link that changes.
struct LinkChange {
  Seconds at;
  kernel::Fabric::Link link;
  BytesPerSecond bandwidth;
};

// Both ways of an uplink or a port.
struct Duplex {
  kernel::Fabric::Link out, in;
};

// What bytes cross between nodes: their uplinks, the topology between these, and uplinks of racks and sites. A link is
// part of the fabric from the first way on that crosses it.
class Cables {
 public:
  Cables(kernel::Fabric& fabric, const scenario::HardwareConfig& hardware);
  Cables(const Cables&) = delete;
  Cables& operator=(const Cables&) = delete;

  // Links of whoever asks alone.
  Duplex duplex(const std::string& name, BytesPerSecond bandwidth);
  // The planes of the topology that lead to the devices of a seat in one node (by_node).
  [[nodiscard]] std::vector<std::int64_t> planes_of(const Seat& seat) const;
  // What the devices of a seat in one node have of its uplink by their own adapters; nothing where that is all of it,
  // or where planes of the topology divide it between devices.
  [[nodiscard]] std::optional<BytesPerSecond> adapters_of(const Seat& seat) const;
  // From the node of one seat to that of another, each in one node; nothing where they are the same. Its latency comes
  // on top of what was paid `before`.
  kernel::Wiring::Way way(const Seat& from, const Seat& to, std::int64_t plane, Seconds before = {});
  // Of the links so far: at every change of their profile or their faults, the least that they allow; in order of time.
  [[nodiscard]] std::vector<LinkChange> changes(const std::vector<LinkFault>& faults) const;

 private:
  // An uplink, or what of it is in one plane.
  struct Known {
    Duplex ways;
    std::string part_of;       // the name of the whole uplink
    BytesPerSecond bandwidth;  // of the whole
    double share;
  };
  Duplex uplink(const Seat& seat, std::int64_t plane);
  Duplex rack(const Seat& seat);
  Duplex site(const Seat& seat);
  Duplex once(const std::string& name, BytesPerSecond bandwidth) { return once(name, bandwidth, name, 1); }
  Duplex once(const std::string& name, BytesPerSecond bandwidth, const std::string& part_of, double share);
  [[nodiscard]] std::vector<hardware::UplinkChange> profile_of(const std::string& link) const;

  kernel::Fabric& fabric_;
  const hardware::FabricConfig& config_;
  std::map<std::string, std::int64_t> places_;  // of the first node of each group
  std::unique_ptr<kernel::Wiring> wiring_;
  std::int64_t planes_ = 1;
  std::map<std::string, Known> known_;
};

}  // namespace llmscape::world
