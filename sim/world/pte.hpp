// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "models/model.hpp"
#include "sim/metrics/observer.hpp"
#include "sim/result/result.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::world {

// What one decoded token costs for each token of its sequence, in prefill tokens (arXiv 2604.05404), on a device of
// this intensity (FLOP per byte).
struct PteGamma {
  double paper = 0;  // 2 layers width intensity / parameters: 16-bit KV entries of as many heads as there are queries
  double kv = 0;     // the same of the KV entries that the model stores: intensity x bytes per token / (2 parameters)
};
PteGamma pte_gamma(const models::ModelSpec& model, double intensity);

// Of the measured tasks. Nothing where there was none, or where devices that decode for a model which was called do not
// state their peaks, or differ in their intensity.
std::optional<result::PteResult> pte_of(const scenario::Scenario& scenario, const metrics::Observer& seen);

}  // namespace llmscape::world
