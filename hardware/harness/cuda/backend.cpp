// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/backend.hpp"

#include "hardware/harness/cuda/cases/cases.hpp"
#include "hardware/harness/cuda/device_count.hpp"
#include "hardware/harness/cuda/kernels/attention.hpp"
#include "hardware/harness/cuda/nvml.hpp"

#include <fmt/format.h>

namespace llmscape::hardware::harness {
namespace cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int device) : machine_(device), nvml_(Nvml::open(machine_.pci_bus_id, no_nvml_)) {}

  [[nodiscard]] std::string name() const override { return "cuda"; }
  [[nodiscard]] std::map<std::string, std::string> context() const override {
    std::map<std::string, std::string> context;
    context["device"] = machine_.name;
    context["compute_capability"] = fmt::format("{:.1f}", machine_.compute_capability / 10.0);
    context["multiprocessors"] = std::to_string(machine_.multiprocessors);
    context["l2_bytes"] = std::to_string(machine_.l2_bytes);
    context["memory_bytes"] = std::to_string(machine_.memory_bytes);
    context["highest_clock_mhz"] = fmt::format("{:.0f}", machine_.clock_hz * 1e-6);
    context["memory_peak_bytes_per_second"] = fmt::format("{:.4g}", machine_.memory_bytes_per_second);
    context["cuda_driver"] = std::to_string(machine_.driver_version);
    context["cuda_runtime"] = std::to_string(machine_.runtime_version);
    context["software"] =
        machine_.gemms ? "cuBLASLt " + machine_.gemms->version() : "no cuBLASLt: " + machine_.no_gemms;
    context["prefill_attention"] = prefill_kernel() == PrefillKernel::kHopper ? "wgmma" : "mma.sync";
    context["flush"] = "2 x L2 read before each sample; short kernels: a graph of launches, each on buffers of its own";
    context["clock"] = "events; launch, graph and sync latencies: the host's clock";
    if (!nvml_) {
      context["nvml"] = "none: " + no_nvml_;
      return context;
    }
    context["driver"] = nvml_->driver_version();
    if (const auto limit = nvml_->power_limit_w()) context["power_limit_w"] = fmt::format("{:.0f}", *limit);
    return context;
  }
  std::unique_ptr<PreparedCase> prepare(const traces::KernelCase& what, std::uint64_t seed) override {
    return prepare_any(machine_, what, seed);
  }
  Condition condition() override { return nvml_ ? nvml_->condition() : Condition{}; }

 private:
  Machine machine_;
  std::string no_nvml_;
  std::unique_ptr<Nvml> nvml_;
};

}  // namespace

std::unique_ptr<CudaCase> prepare_any(Machine& machine, const traces::KernelCase& what, std::uint64_t seed) {
  return std::visit(
      [&](const auto& shape) -> std::unique_ptr<CudaCase> {
        if constexpr (requires { prepare_case(machine, shape, seed); }) return prepare_case(machine, shape, seed);
        else return nullptr;
      },
      what);
}

}  // namespace cuda

std::unique_ptr<Backend> make_cuda_backend(int device, std::string& reason) {
  if (!cuda::has_device(device, reason)) return nullptr;
  return std::make_unique<cuda::CudaBackend>(device);
}

}  // namespace llmscape::hardware::harness
