// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"
#include "sim/observe/observed.hpp"

namespace llmscape::cli {

// Where the scenario of a server comes from beside what it left.
struct ObservedBase {
  std::string scenario;  // a file that the rest is laid over; empty: made from the engine's settings
  std::string device, model;
};

// The scenario of the server that was observed, in files that lie in `folder`: its settings, and its requests as
// `trace.jsonl` there. Nothing, and nothing reported, where neither a base nor an engine's settings and a device are
// known; nothing after reporting what is wrong with them. What was assumed goes to `notes`.
std::optional<YamlNode> observed_scenario(const observe::Observed& observed, const ObservedBase& base,
                                          const std::filesystem::path& folder, std::vector<std::string>& notes,
                                          Diagnostics& diagnostics);

}  // namespace llmscape::cli
