// SPDX-License-Identifier: Apache-2.0
#include "workloads/loops.hpp"

namespace llmscape::workloads {

OpenLoop::OpenLoop(std::unique_ptr<ArrivalClock> clock, std::unique_ptr<ProgramMaker> maker, Limits limits)
    : clock_(std::move(clock)), maker_(std::move(maker)), limits_(limits) {
  advance();
}

void OpenLoop::advance() {
  start_ = limits_.programs > 0 ? clock_->next() : kNever;
  if (start_ > limits_.duration) start_ = kNever;
}

std::optional<Program> OpenLoop::next(Diagnostics&) {
  if (ended()) return std::nullopt;
  Program program = maker_->make(start_);
  --limits_.programs;
  advance();
  return program;
}

ClosedLoop::ClosedLoop(const Arrivals& arrivals, std::unique_ptr<ProgramMaker> maker, Limits limits,
                       const RandomStreams& streams)
    : maker_(std::move(maker)), limits_(limits) {
  for (int user = 0; user < arrivals.users(); ++user) {
    if (arrivals.think())
      think_.emplace_back(*arrivals.think(), streams.stream("think", static_cast<std::uint64_t>(user)));
    ready_.push({Seconds(0), user});
  }
}

Seconds ClosedLoop::next_start() { return ready_.empty() || limits_.programs == 0 ? kNever : ready_.top().first; }

std::optional<Program> ClosedLoop::next(Diagnostics&) {
  const Seconds start = next_start();
  if (start == kNever) return std::nullopt;
  Program program = maker_->make(start);
  program.user = ready_.top().second;
  ready_.pop();
  --limits_.programs;
  ++running_;
  return program;
}

void ClosedLoop::finished(const Program& program, Seconds now) {
  --running_;
  const auto user = static_cast<std::size_t>(program.user);
  const Seconds start = think_.empty() ? now : now + think_[user].next();
  if (start <= limits_.duration) ready_.push({start, program.user});
  waning_ = waning_ || limits_.programs == 0 || start > limits_.duration;
}

bool ClosedLoop::ended() const { return limits_.programs == 0 || (ready_.empty() && running_ == 0); }

}  // namespace llmscape::workloads
