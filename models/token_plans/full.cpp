// SPDX-License-Identifier: Apache-2.0
#include "models/token_plans/full.hpp"

namespace llmscape::models {

const Fields<FullPlan>& full_plan_fields() {
  static const Fields<FullPlan> fields("full", "the model as it is");
  return fields;
}

}  // namespace llmscape::models
