// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "hardware/harness/cpu_kernels/elementwise.hpp"
#include "hardware/harness/cpu_kernels/linear.hpp"
#include "hardware/harness/cpu_kernels/paged_kv.hpp"
#include "sim/live/executor.hpp"

namespace llmscape::live {

// One thread, single precision, with the kernels that the harness measures.
class CpuExecutor : public Executor {
 public:
  CpuExecutor(const LlamaShape& shape, const ExecutorLimits& limits);
  // Of memory that one takes, about.
  [[nodiscard]] static double bytes(const LlamaShape& shape, const ExecutorLimits& limits);

  [[nodiscard]] std::string_view backend() const override { return "cpu"; }
  [[nodiscard]] std::string_view format() const override { return "fp32"; }
  [[nodiscard]] std::map<std::string, std::string> context() const override;
  void prepare() override;
  StepTimes run(const StepInput& input, std::span<std::int32_t> next) override;

  // Of the last step: a row for each token that it answered.
  [[nodiscard]] std::span<const float> logits(std::int64_t answer) const;

 private:
  using Linear = hardware::harness::cpu_kernels::Linear;
  using PagedKv = hardware::harness::cpu_kernels::PagedKv;
  struct Layer {
    std::vector<float> attention_norm, feed_norm;
    Linear qkv, attention_output, gate_up, down;
    PagedKv kv;
  };

  void run_layer(Layer& layer, const StepInput& input);
  void attend(Layer& layer, const StepInput& input);
  void answer(const StepInput& input, std::span<std::int32_t> next);

  LlamaShape shape_;
  ExecutorLimits limits_;
  std::vector<float> embedding_, final_norm_;
  std::vector<Layer> layers_;
  Linear head_;
  hardware::harness::cpu_kernels::RopeTable rope_;
  // Activations of a step; each as long as the largest needs.
  std::vector<float> hidden_, normed_, qkv_, attended_, projected_, gate_up_, activated_, last_, logits_;
};

}  // namespace llmscape::live
