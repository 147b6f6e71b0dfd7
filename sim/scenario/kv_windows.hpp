// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "models/model.hpp"
#include "models/parallel_plan.hpp"

namespace llmscape::scenario {

// How an engine divides KV memory between layers with a sliding window and layers without, in models that have both.
enum class KvWindows : std::uint8_t {
  ignored,  // every layer keeps every token
  // vLLM's hybrid manager: blocks of one pool; a sequence holds ceil((window - 1 + in flight) / block) + 1 blocks of a
  // layer with a window, or as many as it has tokens for (SlidingWindowSpec.max_memory_usage_bytes). Beside layers with
  // a recurrent state its blocks grow until a layer's entries in one take as much as a layer's state (544 tokens for
  // Qwen3-Next), which then has a block for itself
  pooled,
  // TensorRT-LLM: a pool for each window, by window x bytes per token, the longest sequence standing for "none"
  split,
  ratio  // SGLang: the pool of layers with a window has 0.8 tokens for each token of the other (swa_full_tokens_ratio)
};
inline constexpr double kWindowRatio = 0.8;

// What a sequence holds of layers with one window: at most `most` blocks, each `weight` blocks of the layers without.
// Recurrent states are one block whatever the length, as vLLM's hybrid manager allocates them.
struct WindowBlocks {
  std::int64_t most = 0;
  double weight = 0;
  bool operator==(const WindowBlocks&) const = default;
};

// KV memory of a replica as layers without a window see it.
struct WindowedKv {
  std::int64_t tokens = 0;            // of layers without a window; all layers where windows are ignored
  std::vector<WindowBlocks> windows;  // beside them, from the same blocks
  std::int64_t block_tokens = 0;      // of a block: more than asked for where it has to take a recurrent state
  // Of a token's bytes in all layers, what a block has room for: the layers without a window, whose blocks they are,
  // and where pools are apart, what the others hold beside them.
  double entry_share = 1;
  std::int64_t most_sequences = 0;  // for which the pools of layers with a window suffice; 0: no such limit
};
// Of a model with layers of both kinds, out of the memory that `tokens` tokens of all layers would take; else, and
// where windows are ignored, `tokens`. `in_flight`: tokens that a decoding sequence has under way.
WindowedKv windowed_kv(const models::ModelSpec& model, const models::ParallelPlan& plan, KvWindows windows,
                       double tokens, std::int64_t block_tokens, std::int64_t in_flight, std::int64_t longest);

}  // namespace llmscape::scenario
