// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/fit.hpp"
#include "hardware/gpu/chip.hpp"
#include "hardware/part_cost.hpp"
#include "models/operator.hpp"

namespace llmscape::hardware {

// A kernel that streams what it reads and writes from memory.
struct StateStream {
  Seconds launch;
  Seconds per_token;  // of a convolution over prompts: for each of the first 12 tokens, latency that is not hidden
  double memory_efficiency = 0;  // share of the memory bandwidth
};

// The scan of prompts. Delta rules: one thread block walks the chunks of a sequence's head one after another, so that a
// lone prompt takes as long with one head as with as many as there are multiprocessors, and more come in waves. Mamba 2
// works on all chunks at once: then `compute_efficiency` is above 0, and blocks and chunks cost nothing of their own.
struct StateScan {
  Seconds launch;
  Seconds block;  // state in and out
  Seconds chunk;  // of `chunk_tokens` tokens
  std::int64_t chunk_tokens = 64;
  double memory_efficiency = 0;  // of inputs, outputs and states; above 1 where most of them hide behind the chain
  double compute_efficiency = 0;
};

// The kernels that update recurrent states of one form. Projections, gates and norms are operators of their own.
struct StateKernels : Fit {
  StateStream update, convolution_update;  // of decodes
  StateScan scan;                          // of prompts
  StateStream convolution_scan;
};
const Fields<StateKernels>& state_kernels_fields();

// For GPUs whose kernels of this form were not timed: those of an H100, of Mamba 2 partly supposed.
const StateKernels& assumed_state_kernels(models::StateForm form);

// One layer, its states not in the L2: other layers' weights and states pass between two steps. Chunks of prompts are
// taken to be equally long, and to cost as much behind a state as fresh ones.
KernelCost state_cost(const Chip&, const StateKernels&, const models::StateUpdate&);

}  // namespace llmscape::hardware
