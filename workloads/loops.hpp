// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "workloads/workload.hpp"

namespace llmscape::workloads {

// Programs that start by a clock, whether or not earlier ones have ended.
class OpenLoop : public Generator {
 public:
  OpenLoop(std::unique_ptr<ArrivalClock> clock, std::unique_ptr<ProgramMaker> maker, Limits limits);
  std::optional<Program> next(Diagnostics&) override;
  Seconds next_start() override { return start_; }
  void finished(const Program&, Seconds) override {}
  bool ended() const override { return start_ == kNever; }

 private:
  void advance();

  std::unique_ptr<ArrivalClock> clock_;
  std::unique_ptr<ProgramMaker> maker_;
  Limits limits_;
  Seconds start_;  // of the next program
};

// Users who each start a program when their last one has ended and they have thought.
class ClosedLoop : public Generator {
 public:
  ClosedLoop(const Arrivals& arrivals, std::unique_ptr<ProgramMaker> maker, Limits limits,
             const RandomStreams& streams);
  std::optional<Program> next(Diagnostics&) override;
  Seconds next_start() override;
  void finished(const Program& program, Seconds now) override;
  bool ended() const override;
  bool waning() const override { return waning_; }

 private:
  using Start = std::pair<Seconds, int>;  // ties: the lower user first

  std::unique_ptr<ProgramMaker> maker_;
  Limits limits_;
  std::vector<DurationDraws> think_;  // of each user, so that one user's draws do not depend on the others; empty: none
  std::priority_queue<Start, std::vector<Start>, std::greater<>> ready_;
  int running_ = 0;
  bool waning_ = false;
};

}  // namespace llmscape::workloads
