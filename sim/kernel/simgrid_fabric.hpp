// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <simgrid/s4u.hpp>

#include <cstdint>
#include <map>
#include <optional>

#include "sim/kernel/fluid_fabric.hpp"

namespace llmscape::kernel {

// The fabric as SimGrid hosts, links and routes. Private to this folder: nothing else includes SimGrid.
//
// A transfer ends when the fluid model has planned it, so that results do not hang on the last bits of SimGrid's sums
// (INV-2). SimGrid moves the same bytes over the same links, and must come to the same ends (INV-14). Where more than
// 256 are on the way together it gives them up, and follows again those that begin when all have ended.
class SimGridFabric final : public FluidFabric {
 public:
  // Makes what was declared part of the platform; once, before the run.
  void build(simgrid::s4u::NetZone* zone);
  // SimGrid's clock goes on to `now` if bytes are on the way; else it stays behind until some are. From an actor.
  void follow(Seconds now);
  // The run is over: what should have ended has, and the rest is given up. From an actor.
  void stop();

 protected:
  void apply_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now) override;
  void on_begin(const Flow& flow) override;
  void on_end(const Flow& flow) override;

 private:
  // What SimGrid carries of a transfer.
  struct Flight {
    Endpoint from = 0, to = 0;
    const Route* route = nullptr;
    simgrid::s4u::CommPtr comm{};
    std::optional<Seconds> ended{};  // as planned
    bool lost = false;               // as planned
    Seconds within{};                // SimGrid's end is the planned one
  };
  using Flights = std::map<std::uint64_t, Flight>;

  void lay(const Route& route);
  void send(Flight& flight, double bytes);
  [[nodiscard]] Seconds tolerance(const Flight& flight, Seconds now) const;
  bool landed(const Flight& flight) const;
  void settle();
  void give_up();
  void forget();
  [[noreturn]] void disagree(const Flight& flight, const std::string& simgrid) const;

  simgrid::s4u::NetZone* zone_ = nullptr;
  std::vector<bool> laid_;  // routes, by number
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<simgrid::s4u::Link*> wires_;
  bool follows_ = true;
  Flights flights_;                     // by the transfer's id; until both have ended
  std::vector<std::uint64_t> overdue_;  // flights that have ended as planned and not yet on SimGrid
  // Since nothing was on the way:
  std::int64_t pieces_ = 0;              // that were sent
  std::vector<BytesPerSecond> slowest_;  // of each link, the lowest bandwidth above 0
};

}  // namespace llmscape::kernel
