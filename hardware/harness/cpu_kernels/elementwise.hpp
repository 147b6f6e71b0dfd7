// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "hardware/harness/cpu_kernels/rows.hpp"

namespace llmscape::hardware::harness::cpu_kernels {

// y = x / sqrt(mean(x^2) + epsilon) * weight, row by row; y may be x.
void rms_norm(Rows<const float> x, std::span<const float> weight, Rows<float> y, float epsilon = 1e-5F);

// Cosines and sines of every position: head_dim / 2 of each.
class RopeTable {
 public:
  RopeTable(std::int64_t positions, std::int64_t head_dim, double base = 10000);
  [[nodiscard]] std::int64_t head_dim() const { return 2 * half_; }
  [[nodiscard]] std::span<const float> cosines(std::int64_t position) const { return of(cosines_, position); }
  [[nodiscard]] std::span<const float> sines(std::int64_t position) const { return of(sines_, position); }

 private:
  [[nodiscard]] std::span<const float> of(const std::vector<float>& all, std::int64_t position) const {
    return std::span(all).subspan(static_cast<std::size_t>(position * half_), static_cast<std::size_t>(half_));
  }
  std::int64_t half_;
  std::vector<float> cosines_, sines_;
};

// Rotates the heads of each row (its width over head_dim of them) by the row's position, element i with i + head_dim/2.
void rope(Rows<float> x, std::span<const std::int64_t> positions, const RopeTable& table);

// y = silu(gate) * up, where a row of `gate_up` is the gate and then, as wide, the other factor.
void silu_mul(Rows<const float> gate_up, Rows<float> y);

// y += x
void add(Rows<const float> x, Rows<float> y);

// Rows of `table` by token.
void embedding(Rows<const float> table, std::span<const std::int32_t> tokens, Rows<float> y);

// The first of the largest logits of each row: greedy sampling.
void argmax(Rows<const float> logits, std::span<std::int32_t> tokens);

}  // namespace llmscape::hardware::harness::cpu_kernels
