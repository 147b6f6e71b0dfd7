// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/decode_set.hpp"

namespace llmscape::serving {

DecodeSet::DecodeSet(const std::vector<std::int64_t>& laws, int block_tokens, const Speculation& speculation,
                     std::int64_t ring)
    : drafted_(laws, block_tokens, speculation, ring), speculation_(speculation) {
  if (!speculation_.may_be_late()) return;
  late_ = std::make_unique<DecodeCohort>(laws, block_tokens, Speculation(), ring);
  attended_.resize(laws.size());
}

void DecodeSet::join(Request& request) {
  request.sequence.allocated = request.sequence.entries();
  request.sequence.outgrew_drafts = false;
  const std::int64_t tokens = request.output_tokens - request.emitted;
  const Speculation::Passes passes =
      speculation_.passes(request.id, request.emitted, tokens, request.sequence.entries());
  request.sequence.drafts_late = passes.drafted == 0;
  if (request.sequence.drafts_late) join_late(request);
  else drafted_.join(request, passes.drafted, passes.tokens);
}

// Without drafts a pass is a token.
void DecodeSet::join_late(Request& request) {
  const std::int64_t tokens = request.output_tokens - request.emitted;
  request.sequence.drafts_late = true;
  late_->join(request, tokens, tokens);
}

std::span<const models::Attended> DecodeSet::attended(std::int64_t ahead) {
  if (late() == 0) return drafted_.attended(ahead);
  const auto late = late_->attended(ahead);
  if (drafted_.size() == 0) return late;
  const auto drafted = drafted_.attended(ahead);
  for (std::size_t law = 0; law < attended_.size(); ++law)
    attended_[law] = {drafted[law].sum + late[law].sum, std::max(drafted[law].max, late[law].max)};
  return attended_;
}

std::span<const models::Attended> DecodeSet::drafted(std::int64_t ahead) {
  if (late() == 0 || drafted_.size() == 0) return {};
  return drafted_.attended(ahead);
}

void DecodeSet::advance_evenly(std::int64_t steps) {
  const bool all_are_late = all_late();
  drafted_.advance_evenly(steps);
  if (late_) late_->advance_evenly(steps);
  last_growth_ = all_are_late ? late_->last_growth() : drafted_.last_growth();
}

void DecodeSet::advance(std::vector<Request*>& finished) {
  const bool all_were_late = all_late();
  if (!late_) {
    drafted_.advance(finished);
  } else {
    ended_.clear();
    drafted_.advance(ended_);
    late_->advance(finished);
    for (Request* request : ended_) {
      if (request->emitted == request->output_tokens) {
        finished.push_back(request);
      } else {
        request->sequence.outgrew_drafts = true;
        join_late(*request);
      }
    }
  }
  last_growth_ = all_were_late ? late_->last_growth() : drafted_.last_growth();
}

std::int64_t DecodeSet::unanswered(const Request& request, Seconds at, std::int64_t decode_steps) const {
  using State = Sequence::State;
  const Sequence& sequence = request.sequence;
  const std::int64_t chunks = request.emitted > 0 && request.latest_token > at ? 1 : 0;
  if (sequence.state != State::decoding && sequence.state != State::finishing) return chunks;
  const std::int64_t from = std::max(sequence.outgrew_drafts ? 0 : sequence.joined_step, step() - decode_steps);
  return chunks + std::max<std::int64_t>(0, std::min(sequence.end_step, step()) - from);
}

}  // namespace llmscape::serving
