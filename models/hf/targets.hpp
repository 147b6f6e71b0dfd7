// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/yaml_reader.hpp"
#include "models/model.hpp"

namespace llmscape::models::hf {

// One of the schemes of a checkpoint, and the modules that are stored so.
struct Scheme {
  // As the compressed-tensors library has them: "Linear" (all of them), names of modules, or regular expressions behind
  // "re:", which have to match from a name's beginning.
  std::vector<std::string> targets;
  Format weights;
  std::optional<Format> inputs{};  // of the GEMMs; absent: 16 bits

  [[nodiscard]] bool of_all() const;
};

// Stores each part of the model as the first scheme whose target it is says, but for what `ignored` leaves as it was:
// the projections into attention (or a state), those out of it, dense feed-forward, routed experts and the head. Where
// layers, or matrices of a part, differ, that of most is taken for all, with a warning at `where`, as errors of regular
// expressions are.
void store(const std::vector<Scheme>& schemes, const std::vector<std::string>& ignored, ModelSpec& model,
           const SourceRange& where, Diagnostics& diagnostics);

// Settles what GEMMs take as inputs, where schemes of several kinds are in use: `used`, in the order of the parts. The
// first narrow one is that of all, one that differs from it belongs to its weights.
void settle_inputs(const std::vector<const Scheme*>& used, ModelSpec& model, const SourceRange& where,
                   Diagnostics& diagnostics);

}  // namespace llmscape::models::hf
