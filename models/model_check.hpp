// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "models/model.hpp"

namespace llmscape::models {

// Reports a model of more than 10^15 parameters, which is a slip and would overflow the counts.
void check_size(const ModelSpec& model, const SourceRange& where, Diagnostics& diagnostics);

}  // namespace llmscape::models
