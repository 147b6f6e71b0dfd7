// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/studies/results.hpp"

namespace llmscape::studies {

// Computes expressions over the results of a study, once for each seed.
//
// RUN.PATH is a column of `llmscape list metrics` (ttft.p99) or a place in run.json (kv.hit_rate, groups[0].busy);
// RUN[2].PATH the same of one point of an axis, RUN[].PATH the list of all; RUN[].value is what the axis has there.
class Values {
 public:
  Values(const Study& study, const Results& results) : study_(study), results_(results) {}

  // Seeds for which the expression is computed: those of its runs. Runs with one seed go with every seed of the
  // others; of others that differ the fewest count.
  [[nodiscard]] std::int64_t seeds(const Expression& expression) const;
  [[nodiscard]] std::optional<Value> at(const Expression& expression, std::int64_t seed) const;
  // For seeds 1, 2, ...
  [[nodiscard]] std::vector<std::optional<Value>> all(const Expression& expression) const;
  // Why a value is missing: the first name without one, with the nearest place in run.json that there is.
  [[nodiscard]] std::string why_nothing(const Expression& expression) const;

 private:
  [[nodiscard]] std::optional<Value> look_up(std::string_view name, std::int64_t seed) const;
  [[nodiscard]] std::optional<Value> of_point(std::size_t run, std::size_t point, std::string_view path,
                                              std::int64_t seed) const;
  [[nodiscard]] std::vector<std::string_view> places_in(const Expression& expression) const;

  const Study& study_;
  const Results& results_;
  mutable std::map<std::pair<const Let*, std::int64_t>, std::optional<Value>> lets_;  // known so far, by seed
};

}  // namespace llmscape::studies
