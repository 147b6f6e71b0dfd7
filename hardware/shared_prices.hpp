// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "hardware/device.hpp"

namespace llmscape::hardware {

// A step model whose tables several replicas may have in common. What each of them notes, as of ranges that its steps
// have left, stays its own.
class SharedPrices {
 public:
  virtual ~SharedPrices() = default;
  // For another replica of the same device, model, plan and settings. Not for another thread.
  [[nodiscard]] virtual std::unique_ptr<StepModel> another() const = 0;
};

}  // namespace llmscape::hardware
