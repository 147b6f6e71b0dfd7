// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "models/operator.hpp"
#include "models/parallel_plan.hpp"

namespace llmscape::models {

// Gathers the operators of a step; an operator that stands there already only counts more often.
class OperatorList {
 public:
  OperatorList() { operators_.reserve(kMostly); }
  // `count` repeats; none if it is 0.
  void add(AnyOperator what, int count);
  // A GEMM, nothing if it has no rows; where activations are narrower than 16 bits, a kernel quantises its
  // input first, which `input` has written: 16 bits read, the narrow format written, with the scales of its groups or
  // one for each token. Inputs of weights with scales of groups are quantised in groups too.
  void add_gemm(std::int64_t rows, std::int64_t k, std::int64_t n, const Format& weights, const Format& activations,
                int count, Elementwise::Input input = Elementwise::Input::elsewhere);
  void add_elementwise(Elementwise::Kind kind, double bytes, int count);
  // Of all layers; and of a stage in the mean, if what was added is a rank's of all stages.
  [[nodiscard]] std::vector<Operator> take() { return std::move(operators_); }
  [[nodiscard]] std::vector<Operator> take_stage(const ParallelPlan& plan) {
    for (Operator& op : operators_) op.count /= plan.pipeline;
    return take();
  }

 private:
  static constexpr std::size_t kMostly = 16;  // as many as steps of models seldom exceed

  std::vector<Operator> operators_;
};

// What the kernel that quantises the inputs of a GEMM moves, in bytes; 0 where they stay at 16 bits.
double quantised_bytes(std::int64_t rows, std::int64_t k, const Format& activations);
// Format of hidden states between operators: 16 bits at least, even where the inputs of GEMMs are quantised
// to fewer. The router and the head, which quantised checkpoints leave alone, take them as they are.
Format hidden_format(const Precision& precision);
// Format of the inputs of a GEMM with these weights: no engine quantises those of 16-bit weights.
Format inputs_of(const Precision& precision, const Format& weights);

}  // namespace llmscape::models
