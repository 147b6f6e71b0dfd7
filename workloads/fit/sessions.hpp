// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "workloads/fit/recording.hpp"

namespace llmscape::workloads {

using Session = std::vector<const RecordedCall*>;

// The calls of each session of a recording, sessions by their first calls.
std::vector<Session> sessions_of(const Recording& recording);

// Whether a recording was cut out of longer traffic, so that sessions under way seem to begin, or to end, at its ends:
// within the time that 99 % of the calls of a session wait for the next (at most a quarter of the recording) of its
// beginning more sessions begin than later ones at their rate by chance (three standard errors), and more than where
// the rate rises or falls as it does over the next such times (up to twelve), and likewise of its end. Where fewer than
// a tenth lie further inside, as in a trace whose sessions all begin at once, nothing tells.
struct SessionEnds {
  double within = 0;  // seconds
  bool begins_cut = false, ends_cut = false;

  [[nodiscard]] bool begun_before(const Session& session) const {
    return begins_cut && session.front()->arrival < within;
  }
  [[nodiscard]] bool goes_on(const Session& session, double duration) const {
    return ends_cut && session.back()->arrival > duration - within;
  }
};
SessionEnds ends_of(const std::vector<Session>& sessions, double duration);

// When the calls of a session's main line came, and the last of its sub-calls or calls.
struct SessionLine {
  std::vector<double> calls;
  double last = 0;
};
// The calls of as many sessions as there are lines, by how many of those that had a further call or not that would have
// been seen, being before `until`, ended (Kaplan and Meier, 1958); where all that are seen so go on, the most that any
// has.
std::vector<double> calls_of_whole(const std::vector<SessionLine>& lines, double until);

}  // namespace llmscape::workloads
