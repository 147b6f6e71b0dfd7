// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "workloads/fit/score.hpp"

namespace llmscape::report {

// A fit beside what it is compared with.
struct ShownFit {
  std::string title;  // "The whole trace"
  const workloads::Recording& recorded;
  const workloads::FitScore& score;
};

// A page of HTML that needs nothing else and runs no script: for each fit its figures, and pictures of the lengths'
// shares, the calls per second and minute, Fano factors over windows and what of the prompts was there before.
// `trace` names the trace; `tool` is the version that writes it.
std::string trace_fit_page(const std::string& trace, const std::vector<ShownFit>& fits, const std::string& tool);

}  // namespace llmscape::report
