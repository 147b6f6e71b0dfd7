// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "hardware/retrieval/retrieval.hpp"
#include "sim/metrics/observer.hpp"
#include "sim/result/portion.hpp"
#include "sim/serving/gateway/gateway.hpp"

namespace llmscape::result {

// What a run leaves behind for its result, whatever scenario it was; one entry per replica.
struct Parts {
  const metrics::Observer& observer;
  const std::optional<hardware::Retrieval>& retrieval;  // hosts that search
  const metrics::WindowTracker& window;
  const Edges& edges;  // of the window
  std::vector<const serving::Replica*> replicas;
  std::vector<const hardware::Device*> devices;
  std::vector<const hardware::Device*> drafting;   // of users; nullptr: none makes its drafts
  std::vector<const Moments*> gaps;                // between tokens, and
  std::vector<std::size_t> pools;                  // of the scenario's, where the replica stood at first
  std::vector<const serving::DeviceTurns*> turns;  // nullptr where the replica has its devices alone
  std::vector<std::int64_t> devices_of_replica;
  std::vector<std::int64_t> devices_counted;      // the same, but 0 where one before it has the same ones
  std::vector<std::vector<std::size_t>> tenants;  // replicas that take turns on its devices; none: it has them alone
  const Values* gap_values = nullptr;             // those of all replicas
  const std::map<std::string, metrics::PowerSeries>* power = nullptr;  // by group of devices; dynamic
};

// "drafts on snapdragon-8-elite": what stands for such devices among the groups of devices.
inline std::string name_of_drafting(const hardware::Device& device) { return "drafts on " + device.name; }

}  // namespace llmscape::result
