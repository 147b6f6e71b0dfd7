// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>

#include "tests/support/serving_bench.hpp"

// What several suites of the serving bench have in common: made-up costs of a step, and answers by number.
namespace llmscape::testing {

inline double one_second(const models::Batch&) { return 1; }
// For tests in which everything happens at once.
inline double short_steps(const models::Batch& batch) { return 1e-3 + 2e-5 * static_cast<double>(batch.tokens()); }

inline std::map<std::uint64_t, serving::Request> by_id(const System& system) {
  std::map<std::uint64_t, serving::Request> requests;
  for (const auto& answer : system.answers) requests[answer.request.id] = answer.request;
  return requests;
}

}  // namespace llmscape::testing
