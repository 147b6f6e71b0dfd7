// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <simgrid/s4u.hpp>

#include <deque>
#include <exception>
#include <functional>
#include <optional>

#include "sim/kernel/fluid_fabric.hpp"

namespace llmscape::kernel {

// The fabric as SimGrid hosts, links and routes. Movers carry the transfers: actors that are kept for the next one.
// Private to this folder: nothing else includes SimGrid.
//
// A transfer ends when SimGrid says so, at the time that the fluid model had planned for it: planned times are carried,
// never read back from a clock whose last bits are those of SimGrid's own sums (INV-2, INV-14). Both must agree.
class SimGridFabric final : public Fabric {
 public:
  // Movers live on `home`; what one of them throws goes to `fail`, and ends the run.
  using Fail = std::function<void(std::exception_ptr)>;
  SimGridFabric(simgrid::s4u::Host* home, Fail fail) : home_(home), fail_(std::move(fail)) {}
  // Makes what was declared part of the platform; once, before the run.
  void build(simgrid::s4u::NetZone* zone);

 protected:
  void start(Endpoint from, Endpoint to, const Route& route, Bytes bytes, Seconds now, Done done) override;
  void apply_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now) override;

 private:
  struct Transfer {
    Endpoint from = 0, to = 0;
    const Route* route = nullptr;
    double bytes = 0;
    Seconds begins;
    std::optional<Seconds> ended{};  // as planned
  };
  struct Ended {
    Done done;
    bool arrived;
    Seconds at;
  };
  struct Mover {
    simgrid::s4u::SemaphorePtr bell = simgrid::s4u::Semaphore::create(0);
    Transfer transfer;
  };

  void work(Mover& mover);
  void carry(const Transfer& transfer) const;
  [[nodiscard]] Seconds tolerance(const Transfer& transfer, Seconds now) const;
  void end(const Transfer& transfer, Seconds now);
  void deliver();

  simgrid::s4u::Host* home_;
  Fail fail_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<simgrid::s4u::Link*> wires_;
  std::deque<Mover> movers_;  // as many as ever moved at once
  std::vector<Mover*> idle_;
  FluidFabric plan_;         // the same links and transfers
  std::deque<Ended> ended_;  // whose owners are to be told, in the order in which they were planned to end
};

}  // namespace llmscape::kernel
