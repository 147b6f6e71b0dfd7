// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/host_timeline.hpp"

#include "models/step_work.hpp"

#include <algorithm>
#include <vector>

namespace llmscape::engine {
namespace {

// Launches of an index beside its projections, norms and rotation: its own kernels, and what prepares and orders keys
// and entries. Modules of prompts that were timed outside graphs take 1.2 to 1.4 ms however small they are (16-bit
// projections, vLLM 0.24 on H100 and H200, GLM-5 and DeepSeek-V3.2; ai-dynamo/aiconfigurator @ 095f58a): 59 launches of
// the 22 us that one takes there, of which 14 are other operators'.
constexpr int kOfIndex = 45;

// The next of the sizes that engines capture, were there no largest.
std::int64_t next_size(std::int64_t tokens) {
  if (tokens <= 2) return tokens;
  if (tokens <= 4) return 4;
  const std::int64_t step = tokens <= 256 ? 8 : 16;
  return (tokens + step - 1) / step * step;
}

bool captured(std::int64_t tokens, const Graphs& graphs) {
  return graphs.mode != CudaGraphs::none && next_size(tokens) <= graphs.max_captured;
}

}  // namespace

std::int64_t padded_tokens(std::int64_t tokens, const Graphs& graphs) {
  return captured(tokens, graphs) ? next_size(tokens) : tokens;
}

Launches launches_of(const models::ModelSpec& model, const models::ParallelPlan& plan,
                     const models::Execution& execution) {
  const std::vector<models::Attended> attended(models::kv_laws(model).size(), {1, 1});
  models::Batch one;
  one.decodes = 1;
  one.attended = attended;
  const bool sums_apart = std::ranges::any_of(model.groups, &models::LayerGroup::norm_bias);
  const int of_attention = execution.attention == models::AttentionForm::eager ? 5 : 1;
  const int of_entries = execution.kv_cache == models::KvCacheForm::concatenated ? 2 : 1;
  Launches all;
  for (const models::Operator& op : models::step_work(model, plan, one, {})) {
    const auto* moved = std::get_if<models::Elementwise>(&op.what);
    if (moved && moved->kind == models::Elementwise::Kind::add && !sums_apart) continue;
    if (std::holds_alternative<models::IndexScores>(op.what)) {
      all.kernels += kOfIndex * op.count;
      all.attention += kOfIndex * op.count;
      continue;
    }
    all.kernels += op.count;
    if (!std::holds_alternative<models::DecodeAttention>(op.what)) continue;
    all.kernels += (of_attention + of_entries - 1) * op.count;
    all.attention += (of_attention + of_entries) * op.count;
    all.pieces += op.count;
  }
  ++all.pieces;
  return all;
}

Seconds host_time(const hardware::HostParameters& p, const models::Batch& batch) {
  const auto requests = static_cast<double>(batch.decodes) + static_cast<double>(batch.chunks.size());
  return p.per_step + requests * p.per_request;
}

Seconds launch_time(const hardware::HostParameters& p, const Graphs& graphs, const models::Batch& batch,
                    const Launches& launches) {
  const CudaGraphs mode = graphs.mode;
  const bool fits = captured(batch.tokens(), graphs);
  const bool whole = mode == CudaGraphs::full || mode == CudaGraphs::full_and_piecewise;
  if (whole && fits && batch.chunks.empty()) return p.graph_launch;
  if (mode == CudaGraphs::none || mode == CudaGraphs::full) return launches.kernels * p.per_kernel;
  const Seconds pieces =
      fits ? launches.pieces * p.graph_launch : (launches.kernels - launches.attention) * p.per_compiled_kernel;
  return pieces + launches.attention * p.per_kernel;
}

Seconds sync_time(const hardware::HostParameters& p, const models::Batch& batch) {
  return batch.chunks.empty() ? Seconds() : p.per_prefill_step;
}

}  // namespace llmscape::engine
