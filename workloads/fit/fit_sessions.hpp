// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "workloads/fit/recording.hpp"
#include "workloads/generator.hpp"

namespace llmscape::workloads {

// Sessions of a recording, each a line of calls whose context grows, as a stream of `agents`.
struct SessionFit {
  std::vector<double> starts;  // of the sessions that began in the recording, rising
  std::shared_ptr<const Stream> stream;
  double shrinking = 0;  // share of the steps whose prompt is shorter than what came before: another agent's, or cut
  // Shares of the calls, and of the sessions' time from first to last call, in steps that fan out and no call follows,
  // or that follow another: `agents` has none.
  double left_out_calls = 0, left_out_time = 0;
  // Share of the sessions that began before the recording or go on after it, as far as calls near its ends tell
  // (ends_of): the former are no starts, tasks or numbers of calls, the latter count as going on.
  double cut = 0, cut_within = 0;  // seconds
};

// Task, calls, answers and what each step adds by their quantiles; the time from call to call as a log-normal law.
// Calls of a session at one time are sub-calls of a step that fans out; the times before and after them, and what the
// context gains there beside their answers, are fitted as well. The head that most sessions begin with is the
// system prompt. Reports, and returns no stream, where no two calls have the same session.
SessionFit fit_sessions(const Recording& recording, const std::string& name, Diagnostics& diagnostics);

}  // namespace llmscape::workloads
