// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/quantity.hpp"

namespace llmscape::serving {

// The stages of one pipeline, which the batches of several streams pass in the order in which they are planned. Stage i
// takes up a batch when stage i - 1 has done with it and it has itself done with the batch before.
class Pipeline {
 public:
  explicit Pipeline(std::size_t stages) : free_(stages), used_(stages, false), taken_up_(stages) {}

  struct Passage {
    Seconds entered;     // the first stage
    Seconds left_first;  // the first stage
    Seconds end;         // of the last stage
    Seconds idle;        // of all stages together, since they had done with the batch before (SARATHI's bubbles)
    std::span<const Seconds> taken_up;  // when each stage takes it up; until the next pass()
  };
  // A batch that is there at `ready` and takes every stage `time`.
  Passage pass(Seconds ready, Seconds time);

 private:
  std::vector<Seconds> free_;      // from when on
  std::vector<bool> used_;         // what a stage waits for its very first batch is no bubble
  std::vector<Seconds> taken_up_;  // of the last batch
};

}  // namespace llmscape::serving
