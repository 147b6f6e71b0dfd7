// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/expression.hpp"
#include "sim/explore/axis.hpp"
#include "sim/explore/point.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::explore {

// The points of a plan, made one by one from their number: a million of them take no memory.
class Plan {
 public:
  // `base` is a scenario whose relative paths start from `folder`. The last axis varies fastest, repeats faster still.
  Plan(YamlNode tree, PlanConfig config, YamlNode base, std::filesystem::path folder, std::vector<Axis> axes,
       std::vector<Expression> exclude);

  // As it was read, with the axes that were added to it.
  [[nodiscard]] const YamlNode& tree() const { return tree_; }
  [[nodiscard]] const PlanConfig& config() const { return config_; }
  [[nodiscard]] const YamlNode& base() const { return base_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  // Columns of all axes.
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  // Numbers of points, excluded ones and those that a sample drew before too.
  [[nodiscard]] std::uint64_t size() const { return configurations_ * static_cast<std::uint64_t>(config_.repeat); }
  // Nothing if it is excluded, or drawn before.
  [[nodiscard]] std::optional<Point> point(std::uint64_t index) const;
  // The point with one choice of each axis, by a number that is the caller's; nothing if it is excluded.
  [[nodiscard]] std::optional<Point> point_of(std::vector<Choice> chosen, std::uint64_t index) const;
  // "rate=8 /s count=4", with "seed=3" where points are repeated.
  [[nodiscard]] std::string label(const Point& point) const;

 private:
  [[nodiscard]] bool excluded(const Point& point) const;

  YamlNode tree_;
  PlanConfig config_;
  YamlNode base_;
  std::filesystem::path folder_;
  std::vector<Axis> axes_;
  std::vector<Expression> exclude_;
  std::vector<std::string> columns_, short_columns_;
  std::vector<std::vector<double>> sample_;  // by axis: where in it each point lies, in [0, 1)
  std::vector<bool> drawn_before_;           // by configuration of a sample
  std::uint64_t configurations_ = 1;
  std::int64_t seed_ = 1;
};

// What was typed beside a plan.
struct PlanChanges {
  std::vector<std::string> axes;  // further ones: "path=1 /s,2 /s", or "path={logspace: [1 /s, 8 /s], points: 4}"
  std::vector<std::string> set;   // laid over the base: "path=value"
  std::optional<std::int64_t> repeat;
  bool intervals = false;
  bool all_mistakes = false;
  bool is_space = false;  // for who picks points himself: `between` needs no `sample`
};

// Reads a plan, or a scenario (then a plan of one point). Nothing after reporting; with `all_mistakes` nothing only
// where its points are not known: how they are judged and limited may have mistakes that are reported, for who goes on
// to what is wrong with its values.
std::optional<Plan> load_plan(const std::filesystem::path& file, const PlanChanges& changes, Diagnostics& diagnostics);

// The names of a plan's columns and its tree, whatever is wrong with the values of its axes: by these, what was typed
// beside it can be told to be wrong as well. Nothing where the names themselves are not known.
struct PlanNames {
  YamlNode tree;
  std::vector<std::string> columns;
};
std::optional<PlanNames> names_in_plan(const std::filesystem::path& file);

// Reads the scenario of a point; reports what is wrong with it.
std::optional<scenario::Scenario> scenario_of(const Plan& plan, const Point& point, const scenario::Catalogs& catalogs,
                                              Diagnostics& diagnostics);

}  // namespace llmscape::explore
