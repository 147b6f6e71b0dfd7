// SPDX-License-Identifier: Apache-2.0
#include "hardware/size_correction.hpp"

#include "base/quick_logs.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware {
namespace {

constexpr double kMostPercent = 69;  // 0.5 to 2, as other corrections

// How many points lie at sizes below `bytes`.
std::size_t points_below(const SizeCorrection& c, double bytes) {
  std::size_t count = 0;
  for (double size = c.first.si(); size < bytes && count < c.percent.size(); size *= 2) ++count;
  return count;
}

}  // namespace

double SizeCorrection::factor(double bytes) const {
  std::size_t low = 0, end = percent.size();
  if (switches_at) {
    const std::size_t split = points_below(*this, switches_at->si());
    if (bytes < switches_at->si()) end = std::max<std::size_t>(split, 1);
    else low = std::min(split, end - 1);
  }
  const double least = static_cast<double>(low), most = static_cast<double>(end - 1);
  const double place = bytes > first.si() ? std::clamp(quick_log2(bytes / first.si()), least, most) : least;
  const auto i = std::min(static_cast<std::size_t>(place), end - 1), next = std::min(i + 1, end - 1);
  return quick_exp(0.01 * std::lerp(percent[i], percent[next], place - static_cast<double>(i)));
}

const Fields<SizeCorrection>& size_correction_fields() {
  static const Fields<SizeCorrection> fields = [] {
    using P = SizeCorrection;
    Fields<P> f("size_correction", "a factor on the time, by the size of the tensor: even in its logarithm");
    f.add("first", &P::first, "size at the first point; each further one is of twice the size").required().above(0);
    f.add("percent", &P::percent, "100 x the logarithm of the factor at each point")
        .required()
        .between(-kMostPercent, kMostPercent);
    f.add("switches_at", &P::switches_at,
          "from this size on the software works in another way: nothing is even across it")
        .above(0);
    f.check([](const P& correction, const YamlNode& node, Diagnostics& diagnostics) {
      if (correction.percent.empty()) diagnostics.error(node.where, "a correction has one point at least");
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
