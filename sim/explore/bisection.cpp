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
        if (candidate >= low && candidate <= high && !is_refused(candidate)) return candidate;
    return value;
  }

  // Doubles away from the start until the other standing is met; false where a value is to be tried first.
  bool bracket(double start, bool met) {
    const bool upwards = met == space_.largest;
    double value = start;
    // The last that fails by itself, and the first one behind it that is refused; equal where there is none.
    double accepted = start, refused = start;
    bool any_accepted = !is_refused(start);
    for (int i = 0; i < kMostDoublings; ++i) {
      const double further = clipped(upwards ? value * 2 : value / 2);
      if (further == value) break;  // the end of the space
      const double tried =
          upwards ? accepted_near(further, value + 1, highest()) : accepted_near(further, lowest(), value - 1);
      const auto is = look(tried);
      if (!is) return false;
      value = tried;
      if (!met && any_accepted && is_refused(tried)) {
        if (refused == accepted) refused = tried;
        continue;
      }
      (*is ? step_.met : step_.failed) = tried;
      if (*is != met) return true;
      accepted = refused = tried;
      any_accepted = !is_refused(tried);
    }
    // Where the start fails, what is sought may lie before the values that no scenario can have.
    return refused == accepted || look_between(accepted, refused);
  }

  // Halves what lies between a value that fails and one that is refused, until one meets it or they are as near as
  // asked; false where a value is to be tried first.
  bool look_between(double fails, double refused) {
    for (;;) {
      const auto middle = middle_of(std::min(fails, refused), std::max(fails, refused));
      if (!middle) return true;
      if (is_refused(*middle)) {
        refused = *middle;
        continue;
      }
      const auto is = look(*middle);
      if (!is) return false;
      (*is ? step_.met : step_.failed) = middle;
      if (*is) return true;
      fails = *middle;
    }
  }

  // Nothing where the two are as near as asked.
  [[nodiscard]] std::optional<double> middle_of(double low, double high) const {
    if (!space_.whole && high <= low * (1 + space_.precision)) return std::nullopt;
    const double middle =
        space_.whole ? accepted_near(std::round((low + high) / 2), low + 1, high - 1) : rounded(std::sqrt(low * high));
    return middle > low && middle < high ? std::optional(middle) : std::nullopt;
  }

  [[nodiscard]] bool is_refused(double value) const { return standing_(value) == Standing::refused; }

  void bisect() {
    for (;;) {
      const double low = std::min(*step_.met, *step_.failed), high = std::max(*step_.met, *step_.failed);
      const auto middle = middle_of(low, high);
      if (!middle || (space_.whole && is_refused(*middle))) return;
      const auto met = look(*middle);
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
