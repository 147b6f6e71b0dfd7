// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>

namespace llmscape::explore {

// What is known of a value: it meets what is asked, or it does not. `refused`: no scenario can have it.
enum class Standing { met, failed, refused };

// Where one end of the values that meet something is sought. All values on the easy side of it meet it.
struct SearchSpace {
  bool largest = true;      // the largest value that meets it; else the smallest
  double start = 1;         // where the bracket begins, above 0
  double low = 0;           // smallest value that is tried; 0: as small as it takes
  double high = 0;          // largest; 0: as large as it takes
  bool whole = false;       // whole numbers: the end is found exactly
  double precision = 0.02;  // else the bracket is done when its ends are no further apart, relatively
};

// Where the search stands. Without `next` it has ended.
struct SearchStep {
  std::optional<double> next;    // the value to try
  std::optional<double> met;     // the furthest known to meet it
  std::optional<double> failed;  // the nearest beyond it known to fail
};

// The next step of the search, from the beginning, over what is known: doubling or halving from the start until one
// value meets it and one does not, then bisection, in the log unless values are whole. Whole numbers that are refused
// are passed over; other values that are refused end the space: between them and the last one before it is sought, too.
// `standing` answers nothing for a value that was not tried yet.
SearchStep next_step(const SearchSpace& space, const std::function<std::optional<Standing>(double)>& standing);

}  // namespace llmscape::explore
