// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/streaming_orders.hpp"

#include <array>

namespace llmscape::serving {
namespace {

// Complete requests before partial ones, each by arrival.
Standing first_come(const Request& r) { return {r.priority, !r.complete, 0, r.id}; }

// Complete requests before partial ones, each by the arrival of its last chunk, the earliest first: scheduler.py of the
// authors' repository.
Standing last_chunk_arrival(const Request& r) { return {r.priority, !r.complete, r.latest_version.si(), r.id}; }

Standing most_computed_tokens(const Request& r) {
  return {r.priority, false, -static_cast<double>(r.sequence.computed + r.sequence.swapped), r.id};
}

}  // namespace

std::span<const StreamingOrder> streaming_orders() {
  static constexpr std::array<StreamingOrder, 4> kOrders = {
      {{"default", nullptr}, {"fcfs", first_come}, {"lcas", last_chunk_arrival}, {"mcps", most_computed_tokens}}};
  return kOrders;
}

}  // namespace llmscape::serving
