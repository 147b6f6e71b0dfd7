// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace llmscape::serving {

// How a replica stands with the router that sends it calls: 0, it gets the next one if nothing changes, or nobody
// knows; from there, the higher, the later (Router::standing).
inline constexpr std::size_t kStandings = 5;

// So many steps are priced beyond an event that may take them back: twice as many after each time that all of them
// stood, three quarters, down to none, after one was taken back. A waking costs as much as some eight prices (75 lines
// that are in no cache, and 3,000 instructions, for 1,000 each).
class Reach {
 public:
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  void widen() { steps_ = std::clamp<std::int64_t>(2 * steps_, 1, kFurthest); }
  void narrow() { steps_ = steps_ * 3 / 4; }

 private:
  static constexpr std::int64_t kFurthest = 32;
  std::int64_t steps_ = 1;
};

// The gateway's next message may be for another replica, and a report may lead to none. Whether the message is for this
// one is a matter of its standing, so that replicas learn from each other: of a fleet of 256 the next call goes to the
// one with the fewest tokens, and whoever is a quarter of a call behind it gets none before one of its own has ended.
struct Reaches {
  std::array<Reach, kStandings> past_message;
  Reach past_report;
};

}  // namespace llmscape::serving
