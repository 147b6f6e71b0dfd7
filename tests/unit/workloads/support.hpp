// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "workloads/workload.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

namespace llmscape::workloads {

// The text as a tree; a test fails if it is not YAML.
YamlNode yaml(const std::string& text);

// Reads one kind of a family from YAML; a test fails with the messages if that is refused.
template <class Base>
std::shared_ptr<const Base> read(const Family<Base>& family, const std::string& text) {
  Diagnostics diagnostics;
  auto out = family.read(yaml(text), diagnostics);
  REQUIRE_MESSAGE(out, diagnostics.text(false));
  return out;
}

// The first `n` programs of a stream, all starting at time 0.
std::vector<Program> programs_of(const std::string& stream, int n, std::uint64_t seed = 1);

// The generator of a workload section; SLO classes are "first", "second", "third". No `models`: one without a name.
std::unique_ptr<Generator> generator_of(const std::string& workload, std::uint64_t seed = 1,
                                        const std::vector<std::string>& models = {});
// All that an open workload emits.
std::vector<Program> all_of(const std::string& workload, std::uint64_t seed = 1,
                            const std::vector<std::string>& models = {});
// The messages for a workload that is refused.
std::string mistakes_of(const std::string& workload, const std::vector<std::string>& models = {});

// Whether a prompt begins with all of `head`.
bool starts_with(const Prompt& prompt, const Prompt& head);

struct Moments {
  double mean = 0, cv = 0;
};
Moments moments_of(const std::vector<double>& values);

}  // namespace llmscape::workloads
