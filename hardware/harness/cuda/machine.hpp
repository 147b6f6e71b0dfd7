// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/kernels/gemm.hpp"
#include "hardware/harness/cuda/runtime.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace llmscape::hardware::harness::cuda {

// One GPU and what the cases share on it.
struct Machine {
  explicit Machine(int index);

  int device;
  std::string name, pci_bus_id;
  int compute_capability;  // 80, 90, ...
  int multiprocessors;
  std::size_t l2_bytes, memory_bytes;
  double clock_hz, memory_bytes_per_second;  // the highest, as the driver tells them; 0 where it does not
  int driver_version, runtime_version;       // of CUDA, as 1000 major + 10 minor
  OwnedStream stream;
  DeviceArray<std::byte> flush_data;   // twice the L2
  std::unique_ptr<GemmLibrary> gemms;  // nothing, with `no_gemms` saying why, where cuBLASLt is not there
  std::string no_gemms;

  void flush_l2() const;
  // Whether `bytes` more fit into the free memory, with some to spare.
  [[nodiscard]] static bool has_room(double bytes);
};

}  // namespace llmscape::hardware::harness::cuda
