// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

// Sixteen floats at once, in whatever registers the function around has: one of AVX-512, two of AVX2, four of SSE or
// NEON. On x86-64 the kernels are compiled for all three, and the machine they run on chooses; arm64 has NEON always.
// Everything here is inlined; vectors are passed by reference, because registers for arguments differ.
#ifdef __x86_64__
#define LLMSCAPE_EACH_VECTOR_LENGTH [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define LLMSCAPE_EACH_VECTOR_LENGTH
#endif

namespace llmscape::hardware::harness::cpu_kernels {

inline constexpr int kLanes = 16;
using Vector = float __attribute__((vector_size(kLanes * sizeof(float))));
using Integers = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));

[[gnu::always_inline]] inline void load(Vector& v, const float* from) { std::memcpy(&v, from, sizeof v); }
[[gnu::always_inline]] inline void store(float* to, const Vector& v) { std::memcpy(to, &v, sizeof v); }
[[gnu::always_inline]] inline void maximise(Vector& v, const Vector& other) { v = v > other ? v : other; }

[[gnu::always_inline]] inline float largest(const Vector& v) {
  float out = v[0];
  for (int i = 1; i < kLanes; ++i) out = out > v[i] ? out : v[i];
  return out;
}
[[gnu::always_inline]] inline float sum(const Vector& v) {
  float out = 0;
  for (int i = 0; i < kLanes; ++i) out += v[i];
  return out;
}

// v = 2^v, relative error below 2e-7; below 2^-126 it stays there.
[[gnu::always_inline]] inline void raise_two(Vector& v) {
  constexpr float kLowest = -126, kHighest = 127;
  v = v > kLowest ? v : Vector{} + kLowest;
  v = v < kHighest ? v : Vector{} + kHighest;
  constexpr float kToWhole = 0x1.8p23F;  // adding and subtracting it rounds to a whole number
  const Vector shifted = v + kToWhole, whole = shifted - kToWhole, rest = v - whole;
  // Taylor's series of 2^rest, |rest| <= 1/2: the coefficients are ln(2)^n / n!.
  Vector power = rest * 1.5403530e-4F + 1.3333558e-3F;
  power = power * rest + 9.6181291e-3F;
  power = power * rest + 5.5504109e-2F;
  power = power * rest + 2.4022651e-1F;
  power = power * rest + 6.9314718e-1F;
  power = power * rest + 1.0F;
  const Integers exponent = (__builtin_bit_cast(Integers, shifted) - std::bit_cast<std::int32_t>(kToWhole)) << 23;
  v = __builtin_bit_cast(Vector, __builtin_bit_cast(Integers, power) + exponent);
}

}  // namespace llmscape::hardware::harness::cpu_kernels
