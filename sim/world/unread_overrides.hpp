// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sim/scenario/scenario.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace llmscape::world {

class PriceMemory;

// Finds the figures of devices that the user laid over a description and that nothing in a run depends on: the
// bandwidth of links under one rank, the peak of a format that no operator has, a cap that no step reaches. The device
// is read again with the figure doubled, and halved; a limit (tdp, power_limit) raised or taken away. What the run
// takes from it beside steps is compared at once: memory, idle power, area, loads. Steps are compared as the run prices
// them, until one has another price; most figures are read by the first. A run without such figures pays nothing. Of a
// figure that nothing reads, the first 20,000 steps of a pool's replicas are looked at, and of those that follow each
// that has more sequences or more tokens than all before it: a fleet costs as much as a replica.
class OverrideWitness {
 public:
  // `memory`: of runs before, or none.
  explicit OverrideWitness(const scenario::Scenario& scenario, PriceMemory* memory = nullptr);
  ~OverrideWitness();
  OverrideWitness(const OverrideWitness&) = delete;
  OverrideWitness& operator=(const OverrideWitness&) = delete;

  // The steps of a replica of a group of devices, watched where there is something to watch. The witness outlives them.
  std::unique_ptr<engine::EngineModel> watched(std::unique_ptr<engine::EngineModel> steps,
                                               const scenario::PoolConfig& pool, std::size_t group);
  // Of the figures that were not read so far a sentence each that begins with the figure's path.
  [[nodiscard]] std::vector<std::string> warnings() const;
  // Steps that were looked at: must not grow with the replicas of a pool (test).
  [[nodiscard]] std::int64_t compared() const;

 private:
  struct Figure;
  struct Timeline;
  class Watch;
  class Watched;
  std::unique_ptr<Watch> make_watch(const scenario::PoolConfig& pool, std::size_t group);

  const scenario::Scenario& scenario_;
  std::deque<Figure> figures_;
  std::map<std::pair<const scenario::PoolConfig*, std::size_t>, std::unique_ptr<Watch>> watches_;
};

}  // namespace llmscape::world
