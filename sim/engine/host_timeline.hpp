// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "hardware/host.hpp"
#include "models/batch.hpp"
#include "models/execution.hpp"

namespace llmscape::engine {

// What of a step runs as captured graphs: nothing (each operator is launched from Python); the pieces of each layer
// between its attentions, whatever the step holds; steps of decodes alone as one graph, others not at all (vLLM's
// FULL_DECODE_ONLY); decodes as one graph and other steps in pieces.
enum class CudaGraphs : std::uint8_t { none, piecewise, full, full_and_piecewise };

struct Graphs {
  CudaGraphs mode = CudaGraphs::full_and_piecewise;  // decode batches are then padded to captured sizes
  std::int64_t max_captured = 512;                   // tokens of the largest captured step
};

// Tokens that the linears of a decode-only batch compute: the next captured size (1, 2, 4, multiples of 8 to 256, of 16
// to 512), or the batch itself where none is captured.
std::int64_t padded_tokens(std::int64_t tokens, const Graphs&);

// Operators that a step launches on one rank of a stage, as vLLM's layers do (vllm/model_executor): each of
// models::step_work once, residual sums inside RMS norms but not beside layer norms, and the writing of keys and values
// beside each attention. 10 for a dense layer of Llama, 2 more with tensor parallelism; a routed feed-forward has 7
// (router, top-k, alignment, two grouped GEMMs, activation, sum) for the 3 of a dense one. Eager attention launches
// five for one (two GEMMs, scaling, mask, softmax), a concatenated cache joins keys and values each instead of writing
// both.
struct Launches {
  double kernels = 0;
  double attention = 0;  // of them: attention and cache writes, which stay outside the pieces of graphs
  double pieces = 0;     // between the attentions
};
Launches launches_of(const models::ModelSpec&, const models::ParallelPlan&, const models::Execution& = {});

// What the host does before a step begins: t = per_step + per_request x requests (cost-model 3.7).
Seconds host_time(const hardware::HostParameters&, const models::Batch&);
// What it then launches, one after the other, while the device works:
//   one graph        graph_launch                                  decodes alone, captured, modes full*
//   pieces           pieces x graph_launch + attention x per_kernel  up to the largest captured size, modes *piecewise
//   compiled         the same with (kernels - attention) x per_compiled_kernel   beyond it, modes *piecewise
//   one by one       kernels x per_kernel                          all else
Seconds launch_time(const hardware::HostParameters&, const Graphs&, const models::Batch&, const Launches&);

// What the device waits for the host in the step (t_sync of the two timelines, cost-model 3.7).
Seconds sync_time(const hardware::HostParameters&, const models::Batch&);

}  // namespace llmscape::engine
