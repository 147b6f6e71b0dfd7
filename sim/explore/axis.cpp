// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>

#include "base/expression.hpp"
#include "base/yaml_lines.hpp"

namespace llmscape::explore {
namespace {

constexpr std::size_t kMostValues = 1'000'000;  // of one axis

struct Number {
  double value = 0;
  std::string unit;  // "/s"
};

// "12 /s" taken apart; nothing after reporting.
std::optional<Number> number_of(const YamlNode& node, Diagnostics& diagnostics) {
  const std::size_t end = std::min(node.text.find_first_not_of("0123456789.eE+-_"), node.text.size());
  std::size_t unit = node.text.find_first_not_of(' ', end);
  if (unit == std::string::npos) unit = node.text.size();
  const auto read = parse_quantity(std::string_view(node.text).substr(0, end), Dimension::number);
  const double* value = std::get_if<double>(&read);
  if (!node.is_scalar() || !value) {
    diagnostics.error(node.where, fmt::format("{} is no number", in_quotes(node.is_scalar() ? node.text : "this")),
                      "write it like 8, or like 8 /s");
    return std::nullopt;
  }
  return Number{*value, node.text.substr(unit)};
}

// The two ends of a range.
std::optional<Interval> ends_of(const std::vector<YamlNode>& ends, const YamlNode& where, bool log,
                                Diagnostics& diagnostics) {
  if (ends.size() != 2) {
    diagnostics.error(where.where, "a range has two ends", "for example [1 /s, 64 /s]");
    return std::nullopt;
  }
  const auto low = number_of(ends[0], diagnostics), high = number_of(ends[1], diagnostics);
  if (!low || !high) return std::nullopt;
  if (low->unit != high->unit) {
    diagnostics.error(ends[1].where,
                      fmt::format("{} and {} have different units", in_quotes(ends[0].text), in_quotes(ends[1].text)));
    return std::nullopt;
  }
  if (low->value >= high->value) {
    diagnostics.error(ends[1].where, "the second end must be above the first one");
    return std::nullopt;
  }
  if (log && low->value <= 0) {
    diagnostics.error(ends[0].where, "a range in the log begins above 0");
    return std::nullopt;
  }
  return Interval{low->value, high->value, low->unit.empty() ? "" : ' ' + low->unit, log, false};
}

constexpr double kExactBelow = 1ULL << 53;  // all whole numbers are doubles
constexpr int kMostDigits = 15;             // of which any decimal comes back out of a double

// Whole numbers have all their digits. Others have six, or as many as tell neighbours apart: a value that came from a
// power or a sum shows no trace of its rounding.
std::string written(double value, const Interval& interval) {
  const double whole = std::round(value);
  const bool is_whole = interval.whole || std::abs(value - whole) <= 1e-12 * std::abs(value);
  if (is_whole && std::abs(whole) < kExactBelow) return fmt::format("{:.0f}{}", whole + 0., interval.unit);  // no -0
  return fmt::format("{:.{}g}{}", value, interval.digits, interval.unit);
}

// The digits of values that lie `apart` as a share of the largest of them, one more than that asks for.
int digits_for(double apart) { return std::clamp(static_cast<int>(std::ceil(-std::log10(apart))) + 1, 6, kMostDigits); }

double between(const Interval& interval, double share) {
  if (interval.log) return interval.low * std::pow(interval.high / interval.low, share);
  return interval.low + (interval.high - interval.low) * share;
}

Choice choice_of(const std::string& path, std::string value, const std::string& yaml) {
  return {{std::move(value)}, {path + '=' + yaml}};
}

// How far `steps` steps from end to end lie apart, as a share of their value.
double apart(const Interval& interval, double steps) {
  if (interval.log) return std::pow(interval.high / interval.low, 1 / steps) - 1;
  return (interval.high - interval.low) / steps / std::max(std::abs(interval.low), std::abs(interval.high));
}

// What a cell of the table shows of a value.
std::string shown(const YamlNode& node) { return node.is_scalar() ? node.text : yaml_flow(node); }

// Reads the values of one axis into it.
class AxisReader {
 public:
  AxisReader(const std::string& path, const YamlNode& node, Diagnostics& diagnostics)
      : node_(node), diagnostics_(diagnostics) {
    axis_.columns = {path};
  }

  std::optional<Axis> read() {
    const int before = diagnostics_.errors();
    if (node_.is_sequence()) {
      for (const YamlNode& item : node_.items) add(shown(item), yaml_flow(item));
    } else if (node_.is_mapping()) {
      if (range_fields().read(range_, node_, diagnostics_)) read_range();
    } else {
      add(shown(node_), yaml_flow(node_));
    }
    if (axis_.choices.empty() && !axis_.interval && diagnostics_.errors() == before)
      diagnostics_.error(node_.where, "an axis has at least one value");
    if (diagnostics_.errors() > before) return std::nullopt;
    return std::move(axis_);
  }

 private:
  void add(std::string value, const std::string& yaml) {
    axis_.choices.push_back(choice_of(axis_.columns.front(), std::move(value), yaml));
  }
  void add(double value, const Interval& interval) {
    const std::string text = written(value, interval);
    if (!axis_.choices.empty() && axis_.choices.back().values.front() == text) return;  // rounded to the one before
    add(text, yaml_scalar(text));
  }

  void read_range() {
    const std::array<const std::vector<YamlNode>*, 4> kinds = {&range_.linspace, &range_.logspace, &range_.range,
                                                               &range_.between};
    if (std::ranges::count_if(kinds, [](const auto* ends) { return !ends->empty(); }) != 1) {
      diagnostics_.error(node_.where, "a range is given by one of linspace, logspace, range and between");
      return;
    }
    refuse_keys_without_effect();
    if (!range_.range.empty()) return read_steps();
    const bool log = !range_.logspace.empty() || (range_.log && !range_.between.empty());
    const auto& ends = !range_.between.empty() ? range_.between : log ? range_.logspace : range_.linspace;
    auto interval = ends_of(ends, node_, log, diagnostics_);
    if (!interval) return;
    interval->whole = range_.whole;
    if (!range_.between.empty()) {
      if (interval->whole &&
          (std::floor(interval->low) != interval->low || std::floor(interval->high) != interval->high))
        diagnostics_.error(node_.where, "whole numbers lie between two that are whole themselves");
      interval->digits = digits_for(apart(*interval, static_cast<double>(kIntervalValues)));
      axis_.interval = interval;
      return;
    }
    if (!range_.points) {
      diagnostics_.error(node_.where, "'points' is missing: how many values there are", "add points: 7");
      return;
    }
    if (static_cast<std::size_t>(*range_.points) > kMostValues) return too_many();
    const auto last = static_cast<double>(*range_.points - 1);
    interval->digits = digits_for(apart(*interval, last));
    for (std::int64_t i = 0; i < *range_.points; ++i) add(between(*interval, static_cast<double>(i) / last), *interval);
  }

  void refuse_keys_without_effect() {
    const char* kind = !range_.range.empty()      ? "range"
                       : !range_.between.empty()  ? "between"
                       : !range_.logspace.empty() ? "logspace"
                                                  : "linspace";
    const auto refuse = [&](const char* key, const char* suggestion) {
      if (const YamlNode* said = node_.find(key))
        diagnostics_.error(said->where, fmt::format("'{}' has no effect beside '{}'", key, kind), suggestion);
    };
    const bool counted = range_.range.empty() && range_.between.empty();
    if (!counted) refuse("points", "linspace and logspace have so many values");
    if (range_.range.empty()) refuse("step", "a range has one: {range: [1, 9], step: 2}");
    if (range_.between.empty()) refuse("log", "logspace is spread in the log, and 'between' where it says so");
  }

  void read_steps() {
    auto interval = ends_of(range_.range, node_, false, diagnostics_);
    if (!range_.step) {
      diagnostics_.error(node_.where, "'step' is missing: how far the values of a range lie apart", "add step: 1");
      return;
    }
    const auto step = number_of(*range_.step, diagnostics_);
    if (!interval || !step) return;
    const std::string unit = step->unit.empty() ? "" : ' ' + step->unit;
    if (step->value <= 0 || unit != interval->unit) {
      diagnostics_.error(range_.step->where, "a step is above 0, in the unit of the ends");
      return;
    }
    interval->whole = range_.whole;
    const double steps = std::floor((interval->high - interval->low) / step->value * (1 + 1e-12));
    if (!(steps < static_cast<double>(kMostValues))) return too_many();
    interval->digits = digits_for(step->value / std::max(std::abs(interval->low), std::abs(interval->high)));
    for (double i = 0; i <= steps; ++i) add(interval->low + i * step->value, *interval);
  }

  void too_many() { diagnostics_.error(node_.where, fmt::format("an axis has at most {} values", kMostValues)); }

  const YamlNode& node_;
  Diagnostics& diagnostics_;
  RangeConfig range_;
  Axis axis_;
};

bool report_no_mapping(const YamlNode& node, const char* wanted, Diagnostics& diagnostics) {
  if (node.is_mapping()) return false;
  if (node.kind != YamlNode::Kind::null) diagnostics.error(node.where, wanted);
  return true;
}

constexpr const char* kSeeds = "'set: {seed: 3}' is the first of all points, 'repeat: 5' runs each with so many";

// Whether exclusions, limits and objectives can say it.
bool can_be_named(const std::string& name) {
  Diagnostics unheard;
  const auto expression = Expression::parse(name, {}, unheard);
  return expression && expression->names().size() == 1 && expression->names().front().name == name;
}

// {edge: {hardware.devices: [...], model.weights: int4}, ...}
std::optional<Axis> read_variants(const std::string& name, const SourceRange& where, const YamlNode& variants,
                                  Diagnostics& diagnostics) {
  if (!can_be_named(name)) {
    diagnostics.error(where, fmt::format("no condition could name the axis {}", in_quotes(name)),
                      "a name has letters, digits and '_', and begins with a letter");
    return std::nullopt;
  }
  const char* wanted = "variants are a mapping from names to mappings of paths";
  if (variants.kind == YamlNode::Kind::null || report_no_mapping(variants, wanted, diagnostics)) {
    if (variants.kind == YamlNode::Kind::null) diagnostics.error(variants.where, wanted);
    return std::nullopt;
  }
  Axis axis{{name}, {}, std::nullopt};
  for (const YamlNode::Entry& variant : variants.entries) {
    Choice choice{{variant.key}, {}};
    if (!report_no_mapping(variant.value, wanted, diagnostics))
      for (const YamlNode::Entry& entry : variant.value.entries) {
        if (entry.key == "seed")
          diagnostics.error(entry.key_where, "'seed' of a variant has no effect: all points have those of the plan",
                            kSeeds);
        else choice.overrides.push_back(entry.key + '=' + yaml_flow(entry.value));
      }
    axis.choices.push_back(std::move(choice));
  }
  return axis;
}

std::optional<Axis> read_zip(const YamlNode& zip, Diagnostics& diagnostics) {
  if (report_no_mapping(zip, "a zip is a mapping from paths to lists", diagnostics)) return std::nullopt;
  Axis axis;
  for (const YamlNode::Entry& entry : zip.entries) {
    auto one = AxisReader(entry.key, entry.value, diagnostics).read();
    if (!one) return std::nullopt;
    if (!axis.columns.empty() && one->choices.size() != axis.choices.size()) {
      diagnostics.error(entry.value.where,
                        fmt::format("this has {} values and '{}' has {}: what is zipped varies together",
                                    one->choices.size(), axis.columns.front(), axis.choices.size()));
      return std::nullopt;
    }
    axis.columns.push_back(entry.key);
    axis.choices.resize(one->choices.size());
    for (std::size_t i = 0; i < one->choices.size(); ++i) {
      axis.choices[i].values.push_back(std::move(one->choices[i].values.front()));
      axis.choices[i].overrides.push_back(std::move(one->choices[i].overrides.front()));
    }
  }
  if (axis.choices.empty()) diagnostics.error(zip.where, "a zip has at least one path and one value");
  return axis.choices.empty() ? std::nullopt : std::optional(std::move(axis));
}

// Columns of results.csv that are not the plan's to name.
constexpr std::array kReserved = {"point", "id", "repeat", "seed", "verdict"};

}  // namespace

Choice Axis::at(double u) const {
  if (!interval) return choices[static_cast<std::size_t>(u * static_cast<double>(choices.size()))];
  // Whole numbers are equally likely, the ends too, unless they are spread in the log.
  const bool count = interval->whole && !interval->log;
  const double value =
      count ? interval->low + std::floor(u * (interval->high - interval->low + 1)) : between(*interval, u);
  const std::string text = written(value, *interval);
  return choice_of(columns.front(), text, yaml_scalar(text));
}

std::vector<Axis> read_axes(const PlanConfig& config, bool needs_sample, Diagnostics& diagnostics) {
  std::vector<Axis> axes;
  std::set<std::string> taken(kReserved.begin(), kReserved.end());
  const auto keep = [&](std::optional<Axis> axis, const SourceRange& where) {
    if (!axis) return;
    for (const std::string& column : axis->columns)
      if (!taken.insert(column).second)
        diagnostics.error(where,
                          std::ranges::find(kReserved, column) != kReserved.end()
                              ? fmt::format("no axis can be called '{}': results have a column of that name", column)
                              : fmt::format("'{}' is varied twice", column),
                          column == "seed" ? kSeeds : "");
    std::set<std::vector<std::string>> seen;
    for (const Choice& choice : axis->choices)
      if (!seen.insert(choice.values).second)
        diagnostics.error(
            where, fmt::format("'{}' has the value '{}' twice", axis->columns.front(), fmt::join(choice.values, ", ")),
            "runs of one point with several seeds are asked for by 'repeat'");
    axis->where = where;
    axes.push_back(std::move(*axis));
  };
  if (!report_no_mapping(config.variants, "'variants' is a mapping from the names of axes to their variants",
                         diagnostics))
    for (const YamlNode::Entry& entry : config.variants.entries)
      keep(read_variants(entry.key, entry.key_where, entry.value, diagnostics), entry.key_where);
  if (config.zip.is_sequence())
    for (const YamlNode& zip : config.zip.items) keep(read_zip(zip, diagnostics), zip.where);
  else if (config.zip.kind != YamlNode::Kind::null) keep(read_zip(config.zip, diagnostics), config.zip.where);
  if (!report_no_mapping(config.axes, "'axes' is a mapping from paths to values", diagnostics))
    for (const YamlNode::Entry& entry : config.axes.entries)
      keep(AxisReader(entry.key, entry.value, diagnostics).read(), entry.key_where);
  if (!config.sample && needs_sample)
    for (const Axis& axis : axes)
      if (axis.interval)
        diagnostics.error(axis.where,
                          fmt::format("'{}' takes any value between two ends: say how many points to "
                                      "draw",
                                      axis.columns.front()),
                          "add sample: {points: 200}");
  return axes;
}

}  // namespace llmscape::explore
