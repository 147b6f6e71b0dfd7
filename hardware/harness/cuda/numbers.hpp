// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace llmscape::hardware::harness::cuda {

// The formats that kernels read and write, as bits: what device memory holds, and what references on the host decode.

// 1 sign, 8 exponent, 7 fraction bits: the upper half of a float.
struct Bf16 {
  std::uint16_t bits = 0;
};
// OCP E4M3 without infinities: 1 sign, 4 exponent (bias 7), 3 fraction bits; the largest is 448, and 0x7f is no number.
struct Fp8 {
  std::uint8_t bits = 0;
};
inline constexpr float kLargestFp8 = 448;

constexpr float to_float(Bf16 x) { return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16); }

// To the nearest, ties to even.
constexpr Bf16 to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {0x7fff};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

inline float to_float(Fp8 x) {
  const int exponent = (x.bits >> 3) & 15, fraction = x.bits & 7;
  const float magnitude = (x.bits & 0x7f) == 0x7f ? std::nanf("")
                          : exponent == 0         ? std::ldexp(static_cast<float>(fraction), -9)
                                                  : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return (x.bits & 0x80) != 0 ? -magnitude : magnitude;
}

// 64 random bits that depend on nothing but their arguments, on the host and on the device alike. The mixer is
// splitmix64's (Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed + (index + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// A number from 0 to 1, without 0 and 1 themselves.
constexpr float uniform(std::uint64_t seed, std::uint64_t index) {
  return (static_cast<float>(random_bits(seed, index) >> 41) + 0.5F) * 0x1p-23F;
}

}  // namespace llmscape::hardware::harness::cuda
