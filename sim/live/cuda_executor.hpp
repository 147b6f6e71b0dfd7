// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "hardware/harness/cuda/kernels/attention.hpp"
#include "hardware/harness/cuda/machine.hpp"
#include "hardware/harness/cuda/nvml.hpp"
#include "sim/live/executor.hpp"
#include "sim/live/packed_step.hpp"
#include "sim/live/weights.hpp"

namespace llmscape::live {

// Host memory that a GPU copies from and to by itself.
class PinnedArray {
 public:
  explicit PinnedArray(std::int64_t size);
  [[nodiscard]] int* data() const { return data_.get(); }

 private:
  struct Release {
    void operator()(int* data) const;
  };
  std::unique_ptr<int, Release> data_;
};

// One GPU, bf16, with the kernels that the harness measures and cuBLASLt. GEMMs are planned for the numbers of rows
// of row_ladder(); a step runs them on the next one. Decode steps run as graphs, captured for the same numbers of
// sequences, or kernel by kernel.
class CudaExecutor : public Executor {
 public:
  // Throws hardware::harness::cuda::CudaError where the memory does not suffice.
  CudaExecutor(const LlamaShape& shape, const ExecutorLimits& limits, bool graphs);

  [[nodiscard]] std::string_view backend() const override { return "cuda"; }
  [[nodiscard]] std::string_view format() const override { return "bf16"; }
  [[nodiscard]] std::map<std::string, std::string> context() const override;
  // Why nothing can be computed; empty: it can.
  [[nodiscard]] const std::string& missing() const { return machine_.no_gemms; }
  [[nodiscard]] std::optional<double> joules() const override { return nvml_ ? nvml_->joules() : std::nullopt; }
  void prepare() override;
  StepTimes run(const StepInput& input, std::span<std::int32_t> next) override;

 private:
  using Bf16 = hardware::harness::cuda::Bf16;
  using Gemm = hardware::harness::cuda::GemmLibrary::Gemm;
  template <class T>
  using DeviceArray = hardware::harness::cuda::DeviceArray<T>;

  struct Layer {
    DeviceArray<Bf16> attention_norm, qkv, attention_output, feed_norm, gate_up, down;
    DeviceArray<Bf16> keys, values;
  };
  // The GEMMs of a layer for one number of rows.
  struct Products {
    std::unique_ptr<Gemm> qkv, attention_output, gate_up, down;
  };

  [[nodiscard]] const DeviceArray<Bf16>& head() const { return shape_.tied ? embedding_ : own_head_; }
  DeviceArray<Bf16> random_weights(Tensor tensor, std::int64_t layer = 0) const;
  DeviceArray<Bf16> activations(std::int64_t rows, std::int64_t width) const;
  std::unique_ptr<Gemm> plan(std::int64_t rows, std::int64_t outputs, std::int64_t inputs,
                             const DeviceArray<Bf16>& weights, const DeviceArray<Bf16>& x, DeviceArray<Bf16>& out);
  void issue(const StepWork& work);
  void issue_layer(const Layer& layer, Products& products, const StepWork& work);
  void attend(const Layer& layer, const StepWork& work);
  [[nodiscard]] hardware::harness::cuda::PagedKv kv_of(const Layer& layer, std::int64_t first_sequence) const;
  [[nodiscard]] int splits(std::int64_t sequences, std::int64_t context) const;

  LlamaShape shape_;
  ExecutorLimits limits_;
  bool use_graphs_;
  hardware::harness::cuda::Machine machine_;
  std::string no_nvml_;
  std::unique_ptr<hardware::harness::cuda::Nvml> nvml_;
  hardware::harness::cuda::Stopwatch stopwatch_;

  DeviceArray<Bf16> embedding_, final_norm_, own_head_;  // a tied model has no head of its own
  std::vector<Layer> layers_;
  DeviceArray<Bf16> hidden_, normed_, qkv_, queries_, attended_, projected_, gate_up_, activated_, last_, logits_;
  DeviceArray<float> workspace_;
  DeviceArray<int> next_;
  PackedStep packing_;
  PinnedArray host_step_, host_next_;
  DeviceArray<int> step_;

  std::map<std::int64_t, Products> products_;                      // by number of rows
  std::map<std::int64_t, std::unique_ptr<Gemm>> heads_;            // by number of answers
  std::map<std::int64_t, hardware::harness::cuda::Graph> graphs_;  // by number of decodes
};

}  // namespace llmscape::live
