// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/elementwise.hpp"

#include "hardware/harness/cpu_kernels/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace llmscape::hardware::harness::cpu_kernels {

LLMSCAPE_EACH_VECTOR_LENGTH
void rms_norm(Rows<const float> x, std::span<const float> weight, Rows<float> y, float epsilon) {
  const std::int64_t whole = x.width / kLanes * kLanes;
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const float* from = x[row].data();
    float* to = y[row].data();
    Vector squares = {}, part;
    for (std::int64_t i = 0; i < whole; i += kLanes) {
      load(part, from + i);
      squares += part * part;
    }
    float total = sum(squares);
    for (std::int64_t i = whole; i < x.width; ++i) total += from[i] * from[i];
    const float scale = 1 / std::sqrt(total / static_cast<float>(x.width) + epsilon);
    for (std::int64_t i = 0; i < x.width; ++i) to[i] = from[i] * scale * weight[i];
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

LLMSCAPE_EACH_VECTOR_LENGTH
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

LLMSCAPE_EACH_VECTOR_LENGTH
void silu_mul(Rows<const float> gate_up, Rows<float> y) {
  const std::int64_t whole = y.width / kLanes * kLanes;
  for (std::int64_t row = 0; row < y.rows; ++row) {
    const float* gate = gate_up[row].data();
    const float* up = gate + y.width;
    float* to = y[row].data();
    for (std::int64_t i = 0; i < whole; i += kLanes) {
      Vector gates, factors;
      load(gates, gate + i);
      load(factors, up + i);
      Vector power = gates * -std::numbers::log2e_v<float>;
      raise_two(power);
      store(to + i, gates / (1 + power) * factors);
    }
    for (std::int64_t i = whole; i < y.width; ++i) to[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
  }
}

LLMSCAPE_EACH_VECTOR_LENGTH
void add(Rows<const float> x, Rows<float> y) {
  for (std::int64_t row = 0; row < x.rows; ++row) {
    const float* from = x[row].data();
    float* to = y[row].data();
    for (std::int64_t i = 0; i < x.width; ++i) to[i] += from[i];
  }
}

void embedding(Rows<const float> table, std::span<const std::int32_t> tokens, Rows<float> y) {
  for (std::size_t row = 0; row < tokens.size(); ++row)
    std::ranges::copy(table[tokens[row]], y[static_cast<std::int64_t>(row)].begin());
}

LLMSCAPE_EACH_VECTOR_LENGTH
void argmax(Rows<const float> logits, std::span<std::int32_t> tokens) {
  const std::int64_t whole = logits.width / kLanes * kLanes;
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    const float* values = logits[static_cast<std::int64_t>(row)].data();
    Vector highest = Vector{} - std::numeric_limits<float>::infinity(), part;
    for (std::int64_t i = 0; i < whole; i += kLanes) {
      load(part, values + i);
      maximise(highest, part);
    }
    const float* end = values + logits.width;
    const float most = std::max(largest(highest), whole < logits.width ? *std::max_element(values + whole, end)
                                                                       : -std::numeric_limits<float>::infinity());
    tokens[row] = static_cast<std::int32_t>(std::find(values, end, most) - values);
  }
}

}  // namespace llmscape::hardware::harness::cpu_kernels
