// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/nvml.hpp"

#include <array>
#include <utility>

namespace llmscape::hardware::harness::cuda {
namespace {

// From the library's reference manual (NVML API Reference Guide): what is used, under names of our own.
constexpr unsigned kMultiprocessorClock = 1;  // NVML_CLOCK_SM
constexpr unsigned kOnChip = 0;               // NVML_TEMPERATURE_GPU
// nvmlClocksThrottleReasons. Idle and application clocks are no throttling.
constexpr std::array<std::pair<unsigned long long, const char*>, 7> kThrottleReasons{{
    {0x04, "throttled: power cap"},
    {0x08, "throttled: hardware slowdown"},
    {0x10, "throttled: synchronised boost"},
    {0x20, "throttled: software thermal"},
    {0x40, "throttled: hardware thermal"},
    {0x80, "throttled: power brake"},
    {0x100, "throttled: display clocks"},
}};

}  // namespace

struct Nvml::Functions {
  explicit Functions(std::unique_ptr<SharedLibrary> opened) : library(std::move(opened)) {
    library->bind(init, "nvmlInit_v2");
    library->bind(shutdown, "nvmlShutdown");
    library->bind(handle_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2");
    library->bind(clock, "nvmlDeviceGetClockInfo");
    library->bind(power, "nvmlDeviceGetPowerUsage");
    library->bind(power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    library->bind(temperature, "nvmlDeviceGetTemperature");
    library->bind(throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    library->bind(energy, "nvmlDeviceGetTotalEnergyConsumption");
    library->bind(driver_version, "nvmlSystemGetDriverVersion");
  }
  std::unique_ptr<SharedLibrary> library;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*handle_by_bus_id)(const char*, void**) = nullptr;
  int (*clock)(void*, unsigned, unsigned*) = nullptr;        // MHz
  int (*power)(void*, unsigned*) = nullptr;                  // mW
  int (*power_limit)(void*, unsigned*) = nullptr;            // mW
  int (*temperature)(void*, unsigned, unsigned*) = nullptr;  // degrees Celsius
  int (*throttle_reasons)(void*, unsigned long long*) = nullptr;
  int (*energy)(void*, unsigned long long*) = nullptr;  // mJ
  int (*driver_version)(char*, unsigned) = nullptr;
};

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id, std::string& reason) {
  auto library = SharedLibrary::open({"libnvidia-ml.so.1"}, reason);
  if (!library) return nullptr;
  auto functions = std::make_unique<Functions>(std::move(library));
  if (const int status = functions->init(); status != 0) {
    reason = "NVML does not start: status " + std::to_string(status);
    return nullptr;
  }
  void* device = nullptr;
  if (const int status = functions->handle_by_bus_id(pci_bus_id.c_str(), &device); status != 0) {
    reason = "NVML does not know the device: status " + std::to_string(status);
    functions->shutdown();
    return nullptr;
  }
  return std::unique_ptr<Nvml>(new Nvml(std::move(functions), device));
}

Nvml::Nvml(std::unique_ptr<Functions> functions, void* device) : functions_(std::move(functions)), device_(device) {}
Nvml::~Nvml() { functions_->shutdown(); }

Condition Nvml::condition() const {
  Condition now;
  unsigned value = 0;
  if (functions_->clock(device_, kMultiprocessorClock, &value) == 0) now.clock_mhz = value;
  if (functions_->power(device_, &value) == 0) now.power_w = value * 1e-3;
  if (functions_->temperature(device_, kOnChip, &value) == 0) now.temperature_c = value;
  unsigned long long reasons = 0;
  if (functions_->throttle_reasons(device_, &reasons) == 0) {
    for (const auto& [bit, text] : kThrottleReasons) {
      if ((reasons & bit) != 0) now.throttle_reasons.emplace_back(text);
    }
  }
  return now;
}

std::optional<double> Nvml::joules() const {
  unsigned long long millijoules = 0;
  if (functions_->energy(device_, &millijoules) != 0) return std::nullopt;
  return static_cast<double>(millijoules) * 1e-3;
}

std::optional<double> Nvml::power_limit_w() const {
  unsigned milliwatts = 0;
  if (functions_->power_limit(device_, &milliwatts) != 0) return std::nullopt;
  return milliwatts * 1e-3;
}

std::string Nvml::driver_version() const {
  std::array<char, 80> text{};
  return functions_->driver_version(text.data(), static_cast<unsigned>(text.size())) == 0 ? text.data() : "unknown";
}

}  // namespace llmscape::hardware::harness::cuda
