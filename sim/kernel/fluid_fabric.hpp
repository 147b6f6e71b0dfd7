// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <ranges>
#include <vector>

#include "base/indexed_heap.hpp"
#include "sim/kernel/binding_links.hpp"
#include "sim/kernel/fabric.hpp"
#include "sim/kernel/max_min.hpp"

namespace llmscape::kernel {

// Transfers as fluids with max-min fair rates, on any clock: what plans all transfers, on the bare event queue alone,
// on SimGrid beside SimGrid's own.
//
// Flows that the same links can hold back have one rate, so that each has got as much as the others since it began.
// They are a lane, which keeps that service as a clock of its own, V(t) = the integral of the rate of a flow, and a
// flow that begins at V ends when V has gone on by its bytes (virtual time, as in weighted fair queueing: A. Parekh and
// R. Gallager, 1993). What changes rates moves lanes, not flows: it costs O(log flows), and O(links) for each lane that
// shares some with others.
class FluidFabric : public Fabric {
 public:
  // When a transfer next starts to flow or ends; infinity: nothing moves.
  [[nodiscard]] Seconds next_event() const;
  // Does what is due until `now`, which is not after next_event().
  void advance(Seconds now);
  void cancel(Transfer transfer, Seconds now) override;
  // So often a flow or a lane was looked at: what the work of all transfers grows with.
  [[nodiscard]] std::int64_t visits() const { return visits_ + rates_.visits(); }

 protected:
  Transfer start(Endpoint from, Endpoint to, const Route& route, Bytes bytes, Seconds now, Done done) override;
  void apply_bandwidth(Link link, BytesPerSecond bandwidth, Seconds now) override;
  void add_moving(std::vector<Bytes>& carried, Seconds now) const override;

  struct Flow {
    std::uint64_t id;  // of this transfer alone
    Endpoint from, to;
    const Route* route;
    Bytes bytes;
    Seconds begins;     // its latency is over
    Seconds ends;       // known when it has ended
    double until = 0;   // service of its lane with which it ends, bytes; outside of one, its own bytes
    bool lost = false;  // a link on its way was down while it flowed
    Done done{};
  };
  // The first byte of a transfer leaves, with every link on its way up; a transfer has ended, or is lost.
  virtual void on_begin(const Flow&) {}
  virtual void on_end(const Flow&) {}
  // Transfers between the two, but for those that are lost.
  [[nodiscard]] std::size_t under_way() const { return under_way_; }

 private:
  using Flows = std::vector<std::unique_ptr<Flow>>;
  // What flows over the same binding links.
  struct Lane {
    Flows flows;        // a heap, the next one to end in front
    double served = 0;  // at `since`, bytes for each flow since the lane was empty
    double rate = 0;    // bytes per second of each flow
    Seconds since;
  };

  void lay_lanes(Seconds now);
  std::size_t lane_of(const Route& route);
  [[nodiscard]] static Seconds end_of(const Lane& lane);
  static void move_on(Lane& lane, Seconds now);
  [[nodiscard]] static Bytes moved(const Flow& flow, const Lane& lane, Seconds now);
  void begin(std::unique_ptr<Flow> flow, Seconds now);
  void enter(std::unique_ptr<Flow> flow, Seconds now);
  void end_first(std::size_t lane, Flows& ended, Seconds now);
  void left(std::size_t lane);
  void lose(std::unique_ptr<Flow> flow, Seconds now);
  void lose_over(Link link, Seconds now);
  void take_out(std::size_t lane, std::ranges::subrange<Flows::iterator> lost, Seconds now);
  void share(Seconds now);
  [[nodiscard]] std::vector<double> bandwidths() const;

  Flows waiting_;  // for the end of their latency: a heap, the first one in front
  BindingLinks binding_;
  std::vector<Lane> lanes_;                                  // crowds of rates_
  std::map<std::vector<Link>, std::size_t> lanes_by_links_;  // binding ones of a path
  std::vector<std::uint32_t> lanes_by_route_;                // by its number, where one is known
  MaxMinRates rates_;
  IndexedHeap<Seconds> ends_;  // of lanes with flows, when their first one ends
  Flows lost_;                 // that nobody was told of yet
  Seconds lost_at_;            // the last of them
  std::uint64_t started_ = 0;
  std::size_t under_way_ = 0;
  std::int64_t visits_ = 0;
};

}  // namespace llmscape::kernel
