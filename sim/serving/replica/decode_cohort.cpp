// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/decode_cohort.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace llmscape::serving {

DecodeCohort::DecodeCohort(const std::vector<std::int64_t>& laws, int block_tokens, const Speculation& speculation,
                           std::int64_t ring)
    : block_tokens_(block_tokens), speculation_(speculation), attended_(laws.size()),
      starts_block_(static_cast<std::size_t>(block_tokens), 0) {
  if (ring > 0) ring_ = (ring + block_tokens_ - 1) / block_tokens_ * block_tokens_;
  for (const std::int64_t law : laws) {
    if (law == 0) {
      full_ = true;
    } else {
      windows_.push_back({law});
    }
  }
}

void DecodeCohort::join(Request& request, std::int64_t passes, std::int64_t tokens) {
  ++work_;
  request.sequence.state = Sequence::State::decoding;
  request.sequence.joined_step = step_;
  if (spare_slots_.empty()) {
    spare_slots_.push_back(static_cast<std::int32_t>(slots_.size()));
    slots_.emplace_back();
  }
  request.sequence.slot = spare_slots_.back();
  spare_slots_.pop_back();
  slots_[static_cast<std::size_t>(request.sequence.slot)] = {&request, next_order_};
  request.sequence.end_step = step_ + passes;
  request.sequence.to_answer = tokens;
  endings_.push({request.sequence.end_step, next_order_, request.sequence.slot});
  if (first_end_) first_end_ = std::min(*first_end_, request.sequence.end_step);
  ends_sum_ += grown_ + request.output_tokens - request.emitted;
  ++next_order_;

  const std::int64_t offset = request.sequence.entries() - grown_;
  ++offsets_[offset];
  offset_sum_ += offset;
  longest_ = size_ > 0 ? std::max(longest_, offset) : offset;
  ++size_;
  if (below_ring(offset)) ++starts_block_[phase(offset)];
  blocks_needed_ +=
      blocks_for(request.sequence.entries() + tokens_per_decode()) - blocks_for(request.sequence.allocated);
  for (Window& w : windows_) {
    if (!inside(w, offset)) continue;
    ++w.inside;
    w.inside_sum += offset;
  }
}

void DecodeCohort::remove(Request& request) {
  ++work_;
  const std::int64_t steps = step_ - request.sequence.joined_step;
  const std::int64_t tokens = answered(request);
  const std::int64_t joined_at = speculation_.growth(request.sequence.joined_step);
  const std::int64_t offset = request.sequence.entries() - joined_at;
  const auto entry = offsets_.find(offset);
  if (--entry->second == 0) offsets_.erase(entry);
  if (!offsets_.empty()) longest_ = offsets_.rbegin()->first;
  offset_sum_ -= offset;
  ends_sum_ -= joined_at + request.output_tokens - request.emitted;
  --size_;
  if (below_ring(offset)) --starts_block_[phase(offset)];
  if (steps > 0)
    request.sequence.allocated = std::min(offset + grown_before_ + tokens_per_decode(), ring_.value_or(kNoRing));
  blocks_needed_ -= blocks_for(offset + grown_ + tokens_per_decode()) - blocks_for(request.sequence.allocated);
  for (Window& w : windows_) {
    if (!inside(w, offset)) continue;
    --w.inside;
    w.inside_sum -= offset;
  }
  if (request.sequence.end_step == first_end_) first_end_.reset();
  slots_[static_cast<std::size_t>(request.sequence.slot)] = {};
  spare_slots_.push_back(request.sequence.slot);
  request.sequence.slot = -1;
  request.sequence.computed += tokens;
  request.emitted += tokens;
  accepted_ += tokens - steps;
}

void DecodeCohort::leave(Request& request) { remove(request); }

std::int64_t DecodeCohort::answered(const Request& request) const {
  const std::int64_t steps = step_ - request.sequence.joined_step, steps_left = request.sequence.end_step - step_;
  const std::int64_t tokens = request.sequence.to_answer;
  const std::int64_t least = std::max(steps, tokens - steps_left * tokens_per_decode());
  const std::int64_t most = std::min(steps * tokens_per_decode(), tokens - steps_left);
  return std::clamp(grown_ - speculation_.growth(request.sequence.joined_step), least, most);
}

// A step takes blocks for all that it computes: a block starts when what was there before, with the drafts, fills
// blocks.
std::size_t DecodeCohort::phase(std::int64_t offset) const {
  const std::int64_t past = (offset + speculation_.drafts) % block_tokens_;
  return static_cast<std::size_t>((block_tokens_ - past) % block_tokens_);
}

std::int64_t DecodeCohort::blocks_started(std::int64_t from, std::int64_t to) const {
  std::int64_t blocks = 0;
  for (std::int64_t grown = from + 1; grown <= to; ++grown)
    blocks += starts_block_[static_cast<std::size_t>(grown % block_tokens_)];
  return blocks;
}

std::span<const models::Attended> DecodeCohort::attended(std::int64_t ahead) {
  const std::int64_t grown = grown_by(ahead) + tokens_per_decode();
  const std::int64_t longest = size_ > 0 ? longest_ + grown : 0;
  std::size_t law = 0;
  if (full_) attended_[law++] = {offset_sum_ + size_ * grown, longest};
  for (const Window& w : windows_) {
    const std::int64_t sum = w.inside_sum + w.inside * grown + (size_ - w.inside) * w.size;
    attended_[law++] = {sum, std::min(longest, w.size)};
  }
  return {attended_.data(), attended_.size()};
}

std::int64_t DecodeCohort::find_first_end() {
  while (!endings_.empty()) {
    const Ending& next = endings_.top();
    if (slots_[static_cast<std::size_t>(next.slot)].order == next.order) return next.step;
    endings_.pop();
    ++work_;
  }
  return std::numeric_limits<std::int64_t>::max();
}

std::int64_t DecodeCohort::steps_to_crossing() const {
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  for (const Window& w : windows_) {
    if (w.inside == 0) continue;
    // The longest context that is still inside crosses first.
    const std::int64_t furthest = furthest_inside(w.size);
    const std::int64_t left = furthest - std::prev(offsets_.upper_bound(furthest))->first;
    steps = std::min(steps, left / tokens_per_decode());  // no step adds more
  }
  if (ring_) {
    const auto beyond = offsets_.upper_bound(furthest_inside(*ring_));
    if (beyond != offsets_.begin())
      steps = std::min(steps, (furthest_inside(*ring_) - std::prev(beyond)->first) / tokens_per_decode());
  }
  return steps;
}

void DecodeCohort::add_attended(std::int64_t steps, std::span<std::int64_t> attended) const {
  std::int64_t grown = 0;  // of a context, summed over the steps
  for (std::int64_t ahead = 0; ahead < steps; ++ahead) grown += grown_by(ahead) + tokens_per_decode();
  std::size_t law = 0;
  if (full_) attended[law++] += steps * offset_sum_ + size_ * grown;
  for (const Window& w : windows_)
    attended[law++] += steps * (w.inside_sum + (size_ - w.inside) * w.size) + w.inside * grown;
}

void DecodeCohort::advance_evenly(std::int64_t steps) {
  grown_before_ = grown_by(steps - 1);
  grown_ = grown_by(steps);
  step_ += steps;
  blocks_needed_ = blocks_started(grown_before_, grown_);
}

void DecodeCohort::advance(std::vector<Request*>& finished) {
  const std::int64_t growth = grown_by(1) - grown_;
  for (Window& w : windows_) {  // those whose context reaches the window with this step stay at it from now on
    const std::int64_t furthest = furthest_inside(w.size);
    const auto end = offsets_.upper_bound(furthest);
    for (auto crossing = offsets_.upper_bound(furthest - growth); crossing != end; ++crossing) {
      ++work_;
      w.inside -= crossing->second;
      w.inside_sum -= crossing->second * crossing->first;
    }
  }
  if (ring_) {
    const auto end = offsets_.upper_bound(furthest_inside(*ring_));
    for (auto full = offsets_.upper_bound(furthest_inside(*ring_) - growth); full != end; ++full) {
      ++work_;
      starts_block_[phase(full->first)] -= static_cast<std::int32_t>(full->second);
    }
  }
  ++step_;
  grown_before_ = grown_;
  grown_ += growth;
  while (steps_to_finish() == 0) {
    Request& request = *slots_[static_cast<std::size_t>(endings_.top().slot)].request;
    endings_.pop();
    remove(request);
    request.sequence.state = Sequence::State::finishing;
    finished.push_back(&request);
  }
  blocks_needed_ = blocks_started(grown_before_, grown_);
}

}  // namespace llmscape::serving
