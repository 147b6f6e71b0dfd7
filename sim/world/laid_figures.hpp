// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"
#include "hardware/device.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace llmscape::world {

// A number of a device that stands in the user's file or on the command line, over what its preset has.
struct LaidFigure {
  std::string path;                // below the device: "links.bandwidth"
  std::vector<std::size_t> steps;  // entry or item of each level
  // The device otherwise: with twice the figure and with half of it (a whole number rounded), or 1 for a share that may
  // not be doubled; a whole number with 1, a size with a thousand times as much or as little as well; a limit raised,
  // or taken away where it cannot be raised. Without those that are refused.
  std::vector<std::shared_ptr<const hardware::Device>> otherwise;
  // It counts where a step reaches it, so that it is asked what would be without.
  [[nodiscard]] bool is_limit() const { return path == "tdp" || path == "power_limit"; }
};

// Those of a device as it was laid out, but for how many there are of it. Where no part of it comes from a preset,
// those of the command line alone.
std::vector<LaidFigure> laid_over(const YamlNode& device);

}  // namespace llmscape::world
