// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "sim/observe/observed.hpp"
#include "sim/result/result.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/validation/host_constants.hpp"
#include "sim/validation/report.hpp"

namespace llmscape::observe {

// One request of a run.
struct PredictedRequest {
  std::uint64_t id = 0;
  std::int64_t prompt_tokens = 0, output_tokens = 0;
  double arrival = 0, schedule = 0, first_token = 0, last_token = 0;
  int replica = 0;        // that answered it
  bool given_up = false;  // at `last_token`, before its answer was complete
};

// One step of a run, or the first token of a request.
struct PredictedStep {
  double end = 0;
  double prompt_tokens = 0, output_tokens = 0;  // of this step and all before it
  double decoded_tokens = 0;                    // output tokens without those that prefills answer
};

// KV blocks that are held in a step of one replica.
struct PredictedBlocks {
  double start = 0, end = 0, held = 0;
};

// What of a run stands beside what files show of a machine.
struct Served {
  std::int64_t replicas = 0, devices = 0;
  std::int64_t ranks = 1;   // of one replica that attend alone: engines tell of each, or of all together
  bool controlled = false;  // the number of replicas changes
};

struct Prediction {
  result::RunResult result;
  std::vector<PredictedRequest> requests;          // by id
  std::vector<PredictedStep> steps;                // by end
  std::map<int, std::vector<PredictedBlocks>> kv;  // of each replica, by end
  std::vector<double> joules;                      // in windows of `window` seconds, of all devices
  double window = 1;
  double spending_ends = 0;  // inside the last of them
  double kv_blocks = 1;      // of all replicas
  Served served;
};

// Why a run is of another machine or of another load than what was observed, one sentence each: no limit is held by it.
std::vector<std::string> apart(const Shown& shown, const Served& served, std::optional<double> measured_hits,
                               std::optional<double> predicted_hits);

// Tokens of the longest prompt and answer that one of its pools takes.
std::int64_t longest_sequence(const scenario::Scenario& scenario);

// Runs the scenario on the bare event queue, with the programs of `generator` if there is one, else with those of its
// own workload. Nothing after reporting.
std::optional<Prediction> predict(const scenario::Scenario& scenario, Diagnostics& diagnostics,
                                  workloads::Generator* generator = nullptr);

// What was observed of one quantity at the prediction's moments: at a time, or the mean of the interval before it.
double value_at(const Prediction& prediction, const std::string& quantity, double from, double at);

// Each request beside its like (ttft, tpot, e2e), figures beside figures, courses beside courses, and what the run says
// of itself: of requests that were not served nothing is compared. `replayed`: the
// prediction's requests are the observed ones, in their order; `from` and `to`: only these of them count.
void compare(const Observed& observed, const Prediction& prediction, bool replayed, validation::Report& report);
std::vector<validation::Comparison> compare_requests(const Observed& observed, const Prediction& prediction,
                                                     std::size_t from, std::size_t to);

// Each metric that both have, by the names of columns ("ttft_s.p50"), under its short one.
std::vector<validation::Comparison> compare_figures(const Figures& observed,
                                                    const std::map<std::string, double>& predicted);

}  // namespace llmscape::observe
