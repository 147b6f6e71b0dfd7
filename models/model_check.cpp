// SPDX-License-Identifier: Apache-2.0
#include "models/model_check.hpp"

#include <fmt/format.h>

namespace llmscape::models {
namespace {

constexpr double kMostParameters = 1e15;

// An upper bound of the matrices' parameters, in floating point as the exact count might overflow.
double rough_parameters(const ModelSpec& model) {
  const auto hidden = static_cast<double>(model.hidden);
  double sum = 2 * hidden * static_cast<double>(model.vocabulary);
  for (const LayerGroup& group : model.groups) {
    const FeedForward& f = group.feed_forward;
    double mixer = 0;
    for (const Linear& linear : projections(model.hidden, group.mixer, 1))
      mixer += static_cast<double>(linear.k) * static_cast<double>(linear.n);
    const double channels = static_cast<double>(f.width) + static_cast<double>(f.shared_width) +
                            static_cast<double>(f.experts) * static_cast<double>(f.expert_width);
    sum += group.count * (mixer + 3 * hidden * channels);
  }
  return sum;
}

}  // namespace

void check_size(const ModelSpec& model, const SourceRange& where, Diagnostics& diagnostics) {
  const double parameters = rough_parameters(model);
  if (parameters > kMostParameters)
    diagnostics.error(
        where,
        fmt::format("these widths make a model of about {:.0e} parameters; more than 1e15 are refused", parameters));
}

}  // namespace llmscape::models
