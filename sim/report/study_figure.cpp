// SPDX-License-Identifier: Apache-2.0
#include "sim/report/study_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "sim/report/svg.hpp"

namespace llmscape::report {
namespace {

using studies::DrawnFigure;
using studies::DrawnSeries;

constexpr double kWidth = 640, kHeight = 330;
constexpr double kLeft = 62, kRight = 626, kTop = 84, kBottom = 280;  // of the plot
constexpr double kWideAxis = 30;  // labels that span more than this factor are spread in the log

struct Scale {
  double low, high, from, to;
  bool log = false;
  [[nodiscard]] double operator()(double value) const {
    const auto in = [this](double v) { return log ? std::log10(v) : v; };
    return from + (in(value)-in(low)) / (in(high)-in(low)) * (to - from);
  }
};

// Steps of 1, 2 or 5 times a power of ten, about five of them.
double tick_step(double span) {
  const double rough = span / 5, power = std::pow(10., std::floor(std::log10(rough)));
  for (const double factor : {1., 2., 5.})
    if (factor * power >= rough * 0.999) return factor * power;
  return 10 * power;
}

// From 0, or below it where values are, to the tick above the largest.
Scale value_scale(const DrawnFigure& figure) {
  double low = 0, high = 0;
  for (const DrawnSeries& series : figure.series)
    for (const auto& value : series.values) {
      low = std::min(low, value.value_or(0));
      high = std::max(high, value.value_or(0));
    }
  if (low == high) high = 1;
  const double step = tick_step(high - low);
  return {std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step, kBottom, kTop};
}

// "published", or "NAME, published" beside "NAME, simulated", whose colour it has.
constexpr std::string_view kOfPublished = ", published";
bool is_published(const DrawnSeries& series) {
  return series.name.starts_with("published") || series.name.ends_with(kOfPublished);
}

// The class of its colour; that of published values is the one of what they are compared with.
std::string colour(const DrawnFigure& figure, std::size_t i) {
  const std::string& name = figure.series[i].name;
  if (name.ends_with(kOfPublished)) {
    const std::string simulated = name.substr(0, name.size() - kOfPublished.size()) + ", simulated";
    for (std::size_t other = 0; other < figure.series.size(); ++other)
      if (figure.series[other].name == simulated) return colour(figure, other);
  }
  if (is_published(figure.series[i])) return "published";
  constexpr std::size_t kColours = 7;
  std::size_t place = 0;
  for (std::size_t before = 0; before < i; ++before)
    if (!is_published(figure.series[before])) ++place;
  return fmt::format("s{}", place % kColours);
}

constexpr double kLegendRow = 18;

// Lines have their names at their ends, where these are few.
bool names_at_ends(const DrawnFigure& figure) {
  constexpr std::size_t kFew = 4;
  return !figure.places.empty() && figure.series.size() <= kFew;
}

struct Legend {
  std::string text;
  double below = 0;  // what rows beyond the first one need
};

Legend legend(const DrawnFigure& figure) {
  Legend out;
  if (names_at_ends(figure)) {
    out.below = -kLegendRow;
    return out;
  }
  double x = 14;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const std::string& name = figure.series[i].name;
    const double width = 16 + text_width_of(name);
    if (x > 14 && x + width > kRight) {
      x = 14;
      out.below += kLegendRow;
    }
    out.text +=
        figure.places.empty()
            ? fmt::format("<rect class=\"mark {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"11\" height=\"11\" rx=\"2\"/>\n",
                          colour(figure, i), x, 36 + out.below)
            : fmt::format("<path class=\"line {}{}\" d=\"M{:.1f} {:.1f}h13\"/>\n", colour(figure, i),
                          is_published(figure.series[i]) ? " broken" : "", x - 1, 41.5 + out.below);
    out.text += svg_text(x + 16, 46 + out.below, "start", "tick", name);
    x += width + 18;
  }
  return out;
}

std::string frame(const DrawnFigure& figure, const Scale& y, double right) {
  std::string out;
  const double step = tick_step(y.high - y.low);
  for (std::int64_t tick = std::llround(y.low / step); tick <= std::llround(y.high / step); ++tick) {
    const double value = static_cast<double>(tick) * step;
    out += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", value == 0 ? "zero" : "grid", kLeft,
                       y(value), right);
    out += svg_text(kLeft - 8, y(value) + 4, "end", "tick", engineering(value, figure.y));
  }
  if (!says_unit(figure.y)) out += svg_text(14, 66, "start", "tick", figure.y);
  if (!figure.x.empty() && !says_unit(figure.x))
    out += svg_text((kLeft + right) / 2, kHeight - 8, "middle", "tick", figure.x);
  return out;
}

// A label below its bars, in two lines where one is too long.
std::string bar_label(double middle, double room, std::string_view text) {
  const double y = kBottom + 18;
  std::size_t split = text.npos;
  for (std::size_t at = text.find(' '); at != text.npos && text_width_of(text) > room; at = text.find(' ', at + 1))
    if (split == text.npos || std::max(at, text.size() - at) < std::max(split, text.size() - split)) split = at;
  if (split == text.npos) return svg_text(middle, y, "middle", "tick", text);
  return svg_text(middle, y, "middle", "tick", text.substr(0, split)) +
         svg_text(middle, y + 14, "middle", "tick", text.substr(split + 1));
}

std::string bars(const DrawnFigure& figure, const Scale& y) {
  std::string out;
  const double group = (kRight - kLeft) / static_cast<double>(figure.labels.size());
  const double width = std::min(46., 0.78 * group / static_cast<double>(figure.series.size()));
  for (std::size_t label = 0; label < figure.labels.size(); ++label) {
    const double middle = kLeft + (static_cast<double>(label) + 0.5) * group;
    out += bar_label(middle, group - 4, figure.labels[label]);
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
      const auto value = figure.series[i].values[label];
      if (!value) continue;
      const double x = middle + (static_cast<double>(i) - static_cast<double>(figure.series.size()) / 2) * width;
      const double top = y(std::max(0., *value)), bottom = y(std::min(0., *value));
      out += fmt::format("<rect class=\"mark {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                         colour(figure, i), x + 1, top, width - 2, bottom - top);
      const std::string text = engineering(*value, figure.y, 3);
      if (width >= 0.85 * text_width_of(text))
        out += svg_text(x + width / 2, *value < 0 ? bottom + 12 : top - 4, "middle", "figure", text);
    }
  }
  return out;
}

// What the names of lines need on the right.
double room_for_names(const DrawnFigure& figure) {
  double room = 0;
  for (const DrawnSeries& series : figure.series)
    if (names_at_ends(figure)) room = std::max(room, text_width_of(series.name) + 10);
  return room;
}

// The names at the ends of their lines, from above to below with room for each.
std::string names(const DrawnFigure& figure, const Scale& x, const Scale& y, const std::vector<std::size_t>& order) {
  struct Name {
    std::size_t series;
    double x, y;
  };
  std::vector<Name> all;
  for (std::size_t i = 0; i < figure.series.size(); ++i)
    for (auto place = order.rbegin(); place != order.rend(); ++place)
      if (const auto value = figure.series[i].values[*place]) {
        all.push_back({i, x(figure.places[*place]), y(*value)});
        break;
      }
  std::ranges::stable_sort(all, {}, &Name::y);
  constexpr double kLine = 15;
  for (std::size_t i = 1; i < all.size(); ++i) all[i].y = std::max(all[i].y, all[i - 1].y + kLine);
  const double beyond = all.empty() ? 0 : std::max(0., all.back().y - kBottom);
  std::string out;
  for (const Name& name : all)
    out += svg_text(name.x + 9, name.y - beyond + 4, "start", "name", figure.series[name.series].name);
  return out;
}

std::string lines(const DrawnFigure& figure, const Scale& y, double right) {
  const auto [least, most] = std::ranges::minmax(figure.places);
  const bool log = least > 0 && most / least > kWideAxis;
  const double margin = most > least ? 0.03 * (most - least) : 1;
  const Scale x = log ? Scale{least / 1.08, most * 1.08, kLeft, right, true}
                      : Scale{least - margin, most + margin, kLeft, right, false};
  std::vector<std::size_t> order(figure.places.size());  // from left to right
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t place) { return figure.places[place]; });
  std::string out;
  double free = 0;  // where the label before ends; one that would run into it is left out
  for (const std::size_t place : order) {
    const std::string text = engineering(figure.places[place], figure.x, 3);
    const double half = text_width_of(text) / 2 + 3, at = std::min(x(figure.places[place]), kWidth - half);
    if (at - half < free) continue;
    free = at + half;
    out += svg_text(at, kBottom + 18, "middle", "tick", text);
  }
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    std::string path, marks;
    bool pen = false;
    for (const std::size_t place : order) {
      const auto value = figure.series[i].values[place];
      if (value) {
        path += fmt::format("{}{:.1f} {:.1f}", pen ? "L" : "M", x(figure.places[place]), y(*value));
        marks += fmt::format("<circle class=\"mark {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>\n", colour(figure, i),
                             x(figure.places[place]), y(*value));
      }
      pen = value.has_value();
    }
    out += fmt::format("<path class=\"line {}{}\" d=\"{}\"/>\n", colour(figure, i),
                       is_published(figure.series[i]) ? " broken" : "", path) +
           marks;
  }
  return names_at_ends(figure) ? out + names(figure, x, y, order) : out;
}

}  // namespace

std::string study_figure(const DrawnFigure& figure) {
  const Scale y = value_scale(figure);
  const Legend series = legend(figure);
  const double right = kRight - room_for_names(figure);
  return svg_document(
      kWidth, kHeight + series.below, figure.title,
      series.text + fmt::format("<g transform=\"translate(0 {})\">\n{}{}</g>\n", series.below, frame(figure, y, right),
                                figure.places.empty() ? bars(figure, y) : lines(figure, y, right)));
}

}  // namespace llmscape::report
