// SPDX-License-Identifier: Apache-2.0
#include "sim/report/line_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/report/svg.hpp"

namespace llmscape::report {
namespace {

constexpr double kPictureWidth = 560, kPictureHeight = 260;
constexpr double kPlotLeft = 58, kPlotRight = 548, kPlotTop = 26, kPlotBottom = 214;

class PictureScale {
 public:
  // Of all values of an axis; it begins at 0 where it is not of logarithms.
  PictureScale(const std::vector<double>& values, bool log, double from, double to) : log_(log), from_(from), to_(to) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const double value : values) {
      if (!shows(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (high == 0) low = high = 1;
    if (log_) {
      low_ = std::log10(low / 1.1);
      high_ = std::log10(high * 1.1);
    } else {
      high_ = high * 1.02;
    }
  }
  [[nodiscard]] bool shows(double value) const { return !log_ || value > 0; }
  [[nodiscard]] double operator()(double value) const {
    return from_ + ((log_ ? std::log10(value) : value) - low_) / (high_ - low_) * (to_ - from_);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> out;
    if (log_) {
      // Powers of ten, and 2 and 5 times them where there are few.
      const bool few = high_ - low_ < 2;
      for (int power = static_cast<int>(std::floor(low_)); power <= static_cast<int>(std::ceil(high_)); ++power)
        for (const double factor : {1.0, 2.0, 5.0})
          if (factor == 1 || few) out.push_back(factor * std::pow(10.0, power));
      std::erase_if(out, [this](double at) { return std::log10(at) < low_ || std::log10(at) > high_; });
      return out;
    }
    const double rough = high_ / 5, power = std::pow(10.0, std::floor(std::log10(rough)));
    const double step = rough <= 2 * power ? 2 * power : rough <= 5 * power ? 5 * power : 10 * power;
    out.push_back(0);
    while (out.back() + step <= high_) out.push_back(out.back() + step);
    return out;
  }

 private:
  bool log_;
  double from_, to_, low_ = 0, high_ = 1;
};

std::string path_of(const PictureLine& line, const PictureScale& x, const PictureScale& y) {
  std::string out;
  double before = 0;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (!x.shows(line.x[i]) || !y.shows(line.y[i])) continue;
    const double at = y(line.y[i]);
    if (line.steps && !out.empty()) out += fmt::format("L{:.1f} {:.1f}", x(line.x[i]), before);
    out += fmt::format("{}{:.1f} {:.1f}", out.empty() ? "M" : "L", x(line.x[i]), at);
    before = at;
  }
  return out;
}

std::string path_of(const PictureBand& band, const PictureScale& x, const PictureScale& y) {
  PictureLine around{"", band.x, band.low};
  for (std::size_t i = band.x.size(); i-- > 0;) {
    around.x.push_back(band.x[i]);
    around.y.push_back(band.high[i]);
  }
  return path_of(around, x, y);
}

std::string frame_of(const LinePicture& picture, const PictureScale& x, const PictureScale& y) {
  std::string out;
  for (const double at : x.ticks())
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1}V{2}\"/><text class=\"tick\" x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4}</text>\n",
        x(at), kPlotTop, kPlotBottom, kPlotBottom + 16, engineering(at, ""));
  for (const double at : y.ticks())
    out += fmt::format(
        "<path class=\"grid\" d=\"M{0} {1:.1f}H{2}\"/><text class=\"tick\" x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5}</text>\n",
        kPlotLeft, y(at), kPlotRight, kPlotLeft - 6, y(at) + 4, engineering(at, ""));
  out += fmt::format("<text class=\"tick\" x=\"{}\" y=\"14\">{}</text>\n", 6, escaped(picture.y));
  out += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (kPlotLeft + kPlotRight) / 2, kPictureHeight - 8, escaped(picture.x));
  return out;
}

}  // namespace

std::string svg_of(const LinePicture& picture) {
  std::vector<double> across = picture.band.x, along = picture.band.high;
  along.insert(along.end(), picture.band.low.begin(), picture.band.low.end());
  for (const PictureLine& line : picture.lines) {
    across.insert(across.end(), line.x.begin(), line.x.end());
    along.insert(along.end(), line.y.begin(), line.y.end());
  }
  const PictureScale x(across, picture.log_x, kPlotLeft, kPlotRight), y(along, picture.log_y, kPlotBottom, kPlotTop);
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kPictureWidth,
                                kPictureHeight, escaped(picture.title)) +
                    frame_of(picture, x, y);
  if (!picture.band.x.empty()) out += fmt::format("<path class=\"band\" d=\"{}Z\"/>\n", path_of(picture.band, x, y));
  for (const PictureLine& line : picture.lines)
    out += fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", line.style, path_of(line, x, y));
  return out + "</svg>\n";
}

}  // namespace llmscape::report
