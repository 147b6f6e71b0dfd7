// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/kernel/fabric.hpp"

namespace llmscape::kernel {

// Transfers as fluids with max-min fair rates, on any clock: what the bare event queue has instead of SimGrid, and what
// SimGrid is tested against. A change costs O(flows x links).
class FluidFabric final : public Fabric {
 public:
  // When a transfer next starts to flow or ends; infinity: nothing moves.
  [[nodiscard]] Seconds next_event() const;
  // Does what is due at `now`, which next_event() named.
  void advance(Seconds now);

 protected:
  void start(Endpoint from, Endpoint to, const Route& route, Bytes bytes, Seconds now, Done done) override;
  void apply_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now) override;

 private:
  struct Flow {
    const Route* route;
    double left;  // bytes
    double rate;  // bytes per second
    Seconds begins, ends;
    bool flows;  // its latency is over
    Done done;
  };

  void share(Seconds now);

  std::vector<Flow> flows_;  // in the order in which they were started
  Seconds shared_;           // when rates were last set
};

}  // namespace llmscape::kernel
