// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

#include "sim/validation/comparison.hpp"
#include "sim/validation/request_times.hpp"

namespace llmscape::validation {

// queueing (queued to scheduled), ttft (queued to first token), tpot (of at least 2 output tokens), e2e (queued to last
// token), each request beside its like; and makespan, first queued to last token, as a single pair. Requests are taken
// in order (put_in_order); nothing after reporting at `where` that the two are not the same requests.
std::optional<std::vector<Comparison>> compare_requests(std::vector<RequestTimes> predicted,
                                                        std::vector<RequestTimes> measured, const SourceRange& where,
                                                        Diagnostics& diagnostics);

// How many requests ran and waited at one moment, in seconds after the first was queued.
struct Load {
  double at = 0;
  double running = 0, waiting = 0;
};
Load load_at(const std::vector<RequestTimes>& requests, double at);

// Every second until the last token.
std::vector<Load> loads(const std::vector<RequestTimes>& requests);

// A table with the columns t (seconds after the first request was queued), running and waiting, in any order, and those
// of vLLM's log that are not read.
std::optional<std::vector<Load>> read_loads(const std::string& path, Diagnostics& diagnostics);

// One quantity over time.
struct Course {
  std::string name;        // "running", "waiting"
  std::int64_t count = 0;  // moments
  double rmse = 0;         // in requests
  double mean_predicted = 0, mean_measured = 0;
  double largest = 0, largest_at = 0;  // difference, predicted - measured, and when
  std::string of{};                    // as Comparison::of
  std::int64_t samples = 0;            // that were measured, where the others are of another time; 0: all were compared
};
std::vector<Course> compare_loads(const std::vector<RequestTimes>& predicted, const std::vector<Load>& measured);

}  // namespace llmscape::validation
