// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/large_vector.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace llmscape::hardware::harness::cpu_kernels {

namespace {

constexpr std::size_t kLine = 64, kHugePage = 2 << 20, kLarge = kHugePage / 4;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Fresh pages: those that an allocator hands out again are resident already, and small for good.
void* map_huge_pages(std::size_t size) {
  void* mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* const first = static_cast<std::byte*>(mapped);
  const std::size_t before = rounded(reinterpret_cast<std::uintptr_t>(first), kHugePage) -  // NOLINT: an address
                             reinterpret_cast<std::uintptr_t>(first);                       // NOLINT
  if (before > 0) munmap(first, before);
  if (before < kHugePage) munmap(first + before + size, kHugePage - before);
  madvise(first + before, size, MADV_HUGEPAGE);  // a wish; without it pages are small
  return first + before;
}

}  // namespace

void* allocate_large(std::size_t bytes) {
  if (bytes >= kLarge) return map_huge_pages(rounded(bytes, kHugePage));
  void* memory = std::aligned_alloc(kLine, rounded(bytes, kLine));
  if (!memory) throw std::bad_alloc();
  return memory;
}

void free_large(void* memory, std::size_t bytes) {
  if (bytes >= kLarge) munmap(memory, rounded(bytes, kHugePage));
  else std::free(memory);
}

}  // namespace llmscape::hardware::harness::cpu_kernels
