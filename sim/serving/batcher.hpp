// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "models/model.hpp"
#include "sim/serving/replica/engine_state.hpp"

namespace llmscape::serving {

// Chooses what the next step computes. One policy per file under batchers/.
class Batcher {
 public:
  virtual ~Batcher() = default;
  // Contract. Called when a step may be planned; decides through the actions of `state` and records them in `plan`
  // (given empty). For every policy: never exceeds its token budget, its sequence limit or the KV pool; serves equals
  // in order of arrival; never computes a token twice except after a preemption; plans nothing only when nothing could
  // be computed; deterministic. `plan.steady` may be set only where steps of all decodes would follow.
  // A step that is not one pass of all its work names its `plan.shape`, steady ones too.
  virtual void plan(EngineState& state, Seconds now, StepPlan& plan) = 0;
};

// A policy as configured, immutable; key `policy` of `batcher`.
struct BatcherPolicy {
  virtual ~BatcherPolicy() = default;
  [[nodiscard]] virtual std::unique_ptr<Batcher> make() const = 0;
  [[nodiscard]] virtual std::int64_t max_sequences() const = 0;
  // Most tokens of a step: sizes the activation memory.
  [[nodiscard]] virtual std::int64_t max_tokens() const = 0;
  // Steps that are planned before the one that runs has ended: 2 under asynchronous scheduling, else 1.
  [[nodiscard]] virtual int depth() const { return 1; }
  [[nodiscard]] virtual bool prefix_caching() const { return false; }
  // Why it cannot serve this model, one sentence each; empty: it can.
  [[nodiscard]] virtual std::vector<std::string> problems(const models::ModelSpec&) const { return {}; }
  // May compute a prompt in parts, in several steps.
  [[nodiscard]] virtual bool cuts_prompts() const { return false; }
  // Longest prompt with its answer that it can compute; nothing: no limit of its own.
  [[nodiscard]] virtual std::optional<std::int64_t> longest() const { return std::nullopt; }
  // Takes streaming prompts: passes over those that wait for their next version.
  [[nodiscard]] virtual bool streams_prompts() const { return false; }
  // May keep what a preempted request has computed in the memory of `kv_swap`.
  [[nodiscard]] virtual bool swaps() const { return false; }
  // The same for one of `ranks` data-parallel ranks, where the engine divides its limits among them; nothing where each
  // rank has them whole (vLLM's max_num_seqs, TensorRT-LLM's max_batch_size).
  [[nodiscard]] virtual std::shared_ptr<const BatcherPolicy> of_rank(std::int64_t /*ranks*/) const { return nullptr; }
  // Requests take KV blocks as they grow; false: they reserve their whole length when admitted.
  [[nodiscard]] virtual bool kv_grows() const { return true; }
};

// vllm_v1, vllm_v0, orca, trtllm, sglang, sarathi, layered, streaming, static.
const Family<BatcherPolicy>& batchers();

}  // namespace llmscape::serving
