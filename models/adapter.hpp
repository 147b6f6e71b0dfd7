// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "base/quantity.hpp"
#include "models/operator.hpp"
#include "models/parallel_plan.hpp"

namespace llmscape::models {

// A low-rank adapter (LoRA, arXiv 2106.09685): to the product x W of each target it adds (x A) B, A being in x rank and
// B rank x out. Stored in the format of hidden states. Matrices that are cut over tensor ranks are cut as vLLM does it
// by default: B of q, k, v, gate and up, A of o and down; the other half of each pair is whole on every rank, and the
// sums of the layer's own all-reduce hold the adapter's share.
struct Adapter {
  int rank = 0;                      // 0: none
  std::vector<std::string> targets;  // q, with the gate of the output that it gives; k, v, o; mlp: gate, up and down
};

template <class T>
void add_adapter_fields(Fields<T>& fields) {
  fields.add("rank", &T::rank, "width between the two matrices of a target").required().between(1, 1024);
  fields.add("targets", &T::targets, "projections that are adapted").one_of({"q", "k", "v", "o", "mlp"}).required();
}

// Why the model cannot be adapted like that, one sentence each: nothing is to be adapted, latent attention has no q, k,
// v, and adapters of routed experts are not priced.
std::vector<std::string> problems(const Adapter&, const ModelSpec&);

// Of the whole adapter: rank (in + out), summed over the targets of all layers.
std::int64_t parameters(const Adapter&, const ModelSpec&);
// What the fullest rank holds of one adapter.
Bytes adapter_bytes(const Adapter&, const ModelSpec&, const ParallelPlan&);

// What `adapters` distinct adapters add to the work of `tokens` tokens on one rank of one stage: for each group of
// targets with one input a thin GEMM down to the rank and one up to the outputs. Every token passes through one of
// the adapters.
std::vector<Operator> adapter_work(const Adapter&, const ModelSpec&, const ParallelPlan&, std::int64_t tokens,
                                   std::int64_t adapters);

}  // namespace llmscape::models
