// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "traces/engine_record.hpp"

namespace llmscape::validation {

// When one request passed the stations of its engine: seconds on one clock, the same for all requests of a run.
struct RequestTimes {
  std::string id;
  std::int64_t prompt_tokens = 0, output_tokens = 0;
  double queued = 0;  // the engine had it: not the client's or the front end's time
  double scheduled = 0, first_token = 0, last_token = 0;
  double arrival = 0;  // before the engine read it; of simulated requests only
};

// requests.jsonl, plain or compressed, of a measured vLLM run (request_id, input_toks, output_toks, queued_ts,
// scheduled_ts, first_token_ts, last_token_ts; other keys are passed over) or of 'llmscape run --requests': told apart
// by their first line. Requests that were not completed are left out. Nothing after reporting mistakes with their line.
std::optional<std::vector<RequestTimes>> read_request_times(const std::string& path, Diagnostics& diagnostics);

std::vector<RequestTimes> request_times(const traces::EngineRecord& record);

// In the order of the numbers that end their ids ("bench-12") where all have different ones behind the same text; else
// as they were queued: hashes may all end in digits.
void put_in_order(std::vector<RequestTimes>& requests);

}  // namespace llmscape::validation
