// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/power.hpp"

#include "hardware/harness/counter_slope.hpp"
#include "hardware/harness/cuda/cases/cases.hpp"
#include "hardware/harness/cuda/device_count.hpp"
#include "hardware/harness/cuda/nvml.hpp"

#include <chrono>
#include <thread>

namespace llmscape::hardware::harness {
namespace cuda {
namespace {

constexpr double kSettling = 0.2;            // of the time that is measured
constexpr std::chrono::seconds kFalling(4);  // until the clocks of an idle board have fallen

traces::PowerRow at_rest(const Nvml& nvml, Seconds duration, double limit_w) {
  std::this_thread::sleep_for(kFalling);
  CounterSlope joules([&nvml] { return *nvml.joules(); });
  std::this_thread::sleep_for(std::chrono::duration<double>(duration.si()));
  return {std::nullopt, joules.per_second(), limit_w, std::nullopt, nvml.condition().clock_mhz};
}
traces::PowerRow loaded(const Nvml& nvml, const traces::KernelCase& what, CudaCase& load, Seconds duration,
                        double limit_w) {
  load.run_steadily(kSettling * duration);  // until clocks and temperature have settled
  CounterSlope joules([&nvml] { return *nvml.joules(); });
  const double launches_per_second = load.run_steadily(duration);
  const double power_w = joules.per_second();
  return {what, power_w, limit_w, 1 / launches_per_second, nvml.condition().clock_mhz};
}

}  // namespace
}  // namespace cuda

std::vector<traces::PowerRow> measure_power(int device, std::span<const traces::KernelCase> loads, Seconds each,
                                            const std::function<void(std::size_t, std::size_t)>& progress,
                                            std::string& reason) {
  using namespace cuda;
  if (!has_device(device, reason)) return {};
  Machine machine(device);
  const auto nvml = Nvml::open(machine.pci_bus_id, reason);
  if (!nvml) return {};
  const auto limit_w = nvml->power_limit_w();
  if (!nvml->joules() || !limit_w) {
    reason = "the device does not count its energy, or has no limit";
    return {};
  }
  std::vector<traces::PowerRow> rows{at_rest(*nvml, each, *limit_w)};
  for (std::size_t i = 0; i < loads.size(); ++i) {
    progress(i, loads.size());
    if (const auto prepared = prepare_any(machine, loads[i], 1))
      rows.push_back(loaded(*nvml, loads[i], *prepared, each, *limit_w));
  }
  return rows;
}

}  // namespace llmscape::hardware::harness
