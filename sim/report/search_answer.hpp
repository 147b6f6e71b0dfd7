// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/explore/search.hpp"

namespace llmscape::report {

// The answer in words with what it rests on, then the table of runs.
std::string search_text(const explore::SearchQuery& query, const explore::SearchAnswer& answer);

// Schema search/1: {schema, path, sought, slo, answer, next, runs, tried: [{value, number, meets, clear, why, limits,
// runs}]}, in SI units but for the numbers of the path itself.
std::string search_json(const explore::SearchQuery& query, const explore::SearchAnswer& answer);

}  // namespace llmscape::report
