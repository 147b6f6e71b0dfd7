// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace llmscape::hardware::harness::cpu_kernels {

// Rows of a matrix in memory, `stride` elements from one to the next: queries and keys lie side by side in the output
// of one GEMM.
template <class T>
struct Rows {
  T* data = nullptr;
  std::int64_t rows = 0, width = 0, stride = 0;

  // The same rows, not to be written.
  // NOLINTNEXTLINE(google-explicit-constructor): as for pointers
  operator Rows<const T>() const { return {data, rows, width, stride}; }
  [[nodiscard]] std::span<T> operator[](std::int64_t row) const {
    return {data + row * stride, static_cast<std::size_t>(width)};
  }
};

// `rows` rows one behind the other.
template <class T>
Rows<T> packed(std::span<T> all, std::int64_t rows) {
  const std::int64_t width = rows > 0 ? static_cast<std::int64_t>(all.size()) / rows : 0;
  return {all.data(), rows, width, width};
}

}  // namespace llmscape::hardware::harness::cpu_kernels
