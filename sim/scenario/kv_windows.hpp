// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/model.hpp"
#include "models/parallel_plan.hpp"

namespace llmscape::scenario {

// How an engine divides KV memory between layers with a sliding window and layers without, in models that have both.
enum class KvWindows : std::uint8_t {
  ignored,  // every layer keeps every token
  // vLLM's hybrid manager: blocks of one pool; a sequence holds ceil((window - 1 + in flight) / block) + 1 blocks of a
  // layer with a window, or as many as it has tokens for (SlidingWindowSpec.max_memory_usage_bytes). Layers are taken
  // in groups of as many as there are of the rarer kind, the last one padded (kv_cache_utils.py,
  // _get_kv_cache_groups_uniform_page_size, from memory). Beside layers with
  // a recurrent state its blocks grow until a layer's entries in one take as much as a layer's state (544 tokens for
  // Qwen3-Next), which then has a block for itself
  pooled,
  // TensorRT-LLM: a pool for each window, by window x bytes per token, the longest sequence standing for "none"
  split,
  ratio  // SGLang: the pool of layers with a window has 0.8 tokens for each token of the other (swa_full_tokens_ratio)
};
inline constexpr double kWindowRatio = 0.8;
inline constexpr std::array<std::string_view, 4> kKvWindowsNames = {"ignored", "pooled", "split", "ratio"};
constexpr std::string_view name_of(KvWindows windows) { return kKvWindowsNames[static_cast<std::size_t>(windows)]; }

// What a sequence holds of layers with one window: at most `most` blocks, each `weight` blocks of the layers without.
// Recurrent states are one block whatever the length, as vLLM's hybrid manager allocates them, and one more for each
// draft token, from which a rejected one is taken back.
struct WindowBlocks {
  std::int64_t most = 0;
  double weight = 0;
  bool operator==(const WindowBlocks&) const = default;
};

// A pool of its own for the layers with one window.
struct OwnWindowPool {
  std::int64_t window = 0, tokens = 0;
  bool operator==(const OwnWindowPool&) const = default;
};

// KV memory of a replica as layers without a window see it.
struct WindowedKv {
  std::int64_t tokens = 0;            // of layers without a window; all layers where windows are ignored
  std::vector<WindowBlocks> windows;  // beside them, from the same blocks
  std::int64_t block_tokens = 0;      // of a block: more than asked for where it has to take a recurrent state
  // Of a token's bytes in all layers, what a block has room for: the layers without a window, whose blocks they are,
  // and where pools are apart, what the others hold beside them. Of the model, and of the draft model.
  double entry_share = 1, draft_share = 1;
  std::vector<OwnWindowPool> pools;  // beside it, of layers with a window
};

// What a replica has for KV entries, and how it uses them.
struct KvRoom {
  double tokens = 0;  // of all layers, and of the draft model's
  std::int64_t block_tokens = 16;
  std::int64_t longest = 0;                  // sequence
  std::int64_t steps = 1;                    // in flight
  std::int64_t drafts = 0;                   // tokens beside the one that a step answers
  const models::ModelSpec* draft = nullptr;  // whose layers keep entries beside the model's
};
// Of a model with layers of both kinds, out of that memory; else, and where windows are ignored, its tokens. A draft
// model's layers lie in the model's pools, those with a window in one of that window; they are not padded.
WindowedKv windowed_kv(const models::ModelSpec& model, const models::ParallelPlan& plan, KvWindows windows,
                       const KvRoom& room);

}  // namespace llmscape::scenario
