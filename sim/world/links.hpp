// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "sim/world/cables.hpp"

namespace llmscape::world {

// The ports of these replicas, and routes from each that sends KV entries to each that receives them: out of its port,
// over the cables between their nodes where they are in others, and in again. Replica i is endpoint i.
class Links {
 public:
  Links(kernel::Fabric& fabric, Cables& cables, const std::vector<Seat>& seats);
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;

  // As Fabric::move. In a topology of several planes an even part of the bytes goes over each of those that lead to the
  // receiver's devices, and all of them have to arrive.
  void move(std::size_t from, std::size_t to, Bytes bytes, Seconds now, kernel::Fabric::Done done);

 private:
  kernel::Fabric::Endpoint lane_of(std::size_t replica, std::size_t lane);

  kernel::Fabric& fabric_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> lanes_;  // how many, where several, by sender and receiver
  std::map<std::pair<std::size_t, std::size_t>, kernel::Fabric::Endpoint> ends_;  // of later lanes, by receiver, lane
};

}  // namespace llmscape::world
