// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stands in for the header of the same name when kernels are compiled for the host. The layouts of matrix fragments are
// written down here again, from "Parallel Thread Execution ISA", so that a wrong one in a kernel shows.
#include "emulation.hpp"
#include "hardware/harness/cuda/numbers.hpp"

#include <math.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#define __device__
#define __forceinline__ inline

namespace llmscape::hardware::harness::cuda {

using emulated::block_barrier;
using emulated::close_copy_group;
using emulated::copy_async;
using emulated::shared_memory;
using emulated::thread_index;

inline void warp_barrier() {
  emulated::with_warp(nullptr, [](void* const*) {});
}

inline float shuffle_xor(float x, int mask) {
  struct Lane {
    float given, taken;
    int mask;
  } mine{x, 0, mask};
  emulated::with_warp(&mine, [](void* const* lanes) {
    for (int i = 0; i < 32; ++i) {
      auto* lane = static_cast<Lane*>(lanes[i]);
      lane->taken = static_cast<Lane*>(lanes[i ^ lane->mask])->given;
    }
  });
  return mine.taken;
}

inline bool any_of_warp(bool x) {
  bool mine = x;
  emulated::with_warp(&mine, [](void* const* lanes) {
    bool any = false;
    for (int i = 0; i < 32; ++i) any = any || *static_cast<bool*>(lanes[i]);
    for (int i = 0; i < 32; ++i) *static_cast<bool*>(lanes[i]) = any;
  });
  return mine;
}

inline float exp2_of(float x) { return std::exp2(x); }

inline std::uint32_t pack(float low, float high) {
  return to_bf16(low).bits | static_cast<std::uint32_t>(to_bf16(high).bits) << 16;
}
inline float unpack(std::uint32_t pair, int half) {
  return to_float(Bf16{static_cast<std::uint16_t>(pair >> (16 * half))});
}

template <int kPending>
void await_copies() {
  emulated::await_copies(kPending);
}

inline void load_matrices_as(std::uint32_t (&registers)[4], const void* shared_row, bool transposed) {
  struct Lane {
    std::uint32_t* registers;
    const Bf16* row;
  } mine{registers, static_cast<const Bf16*>(shared_row)};
  emulated::with_warp(&mine, [transposed](void* const* lanes) {
    for (int matrix = 0; matrix < 4; ++matrix) {
      const auto element = [&](int row, int column) {
        if (transposed) std::swap(row, column);
        return std::uint32_t{static_cast<const Lane*>(lanes[8 * matrix + row])->row[column].bits};
      };
      for (int i = 0; i < 32; ++i) {
        static_cast<Lane*>(lanes[i])->registers[matrix] = element(i / 4, i % 4 * 2) | element(i / 4, i % 4 * 2 + 1)
                                                                                          << 16;
      }
    }
  });
}
inline void load_matrices(std::uint32_t (&registers)[4], const void* shared_row) {
  load_matrices_as(registers, shared_row, false);
}
inline void load_matrices_transposed(std::uint32_t (&registers)[4], const void* shared_row) {
  load_matrices_as(registers, shared_row, true);
}

inline void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  struct Lane {
    float* d;
    std::uint32_t a[4], b[2];
  } mine{d, {a[0], a[1], a[2], a[3]}, {b0, b1}};
  emulated::with_warp(&mine, [](void* const* lanes) {
    std::array<std::array<float, 16>, 16> left;
    std::array<std::array<float, 8>, 16> right;
    for (int i = 0; i < 32; ++i) {
      const auto* lane = static_cast<const Lane*>(lanes[i]);
      for (int half = 0; half < 2; ++half) {
        for (int r = 0; r < 4; ++r) left[i / 4 + r % 2 * 8][i % 4 * 2 + half + r / 2 * 8] = unpack(lane->a[r], half);
        for (int r = 0; r < 2; ++r) right[i % 4 * 2 + half + r * 8][i / 4] = unpack(lane->b[r], half);
      }
    }
    for (int i = 0; i < 32; ++i) {
      for (int r = 0; r < 4; ++r) {
        const int row = i / 4 + r / 2 * 8, column = i % 4 * 2 + r % 2;
        float sum = static_cast<Lane*>(lanes[i])->d[r];
        for (int k = 0; k < 16; ++k) sum += left[row][k] * right[k][column];
        static_cast<Lane*>(lanes[i])->d[r] = sum;
      }
    }
  });
}

inline void publish_shared() {}
inline void open_products() {}
template <int kCount>
void finish_products(float (&)[kCount][4]) {}

template <bool kRowsOfB, bool kAdd>
void group_multiply_add(float (&d)[8][4], const std::uint32_t (&a)[4], const void* b) {
  struct Lane {
    float (*d)[4];
    std::uint32_t a[4];
    const std::byte* b;
  } mine{d, {a[0], a[1], a[2], a[3]}, static_cast<const std::byte*>(b)};
  emulated::with_four_warps(&mine, [](void* const* lanes) {
    const std::byte* const start = static_cast<const Lane*>(lanes[0])->b;
    // Bits 4 to 6 of an address are permuted with its bits 7 to 9.
    const auto element = [start](int k, int column) {
      const int row = kRowsOfB ? k : column, along = kRowsOfB ? column : k;
      const std::ptrdiff_t plain = start - shared_memory() + row / 8 * 1024 + row % 8 * 128 + along * 2;
      return to_float(*reinterpret_cast<const Bf16*>(shared_memory() + (plain ^ ((plain >> 7 & 7) << 4))));
    };
    std::array<std::array<float, 16>, 64> left;
    std::array<std::array<float, 64>, 16> right;
    for (int k = 0; k < 16; ++k) {
      for (int column = 0; column < 64; ++column) right[k][column] = element(k, column);
    }
    for (int i = 0; i < 128; ++i) {
      const auto* lane = static_cast<const Lane*>(lanes[i]);
      if (lane->b != start) throw std::logic_error("lanes name different matrices");
      for (int r = 0; r < 8; ++r) {
        left[i / 32 * 16 + i % 32 / 4 + r / 2 % 2 * 8][i % 4 * 2 + r % 2 + r / 4 * 8] = unpack(lane->a[r / 2], r % 2);
      }
    }
    for (int i = 0; i < 128; ++i) {
      for (int r = 0; r < 32; ++r) {
        const int row = i / 32 * 16 + i % 32 / 4 + r / 2 % 2 * 8, column = r / 4 * 8 + i % 4 * 2 + r % 2;
        float& sum = static_cast<Lane*>(lanes[i])->d[r / 4][r % 4];
        if (!kAdd) sum = 0;
        for (int k = 0; k < 16; ++k) sum += left[row][k] * right[k][column];
      }
    }
  });
}

}  // namespace llmscape::hardware::harness::cuda
