// SPDX-License-Identifier: Apache-2.0
#include "base/functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/correlation.hpp"

namespace llmscape {
namespace {

using Numbers = std::vector<double>;
using Arguments = std::vector<Numbers>;
using Result = std::optional<Numbers>;

template <double (*kOf)(double)>
Result by_item(const Arguments& arguments) {
  Numbers results;
  for (const double number : arguments.front()) results.push_back(kOf(number));
  return results;
}

double absolute(double x) { return std::fabs(x); }
double root(double x) { return std::sqrt(x); }
double logarithm(double x) { return std::log(x); }

// All numbers of all arguments.
Numbers together(const Arguments& arguments) {
  Numbers all;
  for (const Numbers& argument : arguments) all.insert(all.end(), argument.begin(), argument.end());
  return all;
}

Result join(const Arguments& arguments) { return together(arguments); }

template <double (*kOf)(Numbers)>
Result over_all(const Arguments& arguments) {
  Numbers all = together(arguments);
  if (all.empty()) return std::nullopt;
  return Numbers{kOf(std::move(all))};
}

double least(Numbers all) { return *std::ranges::min_element(all); }
double largest(Numbers all) { return *std::ranges::max_element(all); }
double sum(Numbers all) { return std::accumulate(all.begin(), all.end(), 0.); }
double mean(Numbers all) {
  const auto count = static_cast<double>(all.size());
  return sum(std::move(all)) / count;
}
double median(Numbers all) {
  std::ranges::sort(all);
  const std::size_t half = all.size() / 2;
  return all.size() % 2 == 1 ? all[half] : (all[half - 1] + all[half]) / 2;
}

bool are_pairs(const Arguments& arguments) { return arguments[0].size() == arguments[1].size(); }

// Of two lists of one length.
template <std::optional<double> (*kOf)(const Numbers&, const Numbers&)>
Result of_pairs(const Arguments& arguments) {
  if (!are_pairs(arguments) || arguments[0].size() < 2) return std::nullopt;
  const auto value = kOf(arguments[0], arguments[1]);
  return value ? Result(Numbers{*value}) : std::nullopt;
}

// The near side of the level is the one on which ys starts. Where it ends there too, the crossing lies beyond all x.
Result crossing(const Arguments& arguments) {
  if (!are_pairs(arguments) || arguments[0].empty() || arguments[2].size() != 1) return std::nullopt;
  const double level = arguments[2].front();
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < arguments[0].size(); ++i) points.emplace_back(arguments[0][i], arguments[1][i]);
  std::ranges::stable_sort(points, {}, &std::pair<double, double>::first);
  const auto off_level = std::ranges::find_if(points, [level](const auto& point) { return point.second != level; });
  if (off_level == points.end()) return Numbers{points.back().first};
  const bool below = (off_level->second < level) == (off_level == points.begin());
  const auto near = [&](const auto& point) { return below ? point.second <= level : point.second >= level; };
  std::size_t last = points.size() - 1;
  while (!near(points[last])) --last;  // the first one is near
  const auto [x, y] = points[last];
  if (last + 1 == points.size()) return y == level ? Result(Numbers{x}) : std::nullopt;
  const auto [next_x, next_y] = points[last + 1];
  return Numbers{x + (next_x - x) * (level - y) / (next_y - y)};
}

double every(Numbers all) { return least(std::move(all)); }

// Whether each number is on that side of the one before it; nothing of fewer than two.
template <bool kUp>
Result in_order(const Arguments& arguments) {
  const Numbers all = together(arguments);
  if (all.size() < 2) return std::nullopt;
  const auto breaks = [](double before, double after) { return kUp ? before >= after : before <= after; };
  return Numbers{std::ranges::adjacent_find(all, breaks) == all.end() ? 1. : 0.};
}

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

}  // namespace

const std::vector<Function>& functions() {
  using Gives = Function::Gives;
  static const std::vector<Function> all = {
      {"abs", "abs(x)", "without its sign", 1, 1, Gives::list, by_item<absolute>},
      {"sqrt", "sqrt(x)", "square root", 1, 1, Gives::list, by_item<root>},
      {"log", "log(x)", "natural logarithm", 1, 1, Gives::list, by_item<logarithm>},
      {"list", "list(xs, ...)", "the items of all lists, one list after the other", 1, kAny, Gives::list, join},
      {"min", "min(x, ...)", "the smallest of all numbers and of all items of lists", 1, kAny, Gives::number,
       over_all<least>},
      {"max", "max(x, ...)", "the largest", 1, kAny, Gives::number, over_all<largest>},
      {"sum", "sum(x, ...)", "their sum", 1, kAny, Gives::number, over_all<sum>},
      {"mean", "mean(x, ...)", "their mean", 1, kAny, Gives::number, over_all<mean>},
      {"median", "median(x, ...)", "their median; of an even number the mean of the two in the middle", 1, kAny,
       Gives::number, over_all<median>},
      {"pearson", "pearson(xs, ys)", "linear correlation of two lists of one length", 2, 2, Gives::number,
       of_pairs<correlation>},
      {"spearman", "spearman(xs, ys)", "correlation of their ranks", 2, 2, Gives::number, of_pairs<rank_correlation>},
      {"crossing", "crossing(xs, ys, level)",
       "the largest x, between the points by a straight line, at which ys is still on that side of the level on which "
       "it starts; no value where it ends there",
       3, 3, Gives::number, crossing},
      {"all", "all(condition, ...)", "whether all conditions hold, and those of all items of lists: all(xs > 1)", 1,
       kAny, Gives::condition, over_all<every>, true},
      {"rising", "rising(xs, ...)", "whether each number is larger than the one before it", 1, kAny, Gives::condition,
       in_order<true>},
      {"falling", "falling(xs, ...)", "whether each number is smaller than the one before it", 1, kAny,
       Gives::condition, in_order<false>},
  };
  return all;
}

std::vector<std::string> function_names() {
  std::vector<std::string> names;
  for (const Function& function : functions()) names.emplace_back(function.name);
  return names;
}

const Function* find_function(std::string_view name) {
  const auto found = std::ranges::find(functions(), name, &Function::name);
  return found == functions().end() ? nullptr : &*found;
}

}  // namespace llmscape
