// SPDX-License-Identifier: Apache-2.0
#include "workloads/arrivals/kinds.hpp"
#include "workloads/kind.hpp"
#include "workloads/laws.hpp"

#include <cmath>

namespace llmscape::workloads {
namespace {

// Starts whose gaps are independent draws of one law; the first comes one gap after time 0.
class RenewalClock : public ArrivalClock {
 public:
  RenewalClock(Law gap, RandomStream stream) : gap_(std::move(gap)), stream_(stream) {}
  Seconds next() override { return now_ += Seconds(gap_(stream_)); }

 private:
  Law gap_;
  RandomStream stream_;
  Seconds now_;
};

struct Renewal : Arrivals {
  PerSecond rate;
  std::unique_ptr<ArrivalClock> clock(RandomStream stream) const override {
    return std::make_unique<RenewalClock>(gap(), stream);
  }
  std::optional<PerSecond> mean_rate() const override { return rate; }
  // Its mean is 1 / rate.
  [[nodiscard]] virtual Law gap() const = 0;
};

template <class T>
Fields<T> with_rate(std::string name, std::string text) {
  Fields<T> f("arrivals/" + std::move(name), std::move(text));
  f.add("rate", &T::rate, "programs started per second").required().above(0).at_most(kHighestRate);
  return f;
}

struct Poisson : Renewal {
  Law gap() const override { return exponential_law(1 / rate.si()); }
};

struct Gamma : Renewal {
  double cv = 1;
  Law gap() const override { return gamma_law(1 / rate.si(), cv); }
};

struct Weibull : Renewal {
  double shape = 1;
  Law gap() const override {
    const double scale = 1 / (rate.si() * std::tgamma(1 + 1 / shape));  // the mean gap is scale * Gamma(1 + 1 / shape)
    return [law_shape = shape, scale](RandomStream& stream) { return stream.weibull(law_shape, scale); };
  }
};

struct Periodic : Renewal {
  Law gap() const override { return fixed_law(1 / rate.si()); }
};

}  // namespace

FamilyMember<Arrivals> poisson_arrivals() {
  static const Fields<Poisson> fields = with_rate<Poisson>("poisson", "independent starts at a constant rate");
  return kind<Arrivals>("poisson", fields);
}

FamilyMember<Arrivals> gamma_arrivals() {
  static const Fields<Gamma> fields = [] {
    auto f = with_rate<Gamma>("gamma", "gaps by a gamma law: burstier than poisson with cv above 1");
    f.add("cv", &Gamma::cv, "standard deviation / mean of the gaps").required().above(0).at_most(100);
    return f;
  }();
  return kind<Arrivals>("gamma", fields);
}

FamilyMember<Arrivals> weibull_arrivals() {
  static const Fields<Weibull> fields = [] {
    auto f = with_rate<Weibull>("weibull", "gaps by a Weibull law: burstier than poisson with shape below 1");
    f.add("shape", &Weibull::shape, "shape of the gaps' law; 1 is poisson").required().between(0.05, 100);
    return f;
  }();
  return kind<Arrivals>("weibull", fields);
}

FamilyMember<Arrivals> periodic_arrivals() {
  static const Fields<Periodic> fields = with_rate<Periodic>("periodic", "starts at equal distances");
  return kind<Arrivals>("periodic", fields);
}

}  // namespace llmscape::workloads
