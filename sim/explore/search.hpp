// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "sim/explore/bisection.hpp"
#include "sim/explore/numeric_path.hpp"
#include "sim/explore/plan.hpp"
#include "sim/explore/tried_value.hpp"

namespace llmscape::metrics {
struct Column;
}

namespace llmscape::explore {

// What is sought: the largest or smallest value of a number that meets the question.
struct SearchQuery {
  NumericPath number;
  SearchSpace space;
  Question question;
};

struct SearchAnswer {
  std::optional<TriedValue> best;  // nothing: no value meets the limits
  std::optional<TriedValue> next;  // the nearest beyond that fails; nothing: none does, as far as was tried
  std::vector<TriedValue> tried;   // in the order in which the search asked for them, refused ones aside
  std::size_t runs = 0;            // that the answer rests on
  // Metrics of the limits that the first run lacks, though calls were completed in it: then nothing is told but the
  // value of that run, in `tried`.
  std::vector<const metrics::Column*> lacking;
  // Sums of the limits that go with the length of a window which differs from value to value: likewise.
  std::vector<const metrics::Column*> incomparable;
};

struct SearchOptions {
  int jobs = 1;
  scenario::Catalogs catalogs;
  std::function<void(std::size_t runs)> after_each;  // may throw to stop the search
};

// Searches over runs of the plan's base, each in a child process of its own. One run decides far from the limits; where
// one of them is near the same value runs with further seeds (judge). All values run with the same seeds, so that they
// differ by the value alone. With several `jobs` values are tried that the search may ask for next; the answer does not
// depend on them. Throws std::runtime_error when a run fails.
SearchAnswer search(const Plan& plan, const SearchQuery& query, const SearchOptions& options);

}  // namespace llmscape::explore
