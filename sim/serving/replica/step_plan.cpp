// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/step_plan.hpp"

#include <algorithm>

namespace llmscape::serving {

bool StepPlan::goes_on() const {
  return decodes == 0 && std::ranges::all_of(chunks, [](const PlannedChunk& chunk) {
           return !chunk.work.ends_prompt && !chunk.unfinished;
         });
}

void StepPlan::clear() {
  chunks.clear();
  finished.clear();
  shape = nullptr;
  decodes = drafts = late = idle_decodes = 0;
  attended.clear();
  drafted.clear();
  copies = {};
  steady = false;
}

}  // namespace llmscape::serving
