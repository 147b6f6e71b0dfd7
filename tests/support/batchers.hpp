// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "base/yaml_reader.hpp"
#include "sim/serving/batcher.hpp"

namespace llmscape::testing {

// A batcher as YAML names it, with its defaults.
inline std::shared_ptr<const serving::BatcherPolicy> batcher_of(const std::string& yaml) {
  Diagnostics diagnostics;
  return serving::batchers().read(
      read_yaml(std::make_shared<const SourceText>(SourceText{"batcher", yaml}), diagnostics), diagnostics);
}

// Policy `name`, told to keep no prefixes if it would.
inline std::string without_prefixes(const std::string& name) {
  if (!batcher_of(name)->prefix_caching()) return "{policy: " + name + "}";
  return "{policy: " + name + (name == "sglang" ? ", radix_cache" : ", enable_prefix_caching") + ": false}";
}

}  // namespace llmscape::testing
