// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/decode_set.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace llmscape::serving {

DecodeSet::DecodeSet(const std::vector<std::int64_t>& laws, int block_tokens)
    : block_tokens_(block_tokens), attended_(laws.size()), starts_block_(static_cast<std::size_t>(block_tokens), 0) {
  for (const std::int64_t law : laws) {
    if (law == 0) {
      full_ = true;
    } else {
      windows_.push_back({law});
    }
  }
}

void DecodeSet::join(Request& request) {
  ++work_;
  request.state = Request::State::decoding;
  request.joined_step = step_;
  if (spare_slots_.empty()) {
    spare_slots_.push_back(static_cast<std::int32_t>(slots_.size()));
    slots_.emplace_back();
  }
  request.slot = spare_slots_.back();
  spare_slots_.pop_back();
  slots_[static_cast<std::size_t>(request.slot)] = {&request, next_order_};
  const std::int64_t end = step_ + request.output_tokens - request.emitted;
  endings_.push({end, next_order_, request.slot});
  ends_sum_ += end;
  ++next_order_;

  const std::int64_t offset = request.computed - step_;
  ++offsets_[offset];
  offset_sum_ += offset;
  ++size_;
  // A block starts when the context before the step fills whole blocks: (offset + step) divides.
  ++starts_block_[static_cast<std::size_t>(((-offset % block_tokens_) + block_tokens_) % block_tokens_)];
  for (Window& w : windows_) {
    if (!inside(w, offset)) continue;
    ++w.inside;
    w.inside_sum += offset;
  }
}

void DecodeSet::remove(Request& request) {
  ++work_;
  const std::int64_t offset = request.computed - request.joined_step;
  const auto entry = offsets_.find(offset);
  if (--entry->second == 0) offsets_.erase(entry);
  offset_sum_ -= offset;
  ends_sum_ -= request.joined_step + request.output_tokens - request.emitted;
  --size_;
  --starts_block_[static_cast<std::size_t>(((-offset % block_tokens_) + block_tokens_) % block_tokens_)];
  for (Window& w : windows_) {
    if (!inside(w, offset)) continue;
    --w.inside;
    w.inside_sum -= offset;
  }
  slots_[static_cast<std::size_t>(request.slot)] = {};
  spare_slots_.push_back(request.slot);
  request.slot = -1;
  const std::int64_t steps = step_ - request.joined_step;
  request.computed += steps;
  request.emitted += steps;
}

void DecodeSet::leave(Request& request) { remove(request); }

std::span<const models::Attended> DecodeSet::attended(std::int64_t ahead) {
  const std::int64_t grown = step_ + ahead + 1;
  const std::int64_t longest = size_ > 0 ? offsets_.rbegin()->first + grown : 0;
  std::size_t law = 0;
  if (full_) attended_[law++] = {offset_sum_ + size_ * grown, longest};
  for (const Window& w : windows_) {
    const std::int64_t sum = w.inside_sum + w.inside * grown + (size_ - w.inside) * w.size;
    attended_[law++] = {sum, std::min(longest, w.size)};
  }
  return attended_;
}

std::int64_t DecodeSet::steps_to_finish() {
  while (!endings_.empty()) {
    const Ending& next = endings_.top();
    if (slots_[static_cast<std::size_t>(next.slot)].order == next.order) return next.step - step_;
    endings_.pop();
    ++work_;
  }
  return std::numeric_limits<std::int64_t>::max();
}

std::int64_t DecodeSet::steps_to_crossing() const {
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  for (const Window& w : windows_) {
    if (w.inside == 0) continue;
    // The longest context that is still inside crosses first.
    const auto beyond = offsets_.upper_bound(w.size - step_ - 1);
    steps = std::min(steps, w.size - step_ - 1 - std::prev(beyond)->first);
  }
  return steps;
}

void DecodeSet::advance(std::vector<Request*>& finished) {
  for (Window& w : windows_) {  // those whose context reaches the window with this step stay at it from now on
    const auto crossing = offsets_.find(w.size - step_ - 1);
    if (crossing == offsets_.end()) continue;
    ++work_;
    w.inside -= crossing->second;
    w.inside_sum -= crossing->second * crossing->first;
  }
  ++step_;
  while (steps_to_finish() == 0) {
    Request& request = *slots_[static_cast<std::size_t>(endings_.top().slot)].request;
    endings_.pop();
    remove(request);
    request.state = Request::State::finishing;
    finished.push_back(&request);
  }
}

}  // namespace llmscape::serving
