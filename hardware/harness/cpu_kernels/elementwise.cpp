// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/elementwise.hpp"

#include <algorithm>
#include <cmath>

namespace llmscape::hardware::harness::cpu_kernels {

void rms_norm(Rows<const float> x, std::span<const float> weight, Rows<float> y, float epsilon) {
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const auto from = x[row];
    const auto to = y[row];
    float squares = 0;
    for (const float value : from) squares += value * value;
    const float scale = 1 / std::sqrt(squares / static_cast<float>(x.width) + epsilon);
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] * scale * weight[i];
  }
}

RopeTable::RopeTable(std::int64_t positions, std::int64_t head_dim, double base) : half_(head_dim / 2) {
  for (std::int64_t position = 0; position < positions; ++position) {
    for (std::int64_t i = 0; i < half_; ++i) {
      const double turn = std::pow(base, -static_cast<double>(i) / static_cast<double>(half_));
      const double angle = static_cast<double>(position) * turn;
      cosines_.push_back(static_cast<float>(std::cos(angle)));
      sines_.push_back(static_cast<float>(std::sin(angle)));
    }
  }
}

void rope(Rows<float> x, std::span<const std::int64_t> positions, const RopeTable& table) {
  const std::int64_t half = table.head_dim() / 2;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const float* cosines = table.cosines(positions[static_cast<std::size_t>(row)]).data();
    const float* sines = table.sines(positions[static_cast<std::size_t>(row)]).data();
    for (float* head = x[row].data(); head < x[row].data() + x.width; head += 2 * half) {
      for (std::int64_t i = 0; i < half; ++i) {
        const float low = head[i], high = head[i + half];
        head[i] = low * cosines[i] - high * sines[i];
        head[i + half] = high * cosines[i] + low * sines[i];
      }
    }
  }
}

void silu_mul(Rows<const float> gate_up, Rows<float> y) {
  for (std::int64_t row = 0; row < y.rows; ++row) {
    const float* gate = gate_up[row].data();
    const float* up = gate + y.width;
    const auto to = y[row];
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
  }
}

void add(Rows<const float> x, Rows<float> y) {
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const auto from = x[row];
    const auto to = y[row];
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
  }
}

void embedding(Rows<const float> table, std::span<const std::int32_t> tokens, Rows<float> y) {
  for (std::size_t row = 0; row < tokens.size(); ++row)
    std::ranges::copy(table[tokens[row]], y[static_cast<std::int64_t>(row)].begin());
}

void argmax(Rows<const float> logits, std::span<std::int32_t> tokens) {
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    const auto values = logits[static_cast<std::int64_t>(row)];
    tokens[row] = static_cast<std::int32_t>(std::ranges::max_element(values) - values.begin());
  }
}

}  // namespace llmscape::hardware::harness::cpu_kernels
