// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/correction.hpp"

#include "base/quick_logs.hpp"

#include "hardware/gpu/correction_basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace llmscape::hardware {
namespace {

constexpr double kFadeOctaves = 2;  // off the tables, until a correction is gone

std::vector<std::pair<std::string, Feature>> feature_names() {
  std::vector<std::pair<std::string, Feature>> names;
  for (std::size_t i = 0; i < kFeatures; ++i) names.emplace_back(kFeatureNames[i], static_cast<Feature>(i));
  return names;
}

const Fields<CorrectionAxis>& axis_fields() {
  static const Fields<CorrectionAxis> fields = [] {
    using P = CorrectionAxis;
    Fields<P> f("axis", "one axis of a table");
    f.add_enum("feature", &P::feature, feature_names(), "what is laid along it").required();
    f.add("first", &P::first, "value at the first point").required().above(0);
    f.add("octaves", &P::octaves, "from one point to the next, in powers of two").above(0);
    f.add("points", &P::points, "how many points").required().between(1, 1000);
    return f;
  }();
  return fields;
}

const Fields<CorrectionTable>& table_fields() {
  static const Fields<CorrectionTable> fields = [] {
    using P = CorrectionTable;
    Fields<P> f("table", "a function of a few features, linear between points");
    f.add_group("axes", &P::axes, axis_fields(), "what it depends on, the last axis fastest").required();
    f.add("percent", &P::percent, "100 x the logarithm of the factor at each point")
        .required()
        .between(-kMostPercent, kMostPercent);
    f.check([](const P& table, const YamlNode& node, Diagnostics& diagnostics) {
      if (table.axes.empty() || table.axes.size() > kMostAxes)
        diagnostics.error(node.find("axes")->where, fmt::format("a table has 1 to {} axes", kMostAxes));
      else if (table.percent.size() != points(table))
        diagnostics.error(node.find("percent")->where, fmt::format("the axes have {} points, but here are {} values",
                                                                   points(table), table.percent.size()));
    });
    return f;
  }();
  return fields;
}

// What the tables say, and how far off them the features lie.
struct Sum {
  double percent = 0, off = 0;
};
Sum sum_of(const SharedList<CorrectionTable>& tables, const Features& features) {
  Sum sum;
  for (const CorrectionTable& table : tables) {
    const TablePlace place(table, features);
    place.each_corner([&](std::size_t point, double weight) { sum.percent += weight * table.percent[point]; });
    sum.off = std::max(sum.off, place.octaves_off());
  }
  return sum;
}

// The most per cent that a table falls along the seconds, an octave; 0 where they are not among its axes.
double steepest_fall(const CorrectionTable& table) {
  double steepest = 0;
  std::size_t stride = 1;
  for (std::size_t axis = table.axes.size(); axis-- > 0;) {
    const auto length = static_cast<std::size_t>(table.axes[axis].points);
    if (table.axes[axis].feature == Feature::seconds)
      for (std::size_t point = 0; point < table.percent.size(); ++point)
        if (point / stride % length + 1 < length)
          steepest =
              std::max(steepest, (table.percent[point] - table.percent[point + stride]) / table.axes[axis].octaves);
    stride *= length;
  }
  return steepest;
}

double faded(double percent, double off) {
  percent *= std::max(0.0, 1 - off * (1 / kFadeOctaves));
  return quick_exp(std::clamp(percent, -kMostPercent, kMostPercent) * 0.01);
}

}  // namespace

void Features::set(Feature feature, double value) { set_log2(feature, log2_of_point(value)); }

double Correction::factor(const Features& features) const {
  const Sum sum = sum_of(tables, features);
  return faded(sum.percent, sum.off);
}

double Correction::factor(Features features, Seconds by_form) const {
  features.set(Feature::seconds, by_form.si());
  return factor(features);
}

bool Correction::is_faster_for_slower() const {
  double steepest = 0;  // of all tables together, in per cent an octave
  for (const CorrectionTable& table : tables) steepest += steepest_fall(table);
  return steepest > kMostPercent;
}

CorrectionLine::CorrectionLine(const Correction& correction, Features others, Feature along, std::int64_t window)
    : low_(-std::numeric_limits<double>::infinity()), high_(std::numeric_limits<double>::infinity()) {
  double last = 0;
  bool found = false;
  for (const CorrectionTable& table : correction.tables)
    for (const CorrectionAxis& axis : table.axes) {
      if (axis.feature != along) continue;
      const double from = std::log2(axis.first), to = from + axis.octaves * static_cast<double>(axis.points - 1);
      low_ = std::max(low_, from);
      high_ = std::min(high_, to);
      first_ = found ? std::min(first_, from) : from;
      last = found ? std::max(last, to) : to;
      points_per_octave_ = std::max(points_per_octave_, 1 / axis.octaves);
      found = true;
    }
  const auto points = static_cast<std::size_t>(std::ceil((last - first_) * points_per_octave_)) + 1;
  for (std::size_t i = 0; i < points; ++i) {
    others.set_log2(along, first_ + static_cast<double>(i) / points_per_octave_);
    others.set_log2(Feature::cut, 0);
    percent_.push_back(sum_of(correction.tables, others).percent);
    if (window <= 0) continue;
    others.set_log2(Feature::cut, 1);
    cut_percent_.push_back(sum_of(correction.tables, others).percent);
  }
  if (window > 0) log_half_window_ = std::log2(static_cast<double>(window)) - 1;
  others.set_log2(Feature::cut, 0);
  others.set_log2(along, found ? low_ : 0);
  off_ = sum_of(correction.tables, others).off;
}

double CorrectionLine::factor(double value) const {
  const double log = quick_log2(value), last = static_cast<double>(percent_.size() - 1);
  const double place = std::clamp((log - first_) * points_per_octave_, 0.0, last);
  const auto below = static_cast<std::size_t>(place), above = std::min(below + 1, percent_.size() - 1);
  const double share = place - static_cast<double>(below);
  double percent = (1 - share) * percent_[below] + share * percent_[above];
  if (!cut_percent_.empty()) {
    const double cut = std::clamp(log - log_half_window_, 0.0, 1.0);
    percent += cut * ((1 - share) * cut_percent_[below] + share * cut_percent_[above] - percent);
  }
  return faded(percent, std::max({off_, low_ - log, log - high_}));
}

const Fields<Correction>& correction_fields() {
  static const Fields<Correction> fields = [] {
    using P = Correction;
    Fields<P> f("correction", "a factor learned from measured rows, the product of its tables");
    f.add("source", &P::source, "rows it was learned from, error without and with it");
    f.add_group("tables", &P::tables, table_fields(), "the tables").required();
    f.check([](const P& correction, const YamlNode& node, Diagnostics& diagnostics) {
      if (correction.is_faster_for_slower())
        diagnostics.error(node.find("tables")->where,
                          fmt::format("along the seconds the tables fall by more than {} % an octave: a kernel would "
                                      "be faster for taking longer",
                                      kMostPercent));
    });
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
