// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/power.hpp"

#include "hardware/harness/cuda/cases/cases.hpp"
#include "hardware/harness/cuda/device_count.hpp"
#include "hardware/harness/cuda/nvml.hpp"

#include <array>
#include <chrono>
#include <thread>

namespace llmscape::hardware::harness {
namespace cuda {
namespace {

struct Load {
  const char* name;
  traces::KernelCase what;
  double peak = 1;  // of its format's operations, in bf16's
};

std::array<Load, 6> loads() {
  using namespace traces;
  return {{{"gemm_bf16", GemmCase{8192, 8192, 8192, "bf16"}},
           {"gemm_fp8", GemmCase{8192, 8192, 8192, "fp8"}, 2},
           {"gemm_few_rows", GemmCase{16, 8192, 28672, "bf16"}},
           {"prefill_attention", PrefillAttentionCase{1, 16384, 0, 32, 8, 128, "bf16", "bf16"}},
           {"decode_attention", DecodeAttentionCase{64, 16384, 32, 8, 128, "bf16", "bf16"}},
           {"copy", CopyCase{"device", 1 << 30, 0}}}};
}

// Dense bf16 operations of one multiprocessor per clock: A100's 312 TFLOP/s, H100's 989 and B200's 2,250 over their
// multiprocessors and boost clocks (NVIDIA's architecture white papers); 0 where it is not known.
double flops_per_clock(int compute_capability) {
  switch (compute_capability) {
    case 80: return 2048;
    case 86:
    case 89: return 1024;
    case 90: return 4096;
    case 100: return 8192;
    default: return 0;
  }
}

// Loads the device, if it is loaded at all, and tells how its counter of energy moved; launches per second besides.
struct Steady {
  double power_w, launches_per_second;
};
Steady run_at_rest(const Nvml& nvml, Seconds duration) {
  const auto before = nvml.joules();
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(duration.si()));
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return {(*nvml.joules() - *before) / passed.count(), 0};
}
Steady run_loaded(const Nvml& nvml, CudaCase& load, Seconds duration) {
  load.run_steadily(duration * 0.2);  // until clocks and temperature have settled
  const auto before = nvml.joules();
  const auto start = std::chrono::steady_clock::now();
  const double rate = load.run_steadily(duration);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return {(*nvml.joules() - *before) / passed.count(), rate};
}

}  // namespace
}  // namespace cuda

std::vector<traces::PowerRow> measure_power(int device, Seconds each, std::string& reason) {
  using namespace cuda;
  if (!has_device(device, reason)) return {};
  Machine machine(device);
  const auto nvml = Nvml::open(machine.pci_bus_id, reason);
  if (!nvml) return {};
  if (!nvml->joules()) {
    reason = "the device does not count its energy";
    return {};
  }
  const double peak_flops = machine.multiprocessors * machine.clock_hz * flops_per_clock(machine.compute_capability);
  const auto share = [](double rate, double peak) { return peak > 0 ? rate / peak : 0; };
  std::vector<traces::PowerRow> rows{{"idle", run_at_rest(*nvml, each).power_w, 0, 0}};
  for (const Load& load : loads()) {
    const auto prepared = prepare_any(machine, load.what, 1);
    if (!prepared) continue;
    const Steady steady = run_loaded(*nvml, *prepared, each);
    rows.push_back({load.name, steady.power_w,
                    share(prepared->flops() * steady.launches_per_second, load.peak * peak_flops),
                    share(prepared->bytes() * steady.launches_per_second, machine.memory_bytes_per_second)});
  }
  return rows;
}

}  // namespace llmscape::hardware::harness
