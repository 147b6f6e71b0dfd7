// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "models/batch.hpp"
#include "sim/serving/kv/kv_store.hpp"
#include "sim/serving/replica/per_law.hpp"
#include "sim/serving/replica/step_shape.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

// One prompt's part of a planned step.
struct PlannedChunk {
  Request* request = nullptr;
  models::PrefillChunk work;
  bool begins = false;      // nothing of the prompt was computed before
  bool unfinished = false;  // is part of the work on its tokens: nothing of it is in the KV cache after this step
};

// What a batcher decided for one step.
struct StepPlan {
  std::vector<PlannedChunk> chunks;
  std::vector<Request*> finished;  // sequences that answer their last token with this step
  // How the work is split over passes of the device; nullptr: it passes once, together. The batcher's own: there until
  // it plans again.
  const StepShape* shape = nullptr;
  std::int64_t decodes = 0;  // sequences that compute a token and `drafts` drafts each ...
  std::int64_t drafts = 0;
  std::int64_t late = 0;  // ... but for these of them, whose drafts were late: a token
  // What the decodes attended to (one entry per KV law), copied when the step was planned.
  PerLaw<models::Attended> attended;
  std::vector<models::Attended> drafted;  // those with drafts, as DecodeSet::drafted()
  // Padding that computes but answers nothing (static batches): added to the decodes' work.
  std::int64_t idle_decodes = 0;
  KvStepCopies copies;  // of KV entries that the devices do not hold: once the plan is priced
  // Those after it would be of all decodes and nothing else, and planned alike, until a request comes, ends or lacks a
  // block.
  bool steady = false;

  [[nodiscard]] bool empty() const { return chunks.empty() && decodes == 0; }
  // Of prompts that have more chunks, and of nothing else: no later step needs a token of it.
  [[nodiscard]] bool goes_on() const;
  // Tokens of prompts that are in the KV cache after this step.
  [[nodiscard]] std::int64_t prefill_tokens() const {
    std::int64_t tokens = 0;
    for (const PlannedChunk& chunk : chunks) tokens += chunk.unfinished ? 0 : chunk.work.tokens;
    return tokens;
  }
  // Tokens that the decodes compute, padding aside.
  [[nodiscard]] std::int64_t decode_tokens() const { return decodes + (decodes - late) * drafts; }
  void clear();
};

}  // namespace llmscape::serving
