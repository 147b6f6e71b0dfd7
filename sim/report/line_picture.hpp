// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace llmscape::report {

// A line of a picture, by rising x. On a log axis values of 0 or less are left out.
struct PictureLine {
  std::string style;  // class of its colour: "a", "b"
  std::vector<double> x, y;
  bool steps = false;  // a value holds until the next
};

// An area between two lines.
struct PictureBand {
  std::vector<double> x, low, high;
};

struct LinePicture {
  std::string title, x, y;  // what the axes are
  bool log_x = false, log_y = false;
  std::vector<PictureLine> lines;
  PictureBand band{};
};

// The picture as SVG within a page whose style gives the classes `grid`, `tick`, `axis`, `band` and `line a` colours.
std::string svg_of(const LinePicture& picture);

}  // namespace llmscape::report
