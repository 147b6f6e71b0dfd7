// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/pipeline.hpp"

#include <algorithm>

namespace llmscape::serving {

Pipeline::Passage Pipeline::pass(Seconds ready, Seconds time) {
  Passage passage;
  Seconds at = ready;
  for (std::size_t stage = 0; stage < free_.size(); ++stage) {
    const Seconds start = std::max(at, free_[stage]);
    if (used_[stage]) passage.idle += start - free_[stage];
    used_[stage] = true;
    taken_up_[stage] = start;
    at = start + time;
    free_[stage] = at;
    if (stage > 0) continue;
    passage.entered = start;
    passage.left_first = at;
  }
  passage.end = at;
  passage.taken_up = taken_up_;
  return passage;
}

}  // namespace llmscape::serving
