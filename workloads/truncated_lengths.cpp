// SPDX-License-Identifier: Apache-2.0
#include "workloads/truncated_lengths.hpp"
#include "workloads/kind.hpp"
#include "workloads/lengths.hpp"

#include <cmath>
#include <numbers>

namespace llmscape::workloads {
namespace {

constexpr double kLongest = 1LL << 31;  // as for the other lengths
constexpr double kLeastShare = 0.001;   // of the whole law, that is kept: else a draw would take too many

struct TruncatedLogNormal : Lengths {
  double log_mean = 0, log_sd = 1;
  [[nodiscard]] double share_below(double length) const {
    return 0.5 * std::erfc((log_mean - std::log(length)) / log_sd * std::numbers::sqrt2 / 2);
  }
  [[nodiscard]] Law law() const override {
    return [low = static_cast<double>(min), high = static_cast<double>(*max), log_mean = log_mean,
            log_sd = log_sd](RandomStream& stream) {
      for (;;)
        if (const double length = stream.log_normal(log_mean, log_sd); low <= length && length <= high) return length;
    };
  }
};

}  // namespace

FamilyMember<Lengths> truncated_log_normal_lengths() {
  static const Fields<TruncatedLogNormal> fields = [] {
    using L = TruncatedLogNormal;
    Fields<L> f("lengths/truncated_log_normal", "log-normal, drawn again where it leaves the range from min to max");
    f.add("log_mean", &L::log_mean, "mean of the natural logarithm before truncation").required().between(-20, 20);
    f.add("log_sd", &L::log_sd, "standard deviation of the natural logarithm before truncation")
        .required()
        .above(0)
        .at_most(10);
    f.add("min", &L::min, "the smallest").required().between(1, kLongest);
    f.add("max", &L::max, "the largest").required().between(1, kLongest);
    f.check([](const L& lengths, const YamlNode& node, Diagnostics& diagnostics) {
      const auto low = static_cast<double>(lengths.min), high = static_cast<double>(*lengths.max);
      if (lengths.share_below(high) - lengths.share_below(low) < kLeastShare)
        diagnostics.error(node.where, "less than 0.1 % of the law lies between 'min' and 'max'");
    });
    return f;
  }();
  return kind<Lengths>("truncated_log_normal", fields);
}

}  // namespace llmscape::workloads
