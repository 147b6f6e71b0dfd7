// SPDX-License-Identifier: Apache-2.0
#include "sim/live/traffic.hpp"

#include "base/random.hpp"

namespace llmscape::live {

std::vector<LiveRequest> Traffic::requests(std::int64_t count, double until_s) const {
  const RandomStreams streams = RandomStreams(seed).child("traffic");
  RandomStream arrivals = streams.stream("arrivals"), lengths = streams.stream("lengths");
  std::vector<LiveRequest> all;
  double at = 0;
  while (static_cast<std::int64_t>(all.size()) < count && at < until_s) {
    const std::int64_t prompt = lengths.integer(1, 2 * mean_prompt - 1);
    all.push_back({at, prompt, lengths.integer(1, 2 * mean_output - 1)});
    at += arrivals.exponential(1 / rate);
  }
  return all;
}

}  // namespace llmscape::live
