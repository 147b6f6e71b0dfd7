// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrivals/kinds.hpp"
#include "workloads/kind.hpp"

namespace llmscape::workloads {
namespace {

// Nothing starts by the clock.
class SilentClock : public ArrivalClock {
 public:
  Seconds next() override { return kNever; }
};

struct ClosedLoop : Arrivals {
  int number = 1;
  std::shared_ptr<const Durations> pause;
  std::unique_ptr<ArrivalClock> clock(RandomStream) const override { return std::make_unique<SilentClock>(); }
  int users() const override { return number; }
  const Durations* think() const override { return pause.get(); }
};

}  // namespace

FamilyMember<Arrivals> closed_loop_arrivals() {
  static const Fields<ClosedLoop> fields = [] {
    Fields<ClosedLoop> f("arrivals/closed_loop", "users who each start a program when their last one has ended");
    f.add("users", &ClosedLoop::number, "how many; all start at time 0").required().between(1, 10'000'000);
    f.add_family("think", &ClosedLoop::pause, durations(), "time between the end and the next start; none if absent");
    return f;
  }();
  return kind<Arrivals>("closed_loop", fields);
}

}  // namespace llmscape::workloads
