// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/part_cost.hpp"

namespace llmscape::hardware {

// Processor cores with prepacked matrix kernels: a roofline whose products pay for a few rows more than they have.
struct Cpu final : Device {
  std::int64_t threads = 1;
  Sourced<FlopsPerSecond> thread_rate;  // of one thread in large products
  double overhead_rows = 0;             // rows of work that a product of few rows pays on top
  double attention_efficiency = 1;      // share of the rate in scores and values
  Sourced<BytesPerSecond> bandwidth;    // all threads together
  Sourced<Bytes> capacity;
  Sourced<Watts> tdp, idle;
  Sourced<Seconds> per_step, per_request;
  Sourced<JoulesPerFlop> compute_energy;
  Sourced<JoulesPerByte> memory_energy;

  [[nodiscard]] Bytes memory() const override { return *capacity; }
  [[nodiscard]] Watts idle_power() const override { return *idle; }
  [[nodiscard]] std::vector<std::string> problems(const models::ModelSpec&, const models::ParallelPlan&) const override;
  [[nodiscard]] std::array<Tag, kOperatorFamilies> provenance() const override;
  [[nodiscard]] std::unique_ptr<StepModel> bind(const models::ModelSpec&, const models::ParallelPlan&,
                                                const Settings&) const override;

  // The rows of `g` spread over `matrices` like it (its experts, or 1): max(2 n k (m + matrices overhead_rows) / rate,
  // bytes / bandwidth).
  [[nodiscard]] KernelCost product_cost(const models::Gemm& g, double matrices = 1) const;
};

const Fields<Cpu>& cpu_fields();

}  // namespace llmscape::hardware
