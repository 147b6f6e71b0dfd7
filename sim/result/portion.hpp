// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "sim/serving/gateway/gateway.hpp"
#include "sim/serving/replica/replica.hpp"

namespace llmscape::result {

struct Parts;

// What had been used by an instant of the run: kept at the edges of its window.
struct Edge {
  Seconds at;
  std::vector<serving::StepUse> replicas;  // by replica
  Seconds searching;                       // cores of retrieval hosts
};
using Edges = std::array<std::optional<Edge>, 2>;  // by metrics::WindowTracker::Edge

// What was used between two instants.
struct Portion {
  Seconds from, to;
  std::vector<serving::StepUse> replicas;
  Seconds searching;
  [[nodiscard]] Seconds length() const { return to - from; }
  // The time in it that a replica was switched on, and that its devices were: those of models that take turns are while
  // any of the replicas is.
  [[nodiscard]] Seconds provisioned(const serving::Gateway& gateway, std::size_t replica) const;
  [[nodiscard]] Seconds devices_on(const Parts& parts, const serving::Gateway& gateway, std::size_t replica) const;
};

// When the devices of a replica were switched on, until `end`.
std::vector<serving::Provisioned::Span> devices_on(const Parts& parts, const serving::Gateway& gateway,
                                                   std::size_t replica, Seconds end);

// The whole run, and the part between two edges; absent ones are its start and its end.
Portion whole_run(const Parts& parts, const serving::Gateway& gateway, Seconds end);
Portion between(const std::optional<Edge>& from, const std::optional<Edge>& to, Portion whole);

}  // namespace llmscape::result
