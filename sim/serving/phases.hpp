// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/quantity.hpp"

namespace llmscape::serving {

// Adds up how long something was in each of its phases; it is in one at a time, so that the phases sum to its whole
// time (INV-17).
template <class Phase, std::size_t N>
class PhaseClock {
 public:
  void start(Phase phase, Seconds at) {
    current_ = phase;
    since_ = at;
  }
  // The phase that lasts until now ends at `at`. A moment before the last one counts as that: the steps of an engine
  // are stamped when they are planned, and what ends them early comes between.
  void enter(Phase phase, Seconds at) {
    if (at > since_) {
      spent_[static_cast<std::size_t>(current_)] += at - since_;
      since_ = at;
    }
    current_ = phase;
  }
  // Since `start`, all that was not spent in the phases before `vain` was in vain.
  void restart(Phase vain, Seconds start, Seconds at) {
    Seconds rest = at - start;
    for (std::size_t i = 0; i < N; ++i) {
      if (i < static_cast<std::size_t>(vain)) rest -= spent_[i];
      else spent_[i] = Seconds();
    }
    spent_[static_cast<std::size_t>(vain)] = rest;
    since_ = at;
  }
  [[nodiscard]] const std::array<Seconds, N>& spent() const { return spent_; }

 private:
  std::array<Seconds, N> spent_{};
  Seconds since_;
  Phase current_{};
};

// Where the time of a model call goes. The first ones end with its first token, the others come after it.
enum class RequestPhase : std::uint8_t {
  front_end,  // is read and tokenised, or waits for that
  held,       // waits in the gateway, for admission or for a replica
  lost,       // was at replicas that were lost: all of it, but for the two above
  queued,     // waits at its replica to be scheduled
  fetching,   // its KV entries come from a tier below HBM
  prefill,    // from being scheduled to the first token, or to the end of its prompt
  moving,     // as transfer, where the replica that decodes it answers the first token
  transfer,   // waits for its KV entries at the replica that decodes it, and for a slot and blocks there
  decode,     // to the last token
  preempted,  // waits to be scheduled again
  recompute   // from then on, until it decodes again
};
inline constexpr std::size_t kRequestPhases = 11;
inline constexpr std::size_t kPhasesOfFirstToken = 7;
inline constexpr std::array<std::string_view, kRequestPhases> kRequestPhaseNames = {
    "front_end", "held",     "lost",   "queued",    "fetching", "prefill",
    "moving",    "transfer", "decode", "preempted", "recompute"};
using RequestClock = PhaseClock<RequestPhase, kRequestPhases>;

// Where the time of a program goes; of those that are at work at once, the first counts.
enum class TaskPhase : std::uint8_t { model_calls, retrieval, tools, pauses };
inline constexpr std::size_t kTaskPhases = 4;
inline constexpr std::array<std::string_view, kTaskPhases> kTaskPhaseNames = {"model_calls", "retrieval", "tools",
                                                                              "pauses"};
using TaskClock = PhaseClock<TaskPhase, kTaskPhases>;

}  // namespace llmscape::serving
