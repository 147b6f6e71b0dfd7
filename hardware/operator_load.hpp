// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/device.hpp"
#include "models/operator.hpp"

namespace llmscape::hardware {

// What an operator computes and moves, whatever device it runs on.
struct OperatorLoad {
  OperatorFamily family = OperatorFamily::elementwise;
  double flops = 0;
  double bytes = 0;                     // of memory; a collective's stay out of it
  models::Format weights, activations;  // of the operands that are multiplied
};
OperatorLoad load_of(const models::AnyOperator& op);
// Of a rank on average, where the operator is that of the fullest of ranks that differ.
OperatorLoad average_load_of(const models::AnyOperator& op);

// Of a chunk under this operator: pairs that are scored to find what is attended to or kept (models::estimated_pairs),
// and keys that are read.
double estimated_pairs(const models::PrefillAttention&, const models::PrefillChunk&);
double keys_read(const models::PrefillAttention&, const models::PrefillChunk&);

}  // namespace llmscape::hardware
