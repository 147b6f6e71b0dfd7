// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/files.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/world/options.hpp"

namespace llmscape::report {

// requests.jsonl: one line for each model call when it ends, in the shape of AIPerf's profile_export.jsonl, {value,
// unit} for each metric under AIPerf's names (its inter_token_latency is our tpot). docs/metrics.md has the fields, and
// which of them are ours. Times in `metadata` are simulated, from the start of the run.
class RequestRows : public world::Watcher {
 public:
  RequestRows(AtomicFile& file, const scenario::Scenario& scenario);
  void on_request(const serving::Request& request, serving::Outcome outcome, Seconds at) override;
  void on_step(int, Seconds, Seconds, std::int64_t, std::int64_t, std::int64_t, std::int64_t) override {}
  [[nodiscard]] bool hears_steps() const override { return false; }

 private:
  AtomicFile& file_;
  std::vector<std::string> classes_;  // as JSON strings
  Seconds warmup_;
};

}  // namespace llmscape::report
