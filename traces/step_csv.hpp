// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"

namespace llmscape::traces {

// One step as a server logged it.
struct StepRow {
  std::int64_t prompts = 0, prompt_tokens = 0, cached_tokens = 0;  // of prompts: tokens computed now, and before
  std::int64_t decodes = 0, context = 0, longest_context = 0;      // entries attended to by all, and by one
  double seconds = 0;
};

struct StepRows {
  bool whole = false;  // times are of whole steps with the host's work; else of the device alone
  std::string time;    // the column of times, by its name: "step_ms"
  std::vector<StepRow> steps;
};

// A CSV table of steps, plain or compressed, under a header with the columns prompt_tokens, decodes, context and one of
// device_us, device_ms, device_s, step_us, step_ms, step_s; prompts (absent: one where there are prompt tokens),
// cached_tokens and longest_context may be there too. Nothing after reporting every mistake at its place.
std::optional<StepRows> read_step_rows(const std::string& path, Diagnostics& diagnostics);

}  // namespace llmscape::traces
