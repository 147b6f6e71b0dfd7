// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "sim/serving/replica/waiting_queue.hpp"

namespace llmscape::serving {

// Which prompts of a streaming batcher come first, be they under way or waiting. Stream2LLM (arXiv 2604.16395).
struct StreamingOrder {
  std::string_view name;
  // Null: those under way by priority and in order of admission, then those that wait by priority and arrival.
  WaitingQueue::StandingOf standing;
};

// default, fcfs, lcas, mcps.
std::span<const StreamingOrder> streaming_orders();

}  // namespace llmscape::serving
