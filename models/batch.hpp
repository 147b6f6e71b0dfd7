// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

namespace llmscape::models {

// One prompt's part of a step.
struct PrefillChunk {
  std::int64_t tokens = 0;   // new tokens computed
  std::int64_t cached = 0;   // tokens already in the KV cache
  bool ends_prompt = false;  // yields a token at the end of the step
  bool operator==(const PrefillChunk&) const = default;
};

// Sum and maximum of the entries that the decodes of a step attend to, under one KV law (full, or a window).
struct Attended {
  std::int64_t sum = 0;
  std::int64_t max = 0;
  bool operator==(const Attended&) const = default;
};

// Tokens of one step over all data-parallel ranks, which step together: what the experts of a mixture see.
struct RankTokens {
  std::int64_t chunks = 0;   // of prompts
  std::int64_t decodes = 0;  // of decodes; both 0: every rank computes as many as this one
  std::int64_t most = 0;     // of one rank
  double unrelated = 0;      // of `chunks`, as models::expert_share takes it
  [[nodiscard]] bool alike() const { return most == 0; }
  bool operator==(const RankTokens&) const = default;
};

// What one step computes, as aggregates that are kept up to date in O(1) per step. Spans point into the owner's
// storage.
struct Batch {
  std::span<const PrefillChunk> chunks;
  std::int64_t decodes = 0;  // sequences that compute one token (or 1 + k with speculation) each
  std::int64_t tokens_per_decode = 1;
  // decode contexts, new token included, in the order of kv_laws(model): [0] full, then each distinct window.
  std::span<const Attended> attended;
  // Share of the model's layers that the chunks pass in this step, above 0 to 1; decodes pass all (layered prefill).
  double prefill_layers = 1;
  // Tokens without a sequence that a captured graph computes beside the decodes: all but attention and logits work on
  // them. Devices whose kernels are not captured leave them out.
  std::int64_t padding = 0;
  std::int64_t adapters = 0;  // distinct low-rank adapters that the step's tokens pass through; 0: none does
  RankTokens ranks{};         // with data-parallel attention
  // With speculation: of the decodes, those that go without drafts and compute one token each. Attention prices them
  // like the others, whose rows its tiles are made for.
  std::int64_t late = 0;
  // What the decodes with drafts attend to, as `attended`; empty where no decode is late, or all are. For what makes
  // the drafts (sim/engine/draft.hpp), nothing else reads it.
  std::span<const Attended> drafted{};

  [[nodiscard]] std::int64_t prefill_tokens() const {
    std::int64_t sum = 0;
    for (const auto& c : chunks) sum += c.tokens;
    return sum;
  }
  [[nodiscard]] std::int64_t decode_tokens() const {
    return decodes * tokens_per_decode - late * (tokens_per_decode - 1);
  }
  [[nodiscard]] std::int64_t tokens() const { return prefill_tokens() + decode_tokens(); }
  // Prompts whose last token is computed in this step.
  [[nodiscard]] std::int64_t prompt_ends() const {
    std::int64_t ends = 0;
    for (const auto& c : chunks) ends += c.ends_prompt ? 1 : 0;
    return ends;
  }
  [[nodiscard]] std::int64_t logit_rows() const { return decode_tokens() + prompt_ends(); }
};

}  // namespace llmscape::models
