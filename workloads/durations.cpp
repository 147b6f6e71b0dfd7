// SPDX-License-Identifier: Apache-2.0
#include "workloads/durations.hpp"

#include "workloads/kind.hpp"

#include <algorithm>

namespace llmscape::workloads {
namespace {

constexpr double kLongest = 1e9;  // 32 years; longer is a mistake

struct Fixed : Durations {
  Seconds value;
  Law law() const override { return fixed_law(value.si()); }
};
FamilyMember<Durations> fixed() {
  static const Fields<Fixed> fields = [] {
    Fields<Fixed> f("durations/fixed", "always the same");
    f.add("value", &Fixed::value, "the time").required().between(0, kLongest);
    return f;
  }();
  return kind<Durations>("fixed", fields);
}

struct Uniform : Durations {
  Seconds min;
  Law law() const override { return uniform_law(min.si(), max->si()); }
};
FamilyMember<Durations> uniform() {
  static const Fields<Uniform> fields = [] {
    Fields<Uniform> f("durations/uniform", "every time from min to max alike");
    f.add("min", &Uniform::min, "the shortest").required().between(0, kLongest);
    f.add("max", &Uniform::max, "the longest").required().between(0, kLongest);
    f.check([](const Uniform& u, const YamlNode& node, Diagnostics& diagnostics) {
      if (*u.max < u.min) diagnostics.error(node.where, "'max' must be at least 'min'");
    });
    return f;
  }();
  return kind<Durations>("uniform", fields);
}

struct WithMean : Durations {
  Seconds mean;
};
template <class T>
Fields<T> with_mean(std::string name, std::string text) {
  Fields<T> f("durations/" + std::move(name), std::move(text));
  f.add("mean", &T::mean, "mean before the limit").required().above(0).at_most(kLongest);
  f.add("max", &T::max, "longer times count as this").above(0).at_most(kLongest);
  return f;
}

struct Exponential : WithMean {
  Law law() const override { return exponential_law(mean.si()); }
};
FamilyMember<Durations> exponential() {
  static const Fields<Exponential> fields = with_mean<Exponential>("exponential", "without memory: cv 1");
  return kind<Durations>("exponential", fields);
}

struct WithSpread : WithMean {
  double cv = 1;
};
template <class T>
Fields<T> with_spread(std::string name, std::string text) {
  Fields<T> f = with_mean<T>(std::move(name), std::move(text));
  f.add("cv", &T::cv, "standard deviation / mean").required().above(0).at_most(100);
  return f;
}

struct LogNormal : WithSpread {
  Law law() const override { return log_normal_law(mean.si(), cv); }
};
FamilyMember<Durations> log_normal() {
  static const Fields<LogNormal> fields = with_spread<LogNormal>("log_normal", "log-normal: many short, few very long");
  return kind<Durations>("log_normal", fields);
}

struct Gamma : WithSpread {
  Law law() const override { return gamma_law(mean.si(), cv); }
};
FamilyMember<Durations> gamma() {
  static const Fields<Gamma> fields = with_spread<Gamma>("gamma", "gamma: spread without a heavy tail");
  return kind<Durations>("gamma", fields);
}

struct Pareto : WithMean {
  double shape = 2;
  Law law() const override { return pareto_law(mean.si(), shape); }
};
FamilyMember<Durations> pareto() {
  static const Fields<Pareto> fields = [] {
    auto f = with_mean<Pareto>("pareto", "power-law tail: the longest dominate");
    f.add("shape", &Pareto::shape, "tail index; at 2 and below the variance is infinite")
        .required()
        .above(1)
        .at_most(100);
    return f;
  }();
  return kind<Durations>("pareto", fields);
}

}  // namespace

const Family<Durations>& durations() {
  static const Family<Durations> family("durations", "kind",
                                        {fixed(), uniform(), exponential(), log_normal(), gamma(), pareto()});
  return family;
}

DurationDraws::DurationDraws(const Durations& durations, RandomStream stream)
    : law_(durations.law()), max_(durations.max.value_or(Seconds(kLongest)).si()), stream_(stream) {}

Seconds DurationDraws::next() { return Seconds(std::min(law_(stream_), max_)); }

}  // namespace llmscape::workloads
