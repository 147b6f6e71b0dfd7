// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrivals/drifting.hpp"
#include "workloads/arrivals/kinds.hpp"
#include "workloads/kind.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::workloads {
namespace {

constexpr std::size_t kMostDrifts = 8;  // fano() goes through their subsets

class DriftingClock : public ArrivalClock {
 public:
  DriftingClock(const DriftingArrivals& law, RandomStream stream) : rate_(law.rate.si()), stream_(stream) {
    for (const Drift& drift : law.drifts) {
      Level& level = levels_.emplace_back();
      level.shape = 1 / (drift.cv * drift.cv);
      level.time = drift.time.si();
      redraw(level);
    }
    find_rate();
  }

  Seconds next() override {
    // The expected number of starts, inverted at the points of a unit Poisson process, from one change of a level to
    // the next.
    double left = stream_.exponential(1);
    while (left > (until_ - now_) * current_) {
      left -= (until_ - now_) * current_;
      now_ = until_;
      for (Level& level : levels_)
        if (level.until <= now_) redraw(level);
      find_rate();
    }
    now_ = std::min(until_, now_ + left / current_);
    return Seconds(now_);
  }

 private:
  struct Level {
    double shape = 1, time = 1, value = 1, until = 0;
  };

  void redraw(Level& level) {
    level.value = stream_.gamma(level.shape, 1 / level.shape);
    level.until = now_ + stream_.exponential(level.time);
  }
  void find_rate() {
    current_ = rate_;
    until_ = kNever.si();
    for (const Level& level : levels_) {
      current_ *= level.value;
      until_ = std::min(until_, level.until);
    }
  }

  double rate_;
  RandomStream stream_;
  std::vector<Level> levels_;
  double now_ = 0, until_ = 0, current_ = 0;  // the rate is current_ until until_
};

const Fields<Drift>& drift_fields() {
  static const Fields<Drift> fields = [] {
    Fields<Drift> f("drift", "a level of the rate that lasts for a while");
    f.add("cv", &Drift::cv, "standard deviation / mean of the levels, which follow a gamma law")
        .required()
        .above(0)
        .at_most(100);
    f.add("time", &Drift::time, "mean time that a level lasts, exponential").required().above(0).at_most(1e9);
    return f;
  }();
  return fields;
}

void check_drifts(const DriftingArrivals& law, const YamlNode& node, Diagnostics& diagnostics) {
  if (law.drifts.size() > kMostDrifts)
    diagnostics.error(node.where, "at most 8 drifts: each pair of them is a drift of its own already");
  for (const Drift& drift : law.drifts)
    // Each level costs two draws: with fewer arrivals than this a run would do nothing else.
    if (law.rate * drift.time < 1e-4)
      diagnostics.error(node.where, "'rate' x 'time' of a drift must be at least 0.0001 programs");
}

}  // namespace

std::unique_ptr<ArrivalClock> DriftingArrivals::clock(RandomStream stream) const {
  return std::make_unique<DriftingClock>(*this, stream);
}

double fano_of_drift(double time, double window) {
  const double turns = window / time;
  // By its series where the difference would lose its digits.
  const double rest = turns < 1e-3 ? turns * turns / 2 * (1 - turns / 3) : turns + std::expm1(-turns);
  return 2 * time * time * rest / window;
}

double fano(const DriftingArrivals& arrivals, Seconds window) {
  double sum = 0;
  for (std::size_t set = 1; set < std::size_t{1} << arrivals.drifts.size(); ++set) {
    double variance = 1, turns = 0;
    for (std::size_t i = 0; i < arrivals.drifts.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      variance *= arrivals.drifts[i].cv * arrivals.drifts[i].cv;
      turns += 1 / arrivals.drifts[i].time.si();
    }
    sum += variance * fano_of_drift(1 / turns, window.si());
  }
  return 1 + arrivals.rate.si() * sum;
}

FamilyMember<Arrivals> drifting_arrivals() {
  static const Fields<DriftingArrivals> fields = [] {
    Fields<DriftingArrivals> f(
        "arrivals/drifting", "poisson with a rate that drifts: bursts and slow changes, as recorded traffic has them");
    f.add("rate", &DriftingArrivals::rate, "programs started per second in the long run")
        .required()
        .above(0)
        .at_most(kHighestRate);
    f.add_group("drifts", &DriftingArrivals::drifts, drift_fields(), "levels that the rate is multiplied with");
    f.check(&check_drifts);
    return f;
  }();
  return kind<Arrivals>("drifting", fields);
}

}  // namespace llmscape::workloads
