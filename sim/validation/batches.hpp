// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "sim/scenario/scenario.hpp"

// Public measurements of batches that are submitted at once on A100s: argonne-lcf/LLM-Inference-Bench (whole latencies)
// and Mutinifni/splitwise-sim (prefill and decode apart).
namespace llmscape::validation {

// One measured batch. What the table does not give is 0.
struct BatchRun {
  std::string software;  // TensorRT-LLM, vLLM, Deepspeed-MII; splitwise
  std::string model;     // of the models' catalogue
  std::string device;    // of the hardware's catalogue
  int tensor = 1;
  std::int64_t input = 0, output = 0, batch = 0;
  double latency_s = 0;              // from submission to the last token
  double prompt_s = 0, token_s = 0;  // prefill of the batch; mean decode step
};

// Rows of the A100, of models that the catalogue has. The table does not give the cards' memory, its latencies do: they
// double where KV entries no longer fit 40 GB (docs/measured_deployments.md).
std::vector<BatchRun> read_inference_bench(const std::string& path, Diagnostics& diagnostics);
// Points of Llama-2-70B, the median of their repeats.
std::vector<BatchRun> read_splitwise(const std::string& path, Diagnostics& diagnostics);

// The scenario of a batch, as YAML: the scheduler of its software with the host's time added, as in 2023 and 2024.
std::string scenario_text(const BatchRun& run);

struct BatchPoint {
  BatchRun run;
  double latency_s = 0, prompt_s = 0, token_s = 0;  // predicted
};
// Simulates one batch; nothing after reporting, for example where it does not fit the memory.
std::optional<BatchPoint> simulate(const BatchRun& run, const scenario::Catalogs& catalogs, Diagnostics& diagnostics);

}  // namespace llmscape::validation
