// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "hardware/harness/cpu_kernels/rows.hpp"

namespace llmscape::hardware::harness::cpu_kernels {

// y = x W^T in single precision by oneDNN on one thread, with the weights in the layout that oneDNN likes best.
class Linear {
 public:
  // `weights`: outputs x inputs, row after row; they are copied.
  Linear(std::int64_t outputs, std::int64_t inputs, std::span<const float> weights);
  ~Linear();
  Linear(Linear&&) noexcept;
  Linear& operator=(Linear&&) noexcept;

  [[nodiscard]] std::int64_t outputs() const { return outputs_; }
  [[nodiscard]] std::int64_t inputs() const { return inputs_; }
  // x: any number of rows of `inputs`; y: as many of `outputs`. The first call with a number of rows makes the kernel
  // for it (some 0.2 ms), which all GEMMs of the same shape share; oneDNN's errors are std::runtime_error.
  void run(Rows<const float> x, Rows<float> y) const;

 private:
  struct Packed;
  void multiply(Rows<const float> x, Rows<float> y) const;
  std::int64_t outputs_, inputs_;
  std::unique_ptr<Packed> packed_;
};

// "2.6.3"
std::string onednn_version();

}  // namespace llmscape::hardware::harness::cpu_kernels
