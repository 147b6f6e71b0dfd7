// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/engine/engine_model.hpp"

namespace llmscape::engine {

// Where the drafts of speculative decoding come from, as what they add to the steps of the model that verifies them.
// Its steps compute 1 + k tokens of every decode (Batch::tokens_per_decode); drafts that are looked up in the prompt
// add nothing more.

// Heads or a last layer of the model's own (Medusa, EAGLE): `share` of the device's time and work of each step.
std::unique_ptr<EngineModel> with_draft_heads(std::unique_ptr<EngineModel> model, double share);

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
std::unique_ptr<EngineModel> with_draft_model(std::unique_ptr<EngineModel> model, std::unique_ptr<EngineModel> draft,
                                              ContextsOfDraft contexts);

// A device of each user's own drafts for one sequence, k steps, and sends the tokens; the answer comes back. Devices
// draft side by side and the pass waits for the longest context that is in time. They compute their prompts while the
// model does. Those whose drafts would be late (Batch::late) are not asked for any, and spend nothing.
struct DraftLink {
  Seconds latency;  // one way
  BytesPerSecond bandwidth;
  // Of k token ids one way and of what was accepted and the model's own token the other way.
  [[nodiscard]] Seconds round_trip(std::int64_t drafts) const;
};
// A pass waits `deadline` at most.
std::unique_ptr<EngineModel> with_draft_device(std::unique_ptr<EngineModel> model, std::unique_ptr<EngineModel> draft,
                                               ContextsOfDraft contexts, const DraftLink& link, Seconds deadline);

// Until k drafts of one sequence are there, `draft` being the cost of one of the device's steps.
Seconds draft_time(const EngineCost& draft, std::int64_t drafts, const DraftLink& link);

// The longest context, of at most `longest` tokens, whose k drafts are there within `deadline`: of the device's model
// with the KV laws `laws`, for which a longer context takes no less time. 0: not even those of an empty one.
std::int64_t longest_in_time(EngineModel& draft, const std::vector<std::int64_t>& laws, std::int64_t drafts,
                             const DraftLink& link, Seconds deadline, std::int64_t longest);

// How long a sequence that is alone with its model can wait for k drafts before they cost it more than they bring it:
// with them it answers `tokens_per_pass` tokens in the wait and a pass that verifies them, without in as many passes,
//   W = tokens_per_pass t(1) - t(1 + k),
// of a context of 1 + k tokens. Where verifying costs what a pass costs, that is the break-even of Leviathan et al.
// (arXiv 2211.17192, Theorem 3.8): k c = tokens_per_pass - 1, c being the time of a draft over that of a pass. `model`
// has `laws` KV laws, and a batch passes `stages` stages of it. Never below 0.
Seconds draft_break_even(EngineModel& model, std::size_t laws, std::int64_t drafts, double tokens_per_pass, int stages);

}  // namespace llmscape::engine
