// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.hpp"

// Random scenarios that can be made smaller: a plain base and a list of changes to it, each written as `--set` takes
// it.
namespace llmscape::testing {

struct Draft {
  std::string base;
  std::vector<std::string> changes;  // "serving.tensor_parallel=2"; in this order

  [[nodiscard]] Draft with(std::string change) const;
  // As one YAML file; empty where the changes do not go together.
  [[nodiscard]] std::string yaml() const;
  // Nothing where this scenario cannot be run: that is for the reader of files to say, not for these laws.
  [[nodiscard]] std::optional<scenario::Scenario> scenario() const;
};

// One replica, everything asked for at once, nothing that reacts to time: no tools, streams, controllers or
// preemptions. What runs does not depend on how long it takes, so that a faster part can never make it slower.
Draft plain_draft(std::uint64_t seed);
// All that a scenario may have: batchers, routers, arrivals, streams, pools, links, tiers, faults, controllers.
Draft any_draft(std::uint64_t seed);
// On devices that are described by a few figures of the data sheet, each of which has a unit.
Draft closed_form_draft(std::uint64_t seed);

// The fewest changes with which `fails` still holds, taken away one after the other.
Draft shrunk(Draft draft, const std::function<bool(const Draft&)>& fails);

}  // namespace llmscape::testing
