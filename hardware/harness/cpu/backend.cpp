// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/backend.hpp"

#include "base/files.hpp"
#include "hardware/harness/cpu/clock.hpp"
#include "hardware/harness/cpu/cpu_case.hpp"
#include "hardware/harness/cpu/machine.hpp"
#include "hardware/harness/cpu_kernels/linear.hpp"

#include <fmt/format.h>

namespace llmscape::hardware::harness {
namespace {

class CpuBackend final : public Backend {
 public:
  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] std::map<std::string, std::string> context() const override {
    std::map<std::string, std::string> context = machine_facts();
    context["software"] = "oneDNN " + cpu_kernels::onednn_version();
    context["threads"] = "1";
    context["clock"] = "thread cpu time";
    context["caches"] =
        "weights, keys and values in rotated copies, ten times the last cache together; activations as they were left";
    context["clock_cost_ns"] = fmt::format("{:.0f}", clock_cost().si() * 1e9);
    if (const auto stolen = steal_.share_since()) context["steal"] = fmt::format("{:.4f}", *stolen);
    return context;
  }
  std::unique_ptr<PreparedCase> prepare(const traces::KernelCase& what, std::uint64_t seed) override {
    return std::visit(
        [seed](const auto& shape) -> std::unique_ptr<PreparedCase> {
          if constexpr (requires { prepare_cpu(shape, seed); }) return prepare_cpu(shape, seed);
          else return nullptr;
        },
        what);
  }
  Condition condition() override { return {clock_mhz(), {}, {}, {}}; }

 private:
  StealMeter steal_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(int threads, std::string& reason) {
  if (threads == 1) return std::make_unique<CpuBackend>();
  reason = "the CPU backend times one thread";
  return nullptr;
}

}  // namespace llmscape::hardware::harness
