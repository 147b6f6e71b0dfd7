// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/machine.hpp"

#include "hardware/harness/cuda/kernels/memory.hpp"

#include <cuda_runtime_api.h>

#include <array>

namespace llmscape::hardware::harness::cuda {
namespace {

constexpr double kSpareBytes = 512 << 20;

// Cases start on the device that is current in the thread.
int make_current(int device) {
  check(cudaSetDevice(device), "choosing a device");
  return device;
}

cudaDeviceProp properties(int device) {
  cudaDeviceProp found{};
  check(cudaGetDeviceProperties(&found, device), "reading the device's properties");
  return found;
}

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "reading the device's attributes");
  return value;
}

}  // namespace

Machine::Machine(int index) : device(make_current(index)) {
  const cudaDeviceProp found = properties(device);
  name = found.name;
  std::array<char, 32> bus_id{};
  check(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device), "reading the device's bus id");
  pci_bus_id = bus_id.data();
  compute_capability = found.major * 10 + found.minor;
  multiprocessors = found.multiProcessorCount;
  l2_bytes = static_cast<std::size_t>(found.l2CacheSize);
  memory_bytes = found.totalGlobalMem;
  clock_hz = 1e3 * attribute(cudaDevAttrClockRate, device);
  // Two transfers per clock.
  memory_bytes_per_second =
      2 * 1e3 * attribute(cudaDevAttrMemoryClockRate, device) * attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
  check(cudaDriverGetVersion(&driver_version), "reading the driver's version");
  check(cudaRuntimeGetVersion(&runtime_version), "reading the runtime's version");
  flush_data = DeviceArray<std::byte>(2 * l2_bytes);
  check(cudaMemset(flush_data.data(), 1, flush_data.bytes()), "writing the flush buffer");
  gemms = GemmLibrary::load(no_gemms);
}

void Machine::flush_l2() const { read_through(flush_data.data(), flush_data.bytes(), stream); }

bool Machine::has_room(double bytes) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "reading the free memory");
  return bytes + kSpareBytes < static_cast<double>(free);
}

}  // namespace llmscape::hardware::harness::cuda
