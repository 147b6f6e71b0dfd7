// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/yaml_reader.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace llmscape::world {

// A number of a device that stands in the user's file or on the command line, over what its preset has.
struct LaidFigure {
  std::string path;                // below the device: "links.bandwidth"
  std::vector<std::size_t> steps;  // entry or item of each level
};

// Those of a device as it was laid out. Where no part of it comes from a preset, those of the command line alone.
std::vector<LaidFigure> laid_over(const YamlNode& device);

}  // namespace llmscape::world
