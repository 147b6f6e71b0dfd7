// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/large_vector.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace llmscape::hardware::harness::cpu_kernels {

void* allocate_large(std::size_t bytes) {
  constexpr std::size_t kLine = 64, kHugePage = 2 << 20, kLarge = kHugePage / 4;
  const std::size_t unit = bytes >= kLarge ? kHugePage : kLine;
  const std::size_t size = (bytes + unit - 1) / unit * unit;
  void* memory = std::aligned_alloc(unit, size);
  if (!memory) throw std::bad_alloc();
  if (unit == kHugePage) madvise(memory, size, MADV_HUGEPAGE);  // a wish; without it pages are small
  return memory;
}

void free_large(void* memory) { std::free(memory); }

}  // namespace llmscape::hardware::harness::cpu_kernels
