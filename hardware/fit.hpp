// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "base/sourced.hpp"
#include "hardware/residuals.hpp"

#include <string>

namespace llmscape::hardware {

// Where a group of parameters that were fitted or assumed together comes from.
struct Fit {
  Tag tag = Tag::assumed;
  std::string source;
  Residuals residuals;
};

template <class T>
void add_fit_fields(Fields<T>& fields) {
  fields.add_enum("tag", &T::tag,
                  {{"measured", Tag::measured},
                   {"fitted", Tag::fitted},
                   {"datasheet", Tag::datasheet},
                   {"fitted end to end", Tag::fitted_end_to_end},
                   {"assumed", Tag::assumed}},
                  "how much these parameters are worth");
  fields.add("source", &T::source, "where they come from: data, software, error of the fit");
  fields.add_group("residuals", &T::residuals, residuals_fields(),
                   "how measurements lay about the fit, for intervals; absent: supposed from the tag");
}

}  // namespace llmscape::hardware
