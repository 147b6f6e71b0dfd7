// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace llmscape::hardware::harness::cpu_kernels {

inline void copy(std::span<const float> from, std::span<float> to) { std::ranges::copy(from, to.begin()); }

// to = a + scale * b (STREAM)
inline void triad(std::span<const float> a, std::span<const float> b, float scale, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = a[i] + scale * b[i];
}

// Blocks of `size` elements that are scattered over `from`, one behind the other.
inline void gather(std::span<const float> from, std::span<const std::int32_t> blocks, std::size_t size,
                   std::span<float> to) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    std::ranges::copy(from.subspan(static_cast<std::size_t>(blocks[i]) * size, size), to.subspan(i * size).begin());
}

}  // namespace llmscape::hardware::harness::cpu_kernels
