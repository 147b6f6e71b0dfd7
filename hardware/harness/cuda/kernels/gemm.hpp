// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/numbers.hpp"
#include "hardware/harness/cuda/runtime.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace llmscape::hardware::harness::cuda {

enum class GemmFormat { kBf16, kFp8 };  // of both operands

// cuBLASLt, loaded from the system's libraries at run time, with one workspace: use one per stream.
class GemmLibrary {
 public:
  // Nothing, with the reason, where the library is not there.
  static std::unique_ptr<GemmLibrary> load(std::string& reason);
  virtual ~GemmLibrary() = default;
  [[nodiscard]] virtual std::string version() const = 0;

  // out[m][n] = sum over k of x[m][k] weights[n][k] (fp8: times the two scales); summed in float, rounded to bf16.
  class Gemm {
   public:
    virtual ~Gemm() = default;
    virtual void run(const void* x, const void* weights, Bf16* out, Stream stream) = 0;
  };
  // Times the library's best suggestions once, on the buffers given, and keeps the fastest. k is a multiple of 16 (fp8)
  // or 8, n of 8. The scales of fp8 are 1. Nothing where the library knows no algorithm.
  virtual std::unique_ptr<Gemm> plan(std::int64_t m, std::int64_t n, std::int64_t k, GemmFormat format, const void* x,
                                     const void* weights, Bf16* out, Stream stream) = 0;
};

}  // namespace llmscape::hardware::harness::cuda
