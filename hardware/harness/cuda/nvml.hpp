// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/backend.hpp"
#include "hardware/harness/cuda/shared_library.hpp"

#include <memory>
#include <optional>
#include <string>

namespace llmscape::hardware::harness::cuda {

// NVIDIA's management library, which comes with the driver: clocks, power and temperature of one device.
class Nvml {
 public:
  // Nothing, with the reason, where there is no such library or it does not know the device.
  static std::unique_ptr<Nvml> open(const std::string& pci_bus_id, std::string& reason);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] Condition condition() const;
  // Since the driver was loaded; nothing where the device does not count it.
  [[nodiscard]] std::optional<double> joules() const;
  [[nodiscard]] std::optional<double> power_limit_w() const;
  [[nodiscard]] std::string driver_version() const;

 private:
  struct Functions;
  Nvml(std::unique_ptr<Functions> functions, void* device);
  std::unique_ptr<Functions> functions_;
  void* device_;
};

}  // namespace llmscape::hardware::harness::cuda
