// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "base/sourced.hpp"
#include "models/model.hpp"

namespace llmscape::hardware {

// Dense peaks of GEMMs: half of the figures that count sparsity.
struct Peaks {
  Sourced<FlopsPerSecond> peak_bf16;
  std::optional<Sourced<FlopsPerSecond>> peak_fp8, peak_int8, peak_fp4;
  double clock = 1;  // at which it runs, as a share of the boost clock that the peaks are stated at

  // Of a GEMM of these operands. The wider operand decides (4-bit weights with 16-bit activations are widened before
  // the GEMM); formats without units of their own run at the next wider peak of their kind, floats of 6 bits and
  // integers of 4 at that of 8 (NVIDIA's sheets of Blackwell: FP6 as FP8, no INT4); fp32 runs as TF32 at half of bf16.
  [[nodiscard]] FlopsPerSecond peak(const models::Format& weights, const models::Format& activations) const;
  // Whether a peak is stated for GEMMs of these operands; else they run at that of 16 bits.
  [[nodiscard]] bool states(const models::Format& operands) const;
  // Makes them those at `clock`: they follow it in a straight line.
  void scale_peaks();
};

template <class T>
void add_peak_fields(Fields<T>& fields) {
  fields.add("peak_bf16", &T::peak_bf16, "dense peak of bf16 and fp16 GEMMs").required().above(0);
  fields.add("peak_fp8", &T::peak_fp8, "dense peak of fp8 GEMMs; absent: none").above(0);
  fields.add("peak_int8", &T::peak_int8, "dense peak of int8 GEMMs; absent: none").above(0);
  fields.add("peak_fp4", &T::peak_fp4, "dense peak of fp4 GEMMs; absent: none").above(0);
  fields.add("clock", &T::clock, "the clock as a share of the boost clock that the peaks are stated at")
      .above(0)
      .at_most(1);
}

}  // namespace llmscape::hardware
