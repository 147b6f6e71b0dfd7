// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/live/weights.hpp"

namespace llmscape::live {

// The model of a LlamaShape in double precision, one whole sequence at a time: no cache, no pages, no batch, no chunks.
class ReferenceModel {
 public:
  explicit ReferenceModel(const LlamaShape& shape) : shape_(shape) {}

  // For the token after the last.
  [[nodiscard]] std::vector<double> logits(std::span<const std::int32_t> tokens) const {
    Matrix x;
    for (const std::int32_t token : tokens) {
      Vector row(size(shape_.hidden));
      const RandomTensor table = random_tensor(shape_, Tensor::embedding);
      for (std::int64_t i = 0; i < shape_.hidden; ++i) row[size(i)] = table[token * shape_.hidden + i];
      x.push_back(row);
    }
    for (std::int64_t layer = 0; layer < shape_.layers; ++layer) {
      const Matrix attended = attend(product(norm(x, Tensor::attention_norm, layer), Tensor::qkv, layer));
      add(x, product(attended, Tensor::attention_output, layer));
      const Matrix gate_up = product(norm(x, Tensor::feed_norm, layer), Tensor::gate_up, layer);
      add(x, product(gated(gate_up), Tensor::down, layer));
    }
    return product(norm({x.back()}, Tensor::final_norm, 0), Tensor::head, 0).front();
  }

  // The likeliest tokens one after another. `margin` becomes the smallest lead that one of them had.
  [[nodiscard]] std::vector<std::int32_t> answer(std::vector<std::int32_t> prompt, std::int64_t count,
                                                 double& margin) const {
    std::vector<std::int32_t> out;
    for (std::int64_t i = 0; i < count; ++i) {
      Vector l = logits(prompt);
      const auto best = std::ranges::max_element(l);
      const double value = *best;
      out.push_back(static_cast<std::int32_t>(best - l.begin()));
      prompt.push_back(out.back());
      *best = -1e300;
      margin = std::min(margin, value - *std::ranges::max_element(l));
    }
    return out;
  }

 private:
  using Vector = std::vector<double>;
  using Matrix = std::vector<Vector>;
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

  [[nodiscard]] Matrix norm(const Matrix& x, Tensor tensor, std::int64_t layer) const {
    const RandomTensor weight = random_tensor(shape_, tensor, layer);
    Matrix out = x;
    for (Vector& row : out) {
      double squares = 0;
      for (const double v : row) squares += v * v;
      const double scale = 1 / std::sqrt(squares / static_cast<double>(row.size()) + 1e-5);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] *= scale * weight[static_cast<std::int64_t>(i)];
    }
    return out;
  }

  [[nodiscard]] Matrix product(const Matrix& x, Tensor tensor, std::int64_t layer) const {
    const RandomTensor weight = random_tensor(shape_, tensor, layer);
    const std::vector<float> w = values_of(weight);
    Matrix out;
    for (const Vector& row : x) {
      Vector y(w.size() / row.size());
      for (std::size_t o = 0; o < y.size(); ++o)
        for (std::size_t i = 0; i < row.size(); ++i) y[o] += row[i] * w[o * row.size() + i];
      out.push_back(y);
    }
    return out;
  }

  void rotate(double* head, std::size_t position) const {
    const std::int64_t half = shape_.head_dim / 2;
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(position) * std::pow(10000.0, -static_cast<double>(i) / half);
      const double low = head[i], high = head[i + half];
      head[i] = low * std::cos(angle) - high * std::sin(angle);
      head[i + half] = high * std::cos(angle) + low * std::sin(angle);
    }
  }

  [[nodiscard]] Matrix attend(Matrix qkv) const {
    const std::int64_t d = shape_.head_dim, group = shape_.heads / shape_.kv_heads;
    Matrix out(qkv.size(), Vector(size(shape_.query_width())));
    for (std::size_t t = 0; t < qkv.size(); ++t)
      for (std::int64_t head = 0; head < shape_.heads + shape_.kv_heads; ++head) rotate(&qkv[t][size(head * d)], t);
    for (std::size_t t = 0; t < qkv.size(); ++t) {
      for (std::int64_t head = 0; head < shape_.heads; ++head) {
        const std::size_t q = size(head * d), k = size(shape_.query_width() + head / group * d),
                          v = k + size(shape_.kv_width());
        Vector weights;
        for (std::size_t s = 0; s <= t; ++s) {
          double score = 0;
          for (std::size_t i = 0; i < size(d); ++i) score += qkv[t][q + i] * qkv[s][k + i];
          weights.push_back(std::exp(score / std::sqrt(static_cast<double>(d))));
        }
        double sum = 0;
        for (const double w : weights) sum += w;
        for (std::size_t s = 0; s <= t; ++s)
          for (std::size_t i = 0; i < size(d); ++i) out[t][q + i] += weights[s] / sum * qkv[s][v + i];
      }
    }
    return out;
  }

  [[nodiscard]] Matrix gated(const Matrix& gate_up) const {
    Matrix out;
    for (const Vector& row : gate_up) {
      Vector y(size(shape_.width));
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = row[i] / (1 + std::exp(-row[i])) * row[i + y.size()];
      out.push_back(y);
    }
    return out;
  }

  static void add(Matrix& x, const Matrix& more) {
    for (std::size_t row = 0; row < x.size(); ++row)
      for (std::size_t i = 0; i < x[row].size(); ++i) x[row][i] += more[row][i];
  }

  LlamaShape shape_;
};

}  // namespace llmscape::live
