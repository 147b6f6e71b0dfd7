// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "sim/engine/node_traffic.hpp"
#include "sim/kernel/fabric.hpp"
#include "sim/serving/replica/step_exchange.hpp"
#include "sim/world/cables.hpp"

namespace llmscape::world {

// What a replica of several nodes, or ranks that step together, send from node to node in a step: one flow from a node
// to another one for all layers of the step, in each plane of the topology. A node sends no faster than its devices do
// in the closed form, so that a step takes as long as there while nobody is in the way. Latencies stay in the price;
// where those of the slowest way are larger, the step is longer by the rest of them for each message.
class Exchange final : public serving::StepExchange {
 public:
  // Of the devices of `all`, those of a rank after those of the one before; `first_replica` is the first of them.
  // `arrived` is called when the bytes of a step have arrived.
  Exchange(std::string name, const Seat& all, int first_replica, std::int64_t devices_of_rank,
           engine::NodeTraffic traffic, kernel::Fabric& fabric, std::function<void()> arrived);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void connect(Cables& cables);

  Share plan(int index, const models::Batch& batch) override;
  bool begin(Seconds now, std::function<void(Seconds at)> done) override;

 private:
  struct Part {                 // the devices in one node, and what they send in the step that is being planned
    Seat seat;                  // from the first of them on
    engine::NodeBytes sent;     // to all, and back from them
    std::vector<Bytes> around;  // to each part
    std::vector<kernel::Fabric::Endpoint> lanes;  // one for each plane; the first receives
  };
  struct Flow {
    std::size_t from, to;  // parts
    Bytes bytes;           // in each plane
  };
  using Flows = std::vector<Flow>;
  // Devices and nodes of one of the ranks.
  struct Rank {
    std::int64_t first_device, end_device;
    std::size_t first, last;  // parts
    // The part after `part` of the ring that its tensor ranks form, and of that over ranks with their counterparts.
    [[nodiscard]] std::size_t next_in(std::size_t part) const { return part == last ? first : part + 1; }
    [[nodiscard]] std::size_t next_by(std::size_t part, std::size_t parts) const {
      return (part + last - first + 1) % parts;
    }
  };
  [[nodiscard]] Rank rank(std::int64_t number) const;
  [[nodiscard]] std::int64_t devices_of(const Rank& rank, const Part& part) const;
  // What a part sends to another one; and what comes back, where ranks hold unlike numbers of tokens: after the former.
  [[nodiscard]] Bytes sent(std::size_t from, std::size_t to) const;
  [[nodiscard]] Bytes returned(std::size_t from, std::size_t to) const;
  [[nodiscard]] Flows flows(Bytes (Exchange::*bytes_of)(std::size_t, std::size_t) const) const;
  // `done` is called once all of at least one have arrived.
  void start(const Flows& flows, Seconds now, std::function<void(Seconds at)> done);

  std::string name_;
  int first_replica_;
  std::int64_t devices_of_rank_, first_device_;
  engine::NodeTraffic traffic_;
  kernel::Fabric& fabric_;
  std::function<void()> arrived_;
  std::vector<Part> parts_;
  Seconds in_rank_, by_rank_, to_all_;  // what a message takes on the slowest way of each, beyond its price
};

}  // namespace llmscape::world
