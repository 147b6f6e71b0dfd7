// SPDX-License-Identifier: Apache-2.0
#include "base/heap.hpp"

#if defined(__GLIBC__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#endif

namespace llmscape {

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)

namespace {
void* volatile left_out = nullptr;  // kept for good
}  // namespace

void widen_heap() {
  constexpr int kMiB = 1 << 20;
  constexpr int kHeap = 256 * kMiB;
  constexpr std::uintptr_t kLargePage = 2 * kMiB;
  // What glibc would come to by itself at most; parts of the heap that are given back would come again as small pages.
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 2 * kHeap);
  mallopt(M_TOP_PAD, kHeap);
  void* volatile more_than_is_left = std::malloc(kMiB);  // volatile: a compiler may drop the pair
  std::free(more_than_is_left);                          // the heap has grown by this and the padding
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  const std::uintptr_t begin = (end - kHeap + kLargePage - 1) / kLargePage * kLargePage;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // a wish: it may be refused
  // What lies before the first large page is left out, in one piece that nobody touches.
  mallopt(M_TOP_PAD, 0);
  void* const first = std::malloc(kLargePage / 2);
  const auto at = reinterpret_cast<std::uintptr_t>(first);
  std::free(first);
  constexpr std::uintptr_t kHeader = 64;  // more than glibc puts before a piece
  if (at + kHeader < begin) left_out = std::malloc(begin - at - kHeader);
  mallopt(M_TOP_PAD, kMiB);
}

#else

void widen_heap() {}

#endif

}  // namespace llmscape
