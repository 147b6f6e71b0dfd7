// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/kernel/kernel.hpp"
#include "sim/metrics/observer.hpp"
#include "sim/scenario/replica_size.hpp"
#include "sim/serving/replica/rank_group.hpp"
#include "sim/world/assemble.hpp"
#include "sim/world/exchanges.hpp"
#include "sim/world/links.hpp"
#include "sim/world/options.hpp"
#include "sim/world/tiers.hpp"
#include "sim/world/unread_overrides.hpp"

namespace llmscape::world {

// The replicas of all pools: pool after pool, group of devices after group, each with the process that wakes it and the
// recorder of its steps.
class Engines {
 public:
  Engines(const scenario::Scenario& scenario, const Options& options, serving::OutcomeListener& outcomes,
          metrics::WindowTracker& window, kernel::Kernel& kernel);
  ~Engines();
  Engines(const Engines&) = delete;
  Engines& operator=(const Engines&) = delete;

  // As the gateway wants them; once.
  std::vector<serving::Pool> pools() { return std::move(pools_); }
  [[nodiscard]] const std::vector<Seat>& seats() const { return seats_; }
  // Replicas whose collectives leave a node as flows.
  [[nodiscard]] bool exchanges() const { return !exchanges_.empty(); }
  // Lays the ways of these flows; before the run.
  void connect(Cables& cables);
  // Replica i has a message.
  void ring(std::size_t i);
  // Adds the processes to the kernel.
  void start();
  // The run ends at `now`: steps that are planned ahead for a time before it have run.
  void settle(Seconds now);
  // Devices that are shared are never used twice at once (INV-8). Throws std::logic_error.
  void check_invariants(Seconds now) const;
  void fill(Ended& parts) const;
  // What each replica has used by `now`, the present.
  std::vector<serving::StepUse> used_until(Seconds now);

 private:
  class Process;
  class StepRecorder;
  struct Built {
    const hardware::Device* device;
    const hardware::Device* drafting;  // of users; nullptr: none makes its drafts
    std::size_t pool;
    const serving::DeviceTurns* turns;
    bool first_stream;  // of those that share the stages of a pipeline
  };
  void add_pool(const scenario::PoolConfig& config);
  void add_group(const scenario::PoolConfig& config, std::size_t group);
  void add_process(const scenario::PoolConfig& config, Exchange* exchange);
  Exchange* exchange_of(const scenario::PoolConfig& config, const hardware::Device& priced, std::int64_t first);
  void add_replica(const scenario::PoolConfig& config, std::size_t group, const hardware::Device& priced,
                   const scenario::ReplicaSize& size, std::int64_t first, std::int64_t stream);
  // Of the kernels of the group that is being added, in a run of the intervals.
  void draw_factors(const scenario::PoolConfig& config, const hardware::Device& device, std::size_t group);
  // The steps of the next replica of a group, which have their tables in common with those of the first.
  std::unique_ptr<engine::EngineModel> bind(const scenario::PoolConfig& config, const hardware::Device& device);
  serving::DeviceTurns* turns_of(const scenario::PoolConfig& config, const hardware::Device& device,
                                 std::int64_t first_device);

  const scenario::Scenario& scenario_;
  OverrideWitness overrides_;
  const Options& options_;
  serving::OutcomeListener& outcomes_;
  metrics::WindowTracker& window_;
  kernel::Kernel& kernel_;
  std::vector<serving::Pool> pools_;
  Values gap_values_;                                  // between tokens, of all replicas
  std::map<std::string, metrics::PowerSeries> power_;  // by group of devices; dynamic
  std::deque<StepRecorder> recorders_;
  std::deque<serving::Pipeline> pipelines_;
  std::deque<Exchange> exchanges_;
  Exchange* last_exchange_ = nullptr;  // of ranks that are being added
  std::deque<serving::Replica> replicas_;
  std::deque<serving::RankGroup> rank_groups_;
  std::deque<Process> processes_;
  std::vector<std::size_t> process_of_;                                         // by replica
  std::map<std::pair<std::string, std::int64_t>, serving::DeviceTurns> turns_;  // by group and first device
  std::deque<std::shared_ptr<const hardware::Device>>
      variants_;  // devices with kernels of other engines than their own
  std::vector<Built> built_;
  std::vector<Seat> seats_;
  Tiers tiers_;
  std::shared_ptr<serving::StepWork> work_;  // of the pool's replicas that may share one
  std::vector<std::string> warnings_;
  const engine::EngineModel* first_of_group_ = nullptr;  // of the group that is being added
  std::optional<engine::TimeFactors> factors_;           // the same; nothing where no draw is run
};

}  // namespace llmscape::world
