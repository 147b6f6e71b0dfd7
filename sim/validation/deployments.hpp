// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.hpp"
#include "models/parallel_plan.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/validation/comparison.hpp"

// Public measurements of closed-loop serving (ai-dynamo/aiconfigurator, silicon_sample.csv): each row as a scenario
// that a user could write, simulated and compared.
namespace llmscape::validation {

// One measured point: a deployment under `concurrency` clients.
struct Deployment {
  std::string id;
  std::string backend;  // vllm, trtllm, sglang
  std::string model;    // of the models' catalogue
  std::string device;   // of the hardware catalogue
  models::ParallelPlan plan;
  std::int64_t input = 0, output = 0;  // nominal tokens: lengths are uniform between 0.8 of it and it
  std::int64_t concurrency = 0;
  double ttft_s = 0, tpot_s = 0;  // means over all requests
};

// Reads the table. Degrees that it multiplies by the expert-parallel degree are taken from the row's name.
std::vector<Deployment> read_deployments(const std::string& path, Diagnostics& diagnostics);

// The scenario of a row, as YAML: what its backend's public benchmark scripts set, and no constant fitted to a row.
std::string scenario_text(const Deployment& deployment);

// Rows that cannot be predicted from their columns.
struct Exclusion {
  std::string id, reason;
};
// A CSV file of `id` and `reason`.
std::vector<Exclusion> read_exclusions(const std::string& path, Diagnostics& diagnostics);

struct DeploymentPoint {
  Deployment deployment;
  std::optional<std::string> excluded;  // why it does not count
  double ttft_s = 0, tpot_s = 0;        // predicted means
  std::vector<std::pair<std::string, double>> time_share;

  // Output tokens per second of all clients, from the two means.
  [[nodiscard]] double measured_rate() const { return rate(deployment.ttft_s, deployment.tpot_s); }
  [[nodiscard]] double predicted_rate() const { return rate(ttft_s, tpot_s); }

 private:
  [[nodiscard]] double rate(double ttft, double tpot) const;
};

// Simulates one row, with `overrides` ("a.b=c") laid over its scenario. Nothing after reporting.
std::optional<DeploymentPoint> simulate(const Deployment& deployment, const std::vector<std::string>& overrides,
                                        const scenario::Catalogs& catalogs, Diagnostics& diagnostics);

// Reads the table and the exclusions, and simulates the wanted rows in the order of the table. Rows after a mistake are
// missing.
std::vector<DeploymentPoint> simulate_deployments(const std::string& table, const std::string& exclusions,
                                                  const std::function<bool(const Deployment&)>& wanted,
                                                  const std::vector<std::string>& overrides,
                                                  const scenario::Catalogs& catalogs, Diagnostics& diagnostics);

// Over the rows that count.
struct DeploymentErrors {
  Comparison ttft, tpot, rate;         // pair by pair
  double least_rank_at_one_level = 1;  // rank correlation of the rate within one concurrency, the worst of them
};
DeploymentErrors compare(const std::vector<DeploymentPoint>& points);

}  // namespace llmscape::validation
