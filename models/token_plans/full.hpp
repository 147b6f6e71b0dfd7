// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/token_plan.hpp"

namespace llmscape::models {

// The model as it is.
struct FullPlan : TokenPlan {
  void apply(ModelSpec&) const override {}
};
const Fields<FullPlan>& full_plan_fields();

}  // namespace llmscape::models
