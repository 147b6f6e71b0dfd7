// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

namespace llmscape::hardware::harness::cpu_kernels {

// Memory that begins at a cache line. Where it is large it consists of huge pages, if Linux has any: streams of weights
// and keys through small ones reach two thirds of the bandwidth on a virtual machine, and not always the same.
void* allocate_large(std::size_t bytes);
void free_large(void* memory, std::size_t bytes);

template <class T>
struct LargeAllocator {
  using value_type = T;
  T* allocate(std::size_t count) { return static_cast<T*>(allocate_large(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) { free_large(memory, count * sizeof(T)); }
  bool operator==(const LargeAllocator&) const = default;
};

using LargeVector = std::vector<float, LargeAllocator<float>>;

}  // namespace llmscape::hardware::harness::cpu_kernels
