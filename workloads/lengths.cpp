// SPDX-License-Identifier: Apache-2.0
#include "workloads/lengths.hpp"

#include "workloads/kind.hpp"
#include "workloads/truncated_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace llmscape::workloads {
namespace {

constexpr double kLongest = 1LL << 31;    // no context comes near it; keeps sums of lengths far from overflow
constexpr double kMostRanks = 1LL << 24;  // a zipf law holds one cumulative probability per length

template <class T>
void check_order(const T& lengths, const YamlNode& node, Diagnostics& diagnostics) {
  if (lengths.max && *lengths.max < lengths.min) diagnostics.error(node.where, "'max' must be at least 'min'");
}

template <class T>
Fields<T> clamped(std::string name, std::string text) {
  Fields<T> f("lengths/" + std::move(name), std::move(text));
  f.add("min", &T::min, "smaller values count as this").between(0, kLongest);
  f.add("max", &T::max, "larger values count as this").between(0, kLongest);
  f.check(&check_order<T>);
  return f;
}

template <class T>
Fields<T> ranged(std::string name, std::string text) {
  Fields<T> f("lengths/" + std::move(name), std::move(text));
  f.add("min", &T::min, "the smallest").required().between(0, kLongest);
  f.add("max", &T::max, "the largest").required().between(0, kLongest);
  f.check(&check_order<T>);
  return f;
}

struct Fixed : Lengths {
  std::int64_t value = 0;
  Fixed() { min = 0; }
  Law law() const override { return fixed_law(static_cast<double>(value)); }
};
FamilyMember<Lengths> fixed() {
  static const Fields<Fixed> fields = [] {
    Fields<Fixed> f("lengths/fixed", "always the same");
    f.add("value", &Fixed::value, "the length").required().between(0, kLongest);
    return f;
  }();
  return kind<Lengths>("fixed", fields);
}

struct Uniform : Lengths {
  // Each whole number owns an interval of width 1.
  Law law() const override { return uniform_law(static_cast<double>(min) - 0.5, static_cast<double>(*max) + 0.5); }
};
FamilyMember<Lengths> uniform() {
  static const Fields<Uniform> fields = ranged<Uniform>("uniform", "every whole number from min to max alike");
  return kind<Lengths>("uniform", fields);
}

// What log-normal and gamma have in common.
struct MeanAndSpread : Lengths {
  double mean = 1, cv = 1;
};
template <class T>
Fields<T> mean_and_spread(std::string name, std::string text) {
  Fields<T> f = clamped<T>(std::move(name), std::move(text));
  f.add("mean", &T::mean, "mean before clamping").required().above(0).at_most(kLongest);
  f.add("cv", &T::cv, "standard deviation / mean").required().above(0).at_most(100);
  return f;
}

struct LogNormal : MeanAndSpread {
  Law law() const override { return log_normal_law(mean, cv); }
};
FamilyMember<Lengths> log_normal() {
  static const Fields<LogNormal> fields =
      mean_and_spread<LogNormal>("log_normal", "log-normal: many short, few very long");
  return kind<Lengths>("log_normal", fields);
}

struct Gamma : MeanAndSpread {
  Law law() const override { return gamma_law(mean, cv); }
};
FamilyMember<Lengths> gamma() {
  static const Fields<Gamma> fields = mean_and_spread<Gamma>("gamma", "gamma: spread without a heavy tail");
  return kind<Lengths>("gamma", fields);
}

struct Geometric : Lengths {
  double mean = 1;
  Law law() const override { return geometric_law(mean); }
};
FamilyMember<Lengths> geometric() {
  static const Fields<Geometric> fields = [] {
    auto f = clamped<Geometric>("geometric", "goes on each time with the same chance: turns, calls");
    f.add("mean", &Geometric::mean, "mean before clamping").required().between(1, kLongest);
    return f;
  }();
  return kind<Lengths>("geometric", fields);
}

struct PowerLaw : Lengths {
  double exponent = 1;
  Law law() const override { return zipf_law(min, *max, exponent); }
};
FamilyMember<Lengths> zipf() {
  static const Fields<PowerLaw> fields = [] {
    auto f = ranged<PowerLaw>("zipf", "from min to max, the k-th with probability proportional to 1 / k^exponent");
    f.add("exponent", &PowerLaw::exponent, "how fast frequency falls").required().between(0, 10);
    f.check([](const PowerLaw& law, const YamlNode& node, Diagnostics& diagnostics) {
      if (static_cast<double>(*law.max - law.min) >= kMostRanks)
        diagnostics.error(node.where, "a zipf law covers at most 16_777_216 lengths");
    });
    return f;
  }();
  return kind<Lengths>("zipf", fields);
}

struct Observed : Lengths {
  std::vector<double> values, weights;
  Law law() const override { return empirical_law(values, weights); }
};
FamilyMember<Lengths> empirical() {
  static const Fields<Observed> fields = [] {
    auto f = clamped<Observed>("empirical", "one of the observed values");
    f.add("values", &Observed::values, "observed lengths").required().between(0, kLongest);
    f.add("weights", &Observed::weights, "how often each value occurs; all alike if absent").at_least(0);
    f.check([](const Observed& o, const YamlNode& node, Diagnostics& diagnostics) {
      if (o.values.empty()) diagnostics.error(node.where, "'values' must hold at least one length");
      if (o.weights.empty()) return;
      if (o.weights.size() != o.values.size()) diagnostics.error(node.where, "'weights' must be as many as 'values'");
      if (std::all_of(o.weights.begin(), o.weights.end(), [](double w) { return w == 0; }))
        diagnostics.error(node.where, "one of the 'weights' must be above 0");
    });
    return f;
  }();
  return kind<Lengths>("empirical", fields);
}

struct Quantiles : Lengths {
  std::vector<double> shares, values;
  Law law() const override { return quantile_law(shares, values); }
};
FamilyMember<Lengths> quantiles() {
  static const Fields<Quantiles> fields = [] {
    auto f = clamped<Quantiles>("quantiles", "by published quantiles, linear in between");
    f.add("shares", &Quantiles::shares, "rising from 0 to 1: the share of lengths below each value")
        .required()
        .between(0, 1);
    f.add("values", &Quantiles::values, "the length at each share, not falling").required().between(0, kLongest);
    f.check([](const Quantiles& q, const YamlNode& node, Diagnostics& diagnostics) {
      if (q.shares.size() != q.values.size()) diagnostics.error(node.where, "'shares' must be as many as 'values'");
      const bool rises = std::adjacent_find(q.shares.begin(), q.shares.end(), std::greater_equal<>()) == q.shares.end();
      if (q.shares.empty() || q.shares.front() != 0 || q.shares.back() != 1 || !rises)
        diagnostics.error(node.where, "'shares' must rise from 0 to 1");
      if (!std::is_sorted(q.values.begin(), q.values.end())) diagnostics.error(node.where, "'values' must not fall");
    });
    return f;
  }();
  return kind<Lengths>("quantiles", fields);
}

}  // namespace

const Family<Lengths>& lengths() {
  static const Family<Lengths> family("lengths", "kind",
                                      {fixed(), uniform(), log_normal(), gamma(), geometric(), zipf(), empirical(),
                                       quantiles(), truncated_log_normal_lengths()});
  return family;
}

LengthDraws::LengthDraws(const Lengths& lengths, RandomStream stream)
    : law_(lengths.law()), min_(static_cast<double>(lengths.min)),
      max_(lengths.max ? static_cast<double>(*lengths.max) : kLongest), stream_(stream) {}

std::int64_t LengthDraws::next() {
  return static_cast<std::int64_t>(std::clamp(std::round(law_(stream_)), min_, max_));
}

}  // namespace llmscape::workloads
