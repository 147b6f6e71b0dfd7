// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "sim/kernel/fabric.hpp"

namespace llmscape::kernel {

// Transfers as fluids with max-min fair rates, on any clock: what plans all transfers, on the bare event queue alone,
// on SimGrid beside SimGrid's own. A change costs a few operations for each flow, and O(links) for each route that
// flows take.
class FluidFabric : public Fabric {
 public:
  // When a transfer next starts to flow or ends; infinity: nothing moves.
  [[nodiscard]] Seconds next_event() const { return next_; }
  // Does what is due until `now`, which is not after next_event().
  void advance(Seconds now);

 protected:
  void start(Endpoint from, Endpoint to, const Route& route, Bytes bytes, Seconds now, Done done) override;
  void apply_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now) override;

  // What flows over one route: all have the same rate.
  struct Lane {
    std::size_t flows = 0;
    double rate = 0;
  };
  struct Flow {
    std::uint64_t id;  // of this transfer alone
    Endpoint from, to;
    const Route* route;
    Lane* lane;   // of the route
    double left;  // bytes
    double rate;  // bytes per second
    Seconds begins, ends;
    bool flows;  // its latency is over
    bool lost;   // a link on its way was down while it flowed
    Done done;
  };
  // The first byte of a transfer leaves, with every link on its way up; a transfer has ended, or is lost.
  virtual void on_begin(const Flow&) {}
  virtual void on_end(const Flow&) {}

 private:
  void share(Seconds now);
  void move_on(Seconds now);
  void look_ahead();

  std::vector<std::unique_ptr<Flow>> flows_;  // in the order in which they were started
  std::map<const Route*, Lane> lanes_;        // never iterated where the order counts
  std::uint64_t started_ = 0;
  Seconds shared_;  // when rates were last set
  Seconds next_{std::numeric_limits<double>::infinity()};
};

}  // namespace llmscape::kernel
