// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrivals/kinds.hpp"
#include "workloads/kind.hpp"

namespace llmscape::workloads {
namespace {

class BurstClock : public ArrivalClock {
 public:
  explicit BurstClock(std::int64_t programs) : left_(programs) {}
  Seconds next() override { return left_-- > 0 ? Seconds(0) : kNever; }

 private:
  std::int64_t left_;
};

struct Burst : Arrivals {
  std::int64_t programs = 1;
  std::unique_ptr<ArrivalClock> clock(RandomStream) const override { return std::make_unique<BurstClock>(programs); }
  bool ends() const override { return true; }
};

}  // namespace

FamilyMember<Arrivals> burst_arrivals() {
  static const Fields<Burst> fields = [] {
    Fields<Burst> f("arrivals/burst", "all programs at time 0: an offline batch");
    f.add("programs", &Burst::programs, "how many, all of which are held in memory at once").required().between(1, 1e7);
    return f;
  }();
  return kind<Arrivals>("burst", fields);
}

}  // namespace llmscape::workloads
