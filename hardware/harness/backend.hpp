// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/quantity.hpp"
#include "traces/kernel_record.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llmscape::hardware::harness {

// A kernel with its buffers, filled with fresh random data.
class PreparedCase {
 public:
  virtual ~PreparedCase() = default;
  // Runs the kernel once and compares with a double precision reference (large cases: on rows drawn at random). The
  // largest difference relative to the largest magnitude of the reference.
  virtual double error() = 0;
  // What `error` may be for the case's format and depth of sums.
  [[nodiscard]] virtual double tolerance() const = 0;
  // The time of one launch, caches as cold as in serving (flushed, or buffers rotated): device time by events on a GPU,
  // thread CPU time on a CPU.
  virtual Seconds sample() = 0;
  // Of one launch, by formula.
  [[nodiscard]] virtual double flops() const = 0;
  [[nodiscard]] virtual double bytes() const = 0;
};

// What the machine was doing at a moment.
struct Condition {
  std::optional<double> clock_mhz, power_w, temperature_c;
  std::vector<std::string> throttle_reasons;
};

// Where cases run.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string name() const = 0;                            // "cpu", "cuda"
  [[nodiscard]] virtual std::map<std::string, std::string> context() const = 0;  // device, driver, clocks, flush, ...
  // Nothing where the backend cannot run the case (an unknown format, too little memory).
  virtual std::unique_ptr<PreparedCase> prepare(const traces::KernelCase& what, std::uint64_t seed) = 0;
  virtual Condition condition() = 0;
};

// Nothing, with the reason, where there is no such device or the program was built without it.
std::unique_ptr<Backend> make_cpu_backend(int threads, std::string& reason);
std::unique_ptr<Backend> make_cuda_backend(int device, std::string& reason);

}  // namespace llmscape::hardware::harness
