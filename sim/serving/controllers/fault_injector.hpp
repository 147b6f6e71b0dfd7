// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <queue>
#include <vector>

#include "base/random.hpp"
#include "sim/serving/controllers.hpp"

namespace llmscape::serving {

// Something on which replicas stand breaks, at a known time.
struct Fault {
  Seconds at;
  Seconds lasts = kNever;  // kNever: for good
  std::vector<std::size_t> replicas;
};

// A device that breaks now and then: times between a repair and the next fault, and repairs, are exponential.
struct FailingDevice {
  Seconds mtbf, mttr;
  RandomStream stream;  // of its own, so that no other device disturbs it
  std::vector<std::size_t> replicas;
};

// Breaks and repairs replicas. A replica is down as long as anything is broken on which it stands, then loads its
// weights again.
class FaultInjector : public Controller {
 public:
  FaultInjector(std::vector<Fault> faults, std::vector<FailingDevice> devices, const FleetPlan& plan);
  [[nodiscard]] Seconds next_event() const override { return changes_.empty() ? kNever : changes_.top().at; }
  void act(Fleet& fleet, Seconds now) override;

 private:
  struct Change {
    Seconds at;
    bool repairs;       // at one instant, what is repaired comes before what breaks
    std::size_t fault;  // of faults_, then of devices_
    bool operator>(const Change& o) const {
      if (at != o.at) return at > o.at;
      return repairs != o.repairs ? !repairs : fault > o.fault;
    }
  };

  std::vector<Fault> faults_;
  std::vector<FailingDevice> devices_;
  FleetPlan plan_;
  std::priority_queue<Change, std::vector<Change>, std::greater<>> changes_;
};

}  // namespace llmscape::serving
