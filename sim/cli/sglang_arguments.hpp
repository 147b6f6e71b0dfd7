// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/yaml_reader.hpp"

namespace llmscape::cli {

// What the arguments of SGLang's server say about a scenario.
struct SglangArguments {
  YamlNode formats;          // weights, kv
  YamlNode serving;          // the `serving` section
  std::int64_t devices = 1;  // of all ranks
};

// By their names, as its log prints them ("tp_size"). Those that change a time and are not read go to `notes`.
SglangArguments read_sglang_arguments(const std::map<std::string, std::string>& arguments,
                                      std::vector<std::string>& notes);

}  // namespace llmscape::cli
