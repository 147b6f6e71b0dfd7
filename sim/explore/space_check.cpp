// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/space_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/explore/numeric_path.hpp"
#include "sim/explore/sweep.hpp"

namespace llmscape::explore {
namespace {

// Reads the scenarios that differ from one in a single axis.
class SpaceCheck {
 public:
  SpaceCheck(const Plan& plan, const scenario::Catalogs& catalogs) : plan_(plan), catalogs_(catalogs) {
    for (const Axis& axis : plan.axes()) others_.push_back(axis.at(0));
  }

  Diagnostics refused;   // why scenarios cannot run
  Diagnostics left_out;  // those that a file keeps from it
  bool one_runs = false;
  std::set<std::string> currencies;
  std::set<std::size_t> of_whole;  // axes of any value whose key takes whole numbers

  void look() {
    const bool first_runs = look_once();
    if (first_runs) return;
    others_ = std::move(best_);
    look_once();
  }

 private:
  // Whether the others' own scenario can run. Leaves of each axis the value with the fewest mistakes in `best_`; of
  // several the last: what the first has may hide others.
  bool look_once() {
    constexpr std::size_t kLookedAt = 64;
    bool runs = true;
    best_.clear();
    for (std::size_t axis = 0; axis < plan_.axes().size(); ++axis) {
      const Axis& varied = plan_.axes()[axis];
      const std::size_t values = varied.interval ? 2 : std::min(kLookedAt, varied.choices.size());
      std::optional<int> fewest;
      for (std::size_t value = 0; value < values; ++value) {
        std::vector<Choice> chosen = others_;
        if (!varied.interval) chosen[axis] = varied.choices[value];
        else chosen[axis] = varied.at(value == 0 ? 0. : std::nextafter(1., 0.));
        const bool is_others = chosen[axis].values == others_[axis].values;
        Choice choice = chosen[axis];
        const std::optional<int> mistakes = mistakes_of(std::move(chosen));
        if (is_others && mistakes.value_or(1) > 0) runs = false;
        if (!fewest || (mistakes && (*mistakes < *fewest || (*mistakes == *fewest && *mistakes > 0)))) {
          fewest = mistakes;
          if (best_.size() > axis) best_.pop_back();
          best_.push_back(std::move(choice));
        }
      }
    }
    return runs;
  }

  // Nothing of a point that is excluded.
  std::optional<int> mistakes_of(std::vector<Choice> chosen) {
    const auto point = plan_.point_of(std::move(chosen), 0);
    if (!point) return std::nullopt;
    Diagnostics found;  // its own: where there are errors already, a scenario is not looked at to its end
    const auto scenario = scenario_of(plan_, *point, catalogs_, found);
    refused.add(found);
    warn_of_files(plan_, found, "points with it", left_out);
    if (!scenario) return std::max(1, found.errors());
    if (!std::exchange(one_runs, true)) find_whole(*scenario);
    if (const auto& cost = scenario->config.cost; cost && cost->currency) currencies.insert(*cost->currency);
    return 0;
  }

  void find_whole(const scenario::Scenario& scenario) {
    for (std::size_t axis = 0; axis < plan_.axes().size(); ++axis) {
      const Axis& varied = plan_.axes()[axis];
      if (!varied.interval || varied.interval->whole) continue;
      Diagnostics unheard;  // names are looked at elsewhere
      const auto number = find_numeric_path(scenario, varied.columns.front(), "axes", unheard);
      if (number && number->whole) of_whole.insert(axis);
    }
  }

  const Plan& plan_;
  const scenario::Catalogs& catalogs_;
  std::vector<Choice> others_, best_;  // of all axes
};

}  // namespace

void check_space(const Plan& plan, const scenario::Catalogs& catalogs, bool money, Diagnostics& diagnostics) {
  SpaceCheck check(plan, catalogs);
  check.look();
  diagnostics.add(plan.config().skip_refused && check.one_runs ? check.left_out : check.refused);
  for (const std::size_t axis : check.of_whole)  // its ends are, what lies between is not
    diagnostics.error(plan.axes()[axis].where,
                      fmt::format("'{}' takes whole numbers", plan.axes()[axis].columns.front()), "add whole: true");
  if (money && check.currencies.size() > 1)
    diagnostics.error({},
                      fmt::format("an objective or a limit is an amount of money, and prices are in {}: amounts in "
                                  "unlike currencies have no order",
                                  fmt::join(check.currencies, " and ")),
                      "state all prices in one");
}

}  // namespace llmscape::explore
