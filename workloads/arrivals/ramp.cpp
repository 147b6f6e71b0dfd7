// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrivals/kinds.hpp"
#include "workloads/kind.hpp"

#include <cmath>

namespace llmscape::workloads {
namespace {

struct Ramp : Arrivals {
  PerSecond from, to;
  Seconds over;
  std::unique_ptr<ArrivalClock> clock(RandomStream stream) const override;
};

// A Poisson process whose rate goes linearly from one value to another and stays there. The expected number of starts
// by time t, from t + (to - from) t^2 / (2 over), is inverted at the points of a unit Poisson process.
class RampClock : public ArrivalClock {
 public:
  RampClock(const Ramp& law, RandomStream stream)
      : from_(law.from.si()), to_(law.to.si()), over_(law.over.si()), stream_(stream) {}

  Seconds next() override {
    expected_ += stream_.exponential(1);
    const double on_ramp = (from_ + to_) / 2 * over_;
    if (expected_ > on_ramp) return to_ > 0 ? Seconds(over_ + (expected_ - on_ramp) / to_) : kNever;
    const double slope = (to_ - from_) / over_;
    // The form of the quadratic's root that loses no digits when the slope is small.
    return Seconds(2 * expected_ / (from_ + std::sqrt(std::max(0.0, from_ * from_ + 2 * slope * expected_))));
  }

 private:
  double from_, to_, over_;
  RandomStream stream_;
  double expected_ = 0;
};

std::unique_ptr<ArrivalClock> Ramp::clock(RandomStream stream) const {
  return std::make_unique<RampClock>(*this, stream);
}

}  // namespace

FamilyMember<Arrivals> ramp_arrivals() {
  static const Fields<Ramp> fields = [] {
    Fields<Ramp> f("arrivals/ramp", "poisson with a rate that rises or falls linearly, then stays: finds saturation");
    f.add("from", &Ramp::from, "rate at time 0").required().between(0, kHighestRate);
    f.add("to", &Ramp::to, "rate at the end of the ramp and after it").required().between(0, kHighestRate);
    f.add("over", &Ramp::over, "duration of the ramp").required().above(0).at_most(1e9);
    f.check([](const Ramp& law, const YamlNode& node, Diagnostics& diagnostics) {
      if (law.from.si() == 0 && law.to.si() == 0) diagnostics.error(node.where, "'from' or 'to' must be above 0 /s");
    });
    return f;
  }();
  return kind<Arrivals>("ramp", fields);
}

}  // namespace llmscape::workloads
