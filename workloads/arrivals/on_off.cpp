// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrivals/kinds.hpp"
#include "workloads/kind.hpp"

namespace llmscape::workloads {
namespace {

struct OnOff : Arrivals {
  PerSecond rate;
  Seconds on, off;
  std::unique_ptr<ArrivalClock> clock(RandomStream stream) const override;
  std::optional<PerSecond> mean_rate() const override { return rate * (on / (on + off)); }
};

// A Poisson process that runs only while the source is on; the state at time 0 is drawn from the long-run shares.
class OnOffClock : public ArrivalClock {
 public:
  OnOffClock(const OnOff& law, RandomStream stream)
      : gap_(1 / law.rate.si()), on_(law.on.si()), off_(law.off.si()), stream_(stream) {
    if (!stream_.chance(on_ / (on_ + off_))) now_ = stream_.exponential(off_);
    on_until_ = now_ + stream_.exponential(on_);
  }

  Seconds next() override {
    // An exponential gap has no memory, so one that the end of an on-period cuts is simply drawn again.
    for (double start = now_ + stream_.exponential(gap_);; start = now_ + stream_.exponential(gap_)) {
      if (start <= on_until_) return Seconds(now_ = start);
      now_ = on_until_ + stream_.exponential(off_);
      on_until_ = now_ + stream_.exponential(on_);
    }
  }

 private:
  double gap_, on_, off_;
  RandomStream stream_;
  double now_ = 0, on_until_ = 0;
};

std::unique_ptr<ArrivalClock> OnOff::clock(RandomStream stream) const {
  return std::make_unique<OnOffClock>(*this, stream);
}

}  // namespace

FamilyMember<Arrivals> on_off_arrivals() {
  static const Fields<OnOff> fields = [] {
    Fields<OnOff> f("arrivals/on_off", "poisson while a source is on, silent while it is off");
    f.add("rate", &OnOff::rate, "programs started per second while on").required().above(0).at_most(kHighestRate);
    f.add("on", &OnOff::on, "mean duration of an on-period, exponential").required().above(0).at_most(1e9);
    f.add("off", &OnOff::off, "mean duration of an off-period, exponential").required().above(0).at_most(1e9);
    f.check([](const OnOff& law, const YamlNode& node, Diagnostics& diagnostics) {
      // Each period costs a draw: with fewer arrivals than this a run would do nothing else.
      if (law.rate * law.on < 1e-4) diagnostics.error(node.where, "'rate' x 'on' must be at least 0.0001 programs");
    });
    return f;
  }();
  return kind<Arrivals>("on_off", fields);
}

}  // namespace llmscape::workloads
