// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "hardware/device.hpp"

namespace llmscape::hardware {

// Where the drafts of speculative decoding come from, as what they add to the steps of the model that verifies them.
// Its steps compute 1 + k tokens of every decode (Batch::tokens_per_decode); drafts that are looked up in the prompt
// add nothing more.

// Heads or a last layer of the model's own (Medusa, EAGLE): `share` of the device's time and work of each step.
std::unique_ptr<StepModel> with_draft_heads(std::unique_ptr<StepModel> model, double share);

// Tokens that a sequence has in the KV cache of one model, told for another: laws as of models::kv_laws.
class ContextsOfDraft {
 public:
  // The laws of the model that verifies, and of the one that drafts.
  ContextsOfDraft(std::vector<std::int64_t> model_laws, std::vector<std::int64_t> draft_laws);
  // Whether each law of the draft model is one of the other, or follows from its full contexts.
  [[nodiscard]] bool known() const;
  // A window that the model does not have holds at most all, and at most itself of each.
  [[nodiscard]] std::vector<models::Attended> of(const models::Batch& batch) const;

 private:
  std::vector<std::int64_t> model_laws_, draft_laws_;
};

// A smaller model on the same devices: k steps of its own before each verification, t = k t_draft(D) + t_model(D (1 +
// k)) (cost-model 2.7), the first of which computes the prompts of the step too. Its contexts are those of the
// verification.
std::unique_ptr<StepModel> with_draft_model(std::unique_ptr<StepModel> model, std::unique_ptr<StepModel> draft,
                                            ContextsOfDraft contexts);

// A device of each user's own drafts for one sequence, k steps, and sends the tokens; the answer comes back. Devices
// draft side by side and the pass waits for the longest context. They compute their prompts while the model does.
struct DraftLink {
  Seconds latency;  // one way
  BytesPerSecond bandwidth;
  // Of k token ids one way and of what was accepted and the model's own token the other way.
  [[nodiscard]] Seconds round_trip(std::int64_t drafts) const;
};
std::unique_ptr<StepModel> with_draft_device(std::unique_ptr<StepModel> model, std::unique_ptr<StepModel> draft,
                                             ContextsOfDraft contexts, const DraftLink& link);

}  // namespace llmscape::hardware
