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
  std::vector<double> starts;  // of the sessions, rising
  std::shared_ptr<const Stream> stream;
  double shrinking = 0;  // share of the steps whose prompt is shorter than what came before: another agent's, or cut
};

// Task, calls, answers and what each step adds by their quantiles; the time from call to call as a log-normal law.
// Calls of a session at one time are sub-calls of a step that fans out. The head that most sessions begin with is the
// system prompt. Reports, and returns no stream, where no two calls have the same session.
SessionFit fit_sessions(const Recording& recording, const std::string& name, Diagnostics& diagnostics);

}  // namespace llmscape::workloads
