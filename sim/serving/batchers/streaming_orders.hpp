// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "sim/serving/request.hpp"

namespace llmscape::serving {

// Which prompts of a streaming batcher come first, be they under way or waiting. Stream2LLM (arXiv 2604.16395).
struct StreamingOrder {
  std::string_view name;
  // Of two requests of one priority. Null: those under way in order of admission, then those that wait by arrival.
  bool (*before)(const Request&, const Request&);
};

// default, fcfs, lcas, mcps.
std::span<const StreamingOrder> streaming_orders();

}  // namespace llmscape::serving
