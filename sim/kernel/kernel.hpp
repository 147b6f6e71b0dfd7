// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "sim/kernel/fabric.hpp"

namespace llmscape::kernel {

// Something that acts at planned times: a replica, the gateway.
class Process {
 public:
  virtual ~Process() = default;
  // When it wants to be woken next; infinity: not before somebody rings.
  virtual Seconds next_event() = 0;
  // `now` is the time that next_event() gave, carried and not read from a clock (INV-2). Returns false when the process
  // has ended for good.
  virtual bool wake(Seconds now) = 0;

  std::size_t seat = 0;  // the kernel's, which numbers its processes
};

// A run ends here at the latest: 136 years, where a double still tells microseconds apart. Later on steps would be
// rounded to what is left, and figures of them mean nothing.
inline constexpr Seconds kClockEnd{0x1p32};

// Processes that all wait for ever while the run is not over: something was lost.
struct Deadlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The clock. Each instant goes in rounds: the leader acts first, then every other process that is due, until nobody is.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // The run is over when the leader ends; it is woken at kClockEnd, where anybody is due then or later, and has to end
  // there. One leader; call before run().
  virtual void lead(Process& leader) = 0;
  virtual void add(Process& process) = 0;
  // next_event() of the process may have become earlier. Called from within wake() of another.
  virtual void ring(Process& process) = 0;
  // Where bytes move between processes; a transfer that has ended may ring.
  virtual Fabric& fabric() = 0;
  // Runs to the end. Throws Deadlock, or what a process threw.
  virtual void run() = 0;
  // Events so far: wake-ups of processes.
  [[nodiscard]] virtual std::int64_t events() const = 0;
};

// SimGrid's discrete-event engine, with the settings of docs/kernel.md. One per program run: SimGrid's clock cannot be
// reset.
std::unique_ptr<Kernel> make_simgrid_kernel();
// A bare event queue, for the differential test (INV-14) and where SimGrid's features are not needed.
std::unique_ptr<Kernel> make_event_queue_kernel();

// "3.32"
std::string simgrid_version();

}  // namespace llmscape::kernel
