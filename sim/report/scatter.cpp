// SPDX-License-Identifier: Apache-2.0
#include "sim/report/scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/diagnostics.hpp"
#include "sim/report/units.hpp"

namespace llmscape::report {
namespace {

constexpr std::size_t kLines = 24;
constexpr double kLogRange = 30;  // beyond this factor most points would crowd at one end

// Where the values of an axis lie, from 0 at its low end to 1.
class Scale {
 public:
  Scale(double low, double high) : log_(low > 0 && high / low > kLogRange), low_(along(low)), high_(along(high)) {
    // What differs by rounding is one value: there are no round numbers between its ends.
    const bool apart = high_ - low_ > 1e-9 * std::max(std::abs(low_), std::abs(high_));
    const double margin = apart ? 0.03 * (high_ - low_) : std::max(std::abs(low_), 1.) / 10;
    low_ -= margin;
    high_ += margin;
  }
  [[nodiscard]] bool log() const { return log_; }
  [[nodiscard]] double share(double value) const { return (along(value) - low_) / (high_ - low_); }

  // Round values between the ends, some two to six.
  [[nodiscard]] std::vector<double> ticks() const {
    if (!log_) return linear_ticks();
    for (const int per_decade : {3, 1})
      if (std::vector<double> values = log_ticks(per_decade, 1); values.size() <= 6) return values;
    return log_ticks(1, static_cast<int>(std::ceil((high_ - low_) / 6)));
  }

 private:
  [[nodiscard]] double along(double value) const { return log_ ? std::log10(value) : value; }

  [[nodiscard]] std::vector<double> linear_ticks() const {
    const double rough = (high_ - low_) / 5, decade = std::pow(10, std::floor(std::log10(rough)));
    double step = 10 * decade;
    for (const double factor : {5., 2., 1.})
      if (factor * decade >= rough) step = factor * decade;
    std::vector<double> values;
    for (double n = std::ceil(low_ / step); n * step <= high_; ++n) values.push_back(n * step);
    return values;
  }
  [[nodiscard]] std::vector<double> log_ticks(int per_decade, int every) const {
    static constexpr std::array kMantissas = {1., 2., 5.};
    std::vector<double> values;
    const int first = static_cast<int>(std::floor(low_));
    for (int decade = first; decade <= high_; ++decade)
      for (int i = 0; i < per_decade; ++i) {
        const double value = kMantissas.at(static_cast<std::size_t>(i)) * std::pow(10, decade);
        if ((decade - first) % every == 0 && share(value) >= 0 && share(value) <= 1) values.push_back(value);
      }
    return values;
  }

  bool log_;
  double low_, high_;
};

Scale scale_of(const std::vector<ScatterPoint>& points, double ScatterPoint::* member) {
  const auto [low, high] = std::ranges::minmax(points, {}, member);
  return {low.*member, high.*member};
}

std::string titled(const ScatterAxis& axis, const Scale& scale) {
  const bool in_ticks = axis.unit.empty() || axis.unit == "s" || axis.unit == "share";
  return axis.label + (in_ticks ? "" : " (" + axis.unit + ")") + (scale.log() ? ", log" : "");
}

constexpr std::size_t kLetters = 26;

std::string glyph_of(const ScatterPoint& point, bool one_group) {
  if (one_group) return point.stands_out ? "●" : "·";
  if (point.group >= kLetters) return point.stands_out ? "*" : "+";
  const char letter = static_cast<char>('a' + point.group);
  return std::string(1, point.stands_out ? static_cast<char>(letter - 'a' + 'A') : letter);
}

// Colours that those who see few of them tell apart best come first.
std::string painted(const std::string& glyph, std::size_t group, bool bold, bool colour) {
  static constexpr std::array kColours = {34, 33, 36, 35, 32, 31};
  if (!colour) return glyph;
  return fmt::format("\033[{}{}m{}\033[0m", bold ? "1;" : "", kColours.at(group % kColours.size()), glyph);
}

// The names of the groups behind their letters, in lines.
std::vector<std::string> legend(const std::vector<std::string>& groups, std::size_t indent, std::size_t width,
                                bool colour) {
  std::vector<std::string> lines;
  if (groups.size() == 1) return {std::string(indent, ' ') + "● on the frontier   · not"};
  std::size_t used = width;
  for (std::size_t group = 0; group < std::min(groups.size(), kLetters + 1); ++group) {
    const std::string letter = glyph_of({0, 0, group, true}, false);
    const std::string name =
        group < kLetters ? shortened(groups[group]) : fmt::format("{} more groups", groups.size() - kLetters);
    const std::size_t needed = name.size() + 5;
    if (used + needed > width) {
      lines.emplace_back(indent, ' ');
      used = indent;
    }
    lines.back() += painted(letter, group, true, colour) + ' ' + name + "   ";
    used += needed;
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  constexpr std::size_t kMostLines = 4;
  if (lines.size() > kMostLines) {
    lines.resize(kMostLines);
    lines.back() = std::string(indent, ' ') + "...";
  }
  return lines;
}

// The lines that hold points, with none of the axes.
std::vector<std::string> plane(const Scatter& plot, const Scale& x, const Scale& y, std::size_t columns,
                               std::size_t lines, bool colour) {
  std::vector<std::vector<const ScatterPoint*>> cells(lines, std::vector<const ScatterPoint*>(columns));
  const auto place = [](double share, std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(share * static_cast<double>(count)));
  };
  for (const ScatterPoint& point : plot.points) {
    const ScatterPoint*& cell = cells[lines - 1 - place(y.share(point.y), lines)][place(x.share(point.x), columns)];
    if (!cell || (point.stands_out && !cell->stands_out)) cell = &point;
  }
  std::vector<std::string> out;
  for (const auto& line : cells) {
    std::string& text = out.emplace_back();
    for (const ScatterPoint* point : line)
      text += point ? painted(glyph_of(*point, plot.groups.size() == 1), point->group, point->stands_out, colour) : " ";
    text.erase(text.find_last_not_of(' ') + 1);
  }
  return out;
}

// "0.5", "1 s": without the zeros that end a number of three digits.
std::string tick_text(double value, const std::string& unit) {
  std::string text = in_unit(value, unit);
  const std::size_t point = text.find('.'), end = std::min(text.find(' '), text.size());
  if (point == std::string::npos) return text;
  const std::size_t last = text.find_last_not_of('0', end - 1);
  const std::size_t keep = last == point ? point : last + 1;
  return text.erase(keep, end - keep);
}

// With more digits where three do not tell ticks apart.
std::vector<std::string> tick_texts(const std::vector<double>& ticks, const std::string& unit) {
  std::vector<std::string> texts;
  for (const double tick : ticks) texts.push_back(tick_text(tick, unit));
  if (std::ranges::adjacent_find(texts) == texts.end()) return texts;
  for (std::size_t i = 0; i < ticks.size(); ++i) texts[i] = fmt::format("{:.6g}{}", ticks[i], unit == "s" ? " s" : "");
  return texts;
}

// Ticks below the plane, those that fit.
std::string tick_line(const Scale& scale, const std::string& unit, std::size_t indent, std::size_t columns) {
  std::string line(indent + columns, ' ');
  std::size_t free = 0;
  const std::vector<double> ticks = scale.ticks();
  const std::vector<std::string> texts = tick_texts(ticks, unit);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const std::string& text = texts[i];
    const auto middle = indent + static_cast<std::size_t>(scale.share(ticks[i]) * static_cast<double>(columns - 1));
    const std::size_t begin = std::min(middle - std::min(middle, text.size() / 2), line.size() - text.size());
    if (begin < free) continue;
    line.replace(begin, text.size(), text);
    free = begin + text.size() + 2;
  }
  return line.erase(line.find_last_not_of(' ') + 1);
}

}  // namespace

std::string scatter(const Scatter& plot, bool colour, std::size_t width) {
  if (plot.points.empty()) return "";
  const Scale x = scale_of(plot.points, &ScatterPoint::x), y = scale_of(plot.points, &ScatterPoint::y);
  const std::vector<double> ticks = y.ticks();
  const std::vector<std::string> texts = tick_texts(ticks, plot.y.unit);
  std::size_t indent = 0;
  for (const std::string& text : texts) indent = std::max(indent, text.size());
  const std::size_t columns = width - indent - 2;  // for " |"
  const std::vector<std::string> names = legend(plot.groups, indent + 2, width, colour);
  const std::size_t lines = kLines - 4 - names.size();  // for the title, the axis, its ticks and its title

  std::vector<std::string> margin(lines, std::string(indent, ' '));
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const auto below = std::min(lines - 1, static_cast<std::size_t>(y.share(ticks[i]) * static_cast<double>(lines)));
    margin[lines - 1 - below] = fmt::format("{:>{}}", texts[i], indent);
  }
  std::string out = titled(plot.y, y) + '\n';
  const auto points = plane(plot, x, y, columns, lines, colour);
  for (std::size_t line = 0; line < lines; ++line) out += margin[line] + " |" + points[line] + '\n';
  out += fmt::format("{:{}} +{:->{}}\n", "", indent, "", columns);
  out += tick_line(x, plot.x.unit, indent + 2, columns) + '\n';
  const std::string title = titled(plot.x, x);
  out += fmt::format("{:>{}}\n", title, std::max(title.size(), indent + 2 + (columns + title.size()) / 2));
  for (const std::string& line : names) out += line + '\n';
  return out;
}

}  // namespace llmscape::report
