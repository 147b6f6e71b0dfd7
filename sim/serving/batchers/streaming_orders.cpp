// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/batchers/streaming_orders.hpp"

#include <array>

namespace llmscape::serving {
namespace {

// Complete requests before partial ones, each by arrival.
bool first_come(const Request& a, const Request& b) {
  if (a.complete != b.complete) return a.complete;
  return a.id < b.id;
}

// Complete requests before partial ones, each by the arrival of its last chunk, the earliest first: scheduler.py of the
// authors' repository.
bool last_chunk_arrival(const Request& a, const Request& b) {
  if (a.complete != b.complete) return a.complete;
  if (a.latest_version != b.latest_version) return a.latest_version < b.latest_version;
  return a.id < b.id;
}

bool most_computed_tokens(const Request& a, const Request& b) {
  const std::int64_t of_a = a.sequence.computed + a.sequence.swapped, of_b = b.sequence.computed + b.sequence.swapped;
  if (of_a != of_b) return of_a > of_b;
  return a.id < b.id;
}

}  // namespace

std::span<const StreamingOrder> streaming_orders() {
  static constexpr std::array<StreamingOrder, 4> kOrders = {
      {{"default", nullptr}, {"fcfs", first_come}, {"lcas", last_chunk_arrival}, {"mcps", most_computed_tokens}}};
  return kOrders;
}

}  // namespace llmscape::serving
