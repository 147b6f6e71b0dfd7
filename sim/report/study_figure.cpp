// SPDX-License-Identifier: Apache-2.0
#include "sim/report/study_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "sim/report/line_picture.hpp"

namespace llmscape::report {
namespace {

using studies::DrawnFigure;
using studies::DrawnSeries;

constexpr double kWidth = 640, kHeight = 330;
constexpr double kLeft = 62, kRight = 626, kTop = 84, kBottom = 280;  // of the plot
constexpr double kWideAxis = 30;  // labels that span more than this factor are spread in the log

// Of the report's page, light: --c0 and on; published values are --faint.
constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#a89d00"};
constexpr std::string_view kPublished = "#8a929c";

std::string text_at(double x, double y, std::string_view anchor, std::string_view style, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" {}>{}</text>\n", x, y, anchor, style,
                     escaped(text));
}
constexpr std::string_view kTick = R"(fill="#565e69" font-size="12")";

struct Scale {
  double low, high, from, to;
  bool log = false;
  [[nodiscard]] double operator()(double value) const {
    const auto in = [this](double v) { return log ? std::log10(v) : v; };
    return from + (in(value)-in(low)) / (in(high)-in(low)) * (to - from);
  }
};

// "40 k": a tick has few columns.
std::string short_number(double value) {
  const double size = std::fabs(value);
  if (size >= 1e6 && size < 1e9) return fmt::format("{:.4g} M", value / 1e6);
  if (size >= 1e4 && size < 1e6) return fmt::format("{:.4g} k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

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

std::string_view colour(const DrawnFigure& figure, std::size_t i) {
  const std::string& name = figure.series[i].name;
  if (name.ends_with(kOfPublished)) {
    const std::string simulated = name.substr(0, name.size() - kOfPublished.size()) + ", simulated";
    for (std::size_t other = 0; other < figure.series.size(); ++other)
      if (figure.series[other].name == simulated) return colour(figure, other);
  }
  if (is_published(figure.series[i])) return kPublished;
  std::size_t place = 0;
  for (std::size_t before = 0; before < i; ++before)
    if (!is_published(figure.series[before])) ++place;
  return kColours[place % kColours.size()];
}

constexpr double kCharacter = 6.6;  // width of one in a tick or the legend
constexpr double kLegendRow = 18;

struct Legend {
  std::string text;
  double below = 0;  // what rows beyond the first one need
};

Legend legend(const DrawnFigure& figure) {
  Legend out;
  double x = 14;
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const std::string& name = figure.series[i].name;
    const double width = 16 + kCharacter * static_cast<double>(name.size());
    if (x > 14 && x + width > kRight) {
      x = 14;
      out.below += kLegendRow;
    }
    out.text += !figure.places.empty() && is_published(figure.series[i])
                    ? fmt::format(
                          "<path d=\"M{:.1f} {:.1f}h11\" stroke=\"{}\" stroke-width=\"3\" "
                          "stroke-dasharray=\"4 3\"/>\n",
                          x, 41.5 + out.below, colour(figure, i))
                    : fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"11\" height=\"11\" rx=\"2\" fill=\"{}\"/>\n",
                                  x, 36 + out.below, colour(figure, i));
    out.text += text_at(x + 16, 46 + out.below, "start", kTick, name);
    x += width + 18;
  }
  return out;
}

std::string frame(const DrawnFigure& figure, const Scale& y) {
  std::string out;
  const double step = tick_step(y.high - y.low);
  for (double tick = y.low; tick <= y.high + step / 2; tick += step) {
    const double value = std::fabs(tick) < step / 1e6 ? 0 : tick;
    out += fmt::format("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"{}\"/>\n", kLeft, y(value), kRight,
                       value == 0 ? "#8a929c" : "#e2e5e9");
    out += text_at(kLeft - 8, y(value) + 4, "end", kTick, short_number(value));
  }
  out += text_at(14, 66, "start", kTick, figure.y);
  if (!figure.x.empty()) out += text_at((kLeft + kRight) / 2, kHeight - 8, "middle", kTick, figure.x);
  return out;
}

std::string bars(const DrawnFigure& figure, const Scale& y) {
  std::string out;
  const double group = (kRight - kLeft) / static_cast<double>(figure.labels.size());
  const double width = std::min(46., 0.78 * group / static_cast<double>(figure.series.size()));
  for (std::size_t label = 0; label < figure.labels.size(); ++label) {
    const double middle = kLeft + (static_cast<double>(label) + 0.5) * group;
    out += text_at(middle, kBottom + 18, "middle", kTick, figure.labels[label]);
    for (std::size_t i = 0; i < figure.series.size(); ++i) {
      const auto value = figure.series[i].values[label];
      if (!value) continue;
      const double x = middle + (static_cast<double>(i) - static_cast<double>(figure.series.size()) / 2) * width;
      const double top = y(std::max(0., *value)), bottom = y(std::min(0., *value));
      out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x + 1,
                         top, width - 2, bottom - top, colour(figure, i));
      if (width >= 26)
        out += text_at(x + width / 2, *value < 0 ? bottom + 12 : top - 4, "middle",
                       R"(fill="#565e69" font-size="10.5")", fmt::format("{:.3g}", *value));
    }
  }
  return out;
}

std::string lines(const DrawnFigure& figure, const Scale& y) {
  const auto [least, most] = std::ranges::minmax(figure.places);
  const bool log = least > 0 && most / least > kWideAxis;
  const double margin = most > least ? 0.03 * (most - least) : 1;
  const Scale x = log ? Scale{least / 1.08, most * 1.08, kLeft, kRight, true}
                      : Scale{least - margin, most + margin, kLeft, kRight, false};
  std::string out;
  double free = 0;  // where the label before ends; one that would run into it is left out
  for (std::size_t i = 0; i < figure.places.size(); ++i) {
    const double half = kCharacter / 2 * static_cast<double>(figure.labels[i].size()) + 3;
    if (x(figure.places[i]) - half < free) continue;
    free = x(figure.places[i]) + half;
    out += text_at(x(figure.places[i]), kBottom + 18, "middle", kTick, figure.labels[i]);
  }
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    std::string path, marks;
    bool pen = false;
    for (std::size_t label = 0; label < figure.places.size(); ++label) {
      const auto value = figure.series[i].values[label];
      if (value) {
        path += fmt::format("{}{:.1f} {:.1f}", pen ? "L" : "M", x(figure.places[label]), y(*value));
        marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\"/>\n", x(figure.places[label]),
                             y(*value), colour(figure, i));
      }
      pen = value.has_value();
    }
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"{}/>\n",
                       path, colour(figure, i), is_published(figure.series[i]) ? " stroke-dasharray=\"5 4\"" : "") +
           marks;
  }
  return out;
}

}  // namespace

std::string study_figure(const DrawnFigure& figure) {
  const Scale y = value_scale(figure);
  const Legend names = legend(figure);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2}\" "
      "font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n{3}{4}<g transform=\"translate(0 "
      "{5})\">\n{6}{7}</g>\n</svg>\n",
      kWidth, kHeight + names.below, escaped(figure.title),
      text_at(14, 22, "start", R"(fill="#1a1d21" font-size="14" font-weight="600")", figure.title), names.text,
      names.below, frame(figure, y), figure.places.empty() ? bars(figure, y) : lines(figure, y));
}

}  // namespace llmscape::report
