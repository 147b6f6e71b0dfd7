// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "sim/world/cables.hpp"

namespace llmscape::world {

// The ports of these replicas, and routes from each that sends KV entries to each that receives them: out of its port,
// where they are in other nodes over the network adapters of its devices and the cables between these, and in again.
// Replica i is endpoint i.
class Links {
 public:
  Links(kernel::Fabric& fabric, Cables& cables, const std::vector<Seat>& seats);
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  // As Fabric::move. Between replicas of several nodes each node sends what its devices hold to those that will hold
  // it, and in a topology of several planes an even part of that goes over each that leads to these. All have to
  // arrive. What is handed back ends them.
  std::function<void(Seconds)> move(std::size_t from, std::size_t to, Bytes bytes, Seconds now,
                                    kernel::Fabric::Done done);

 private:
  kernel::Fabric::Endpoint lane_of(std::size_t replica, std::size_t lane);

  kernel::Fabric& fabric_;
  // The share of each lane, where there are several, by sender and receiver.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> lanes_;
  std::map<std::pair<std::size_t, std::size_t>, kernel::Fabric::Endpoint> ends_;  // of later lanes, by receiver, lane
};

}  // namespace llmscape::world
