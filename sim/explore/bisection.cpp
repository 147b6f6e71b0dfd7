// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/bisection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmscape::explore {
namespace {

// A million times: a start that is wrong by more has another unit, and a load that fails at a millionth of what was
// asked for is an idle system that fails.
constexpr int kMostDoublings = 20;
constexpr int kMostPassedOver = 64;  // refused whole numbers in a row on each side

class Search {
 public:
  Search(const SearchSpace& space, const std::function<std::optional<Standing>(double)>& standing)
      : space_(space), standing_(standing) {}

  SearchStep step() {
    const double start = accepted_near(clipped(space_.start), lowest(), highest());
    const auto first = look(start);
    if (!first) return step_;
    (*first ? step_.met : step_.failed) = start;
    if (bracket(start, *first) && step_.met && step_.failed) bisect();
    return step_;
  }

 private:
  [[nodiscard]] double lowest() const { return space_.low > 0 ? space_.low : space_.whole ? 1 : 0; }
  [[nodiscard]] double highest() const {
    return space_.high > 0 ? space_.high : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] double clipped(double value) const { return std::clamp(rounded(value), lowest(), highest()); }
  // Values are short, so that people can type them again: one digit more than the precision asks for.
  [[nodiscard]] double rounded(double value) const {
    if (space_.whole) return std::round(value);
    const double digits = std::ceil(-std::log10(space_.precision)) + 1;
    const double unit = std::pow(10., std::floor(std::log10(value)) - digits);
    return unit < 1 ? std::round(value * std::round(1 / unit)) / std::round(1 / unit) : std::round(value / unit) * unit;
  }

  // Whether the value meets what is asked; nothing if it is to be tried first.
  std::optional<bool> look(double value) {
    const auto known = standing_(value);
    if (!known) step_.next = value;
    return known ? std::optional(*known == Standing::met) : std::nullopt;
  }

  // The whole number nearest to `value` from `low` to `high` that is not refused; `value` if there is none.
  [[nodiscard]] double accepted_near(double value, double low, double high) const {
    if (!space_.whole) return value;
    for (int away = 0; away <= kMostPassedOver; ++away)
      for (const double candidate : {value - away, value + away})
        if (candidate >= low && candidate <= high && standing_(candidate) != Standing::refused) return candidate;
    return value;
  }

  // Doubles away from the start until the other standing is met; false where a value is to be tried first.
  bool bracket(double start, bool met) {
    const bool upwards = met == space_.largest;
    double value = start;
    for (int i = 0; i < kMostDoublings; ++i) {
      const double further = clipped(upwards ? value * 2 : value / 2);
      if (further == value) return true;  // the end of the space
      const double tried =
          upwards ? accepted_near(further, value + 1, highest()) : accepted_near(further, lowest(), value - 1);
      const auto is = look(tried);
      if (!is) return false;
      (*is ? step_.met : step_.failed) = tried;
      if (*is != met) return true;
      value = tried;
    }
    return true;
  }

  void bisect() {
    for (;;) {
      const double low = std::min(*step_.met, *step_.failed), high = std::max(*step_.met, *step_.failed);
      double middle = std::round((low + high) / 2);
      if (space_.whole) {
        middle = accepted_near(middle, low + 1, high - 1);
        if (standing_(middle) == Standing::refused) return;
      } else {
        middle = rounded(std::sqrt(low * high));
        if (high <= low * (1 + space_.precision)) return;
      }
      if (middle <= low || middle >= high) return;
      const auto met = look(middle);
      if (!met) return;
      (*met ? step_.met : step_.failed) = middle;
    }
  }

  const SearchSpace& space_;
  const std::function<std::optional<Standing>(double)>& standing_;
  SearchStep step_;
};

}  // namespace

SearchStep next_step(const SearchSpace& space, const std::function<std::optional<Standing>(double)>& standing) {
  return Search(space, standing).step();
}

}  // namespace llmscape::explore
