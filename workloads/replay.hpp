// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "traces/request_trace.hpp"
#include "workloads/workload.hpp"

namespace llmscape::workloads {

// Each record of a trace as a program of one call; the first record that is replayed starts at time 0. A broken record
// goes to the diagnostics of the call that reads it and ends the replay.
class Replay : public Generator {
 public:
  // Times between arrivals are divided by `speedup`; all calls ask for the model of index `model`.
  Replay(std::unique_ptr<traces::TraceReader> reader, const ReplayConfig& config, double speedup, int model,
         Limits limits, Diagnostics& diagnostics);
  std::optional<Program> next(Diagnostics& diagnostics) override;
  Seconds next_start() override { return pending_ ? pending_->start : kNever; }
  void finished(const Program&, Seconds) override {}
  bool ended() const override { return !pending_; }

 private:
  void advance(Diagnostics& diagnostics);

  std::unique_ptr<traces::TraceReader> reader_;
  double speedup_;
  int model_;
  Limits limits_;
  std::optional<Seconds> first_arrival_;
  std::optional<Program> pending_;  // read one ahead, to know its start
};

}  // namespace llmscape::workloads
