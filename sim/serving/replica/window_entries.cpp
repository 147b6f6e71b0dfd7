// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/window_entries.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace llmscape::serving {

WindowEntries::WindowEntries(std::vector<WindowLayers> layers, std::vector<WindowPool> pools, int block_tokens,
                             bool grows, bool shared)
    : layers_(std::move(layers)), pools_(std::move(pools)), held_in_pools_(pools_.size()), block_tokens_(block_tokens),
      grows_(grows), shared_(shared) {}

// What a sequence that grows from `from` to `to` holds in the mean where it never holds more than `most`; all of it at
// once where sequences do not grow. Engines take these entries one by one, as they take the others: many sequences that
// run beside each other, each somewhere in its answer, hold so much of them.
double WindowEntries::held(double from, double to, double most) const {
  if (!grows_ || to <= from || from >= most) return std::min(to, most);
  const double end = std::min(to, most);  // of its growth
  return ((end - from) * (from + end) / 2 + (to - end) * most) / (to - from);
}

// `before`: of the window before the hit, what its own entries leave of it. Together never more than one takes that
// computes the whole prompt once and alone, so that whoever can be served (Replica::servable) can also begin behind a
// prefix, or again.
std::int64_t WindowEntries::own_blocks(const Request& request, std::int64_t hit, double& before) const {
  const auto in_blocks = [this](std::int64_t tokens) { return (tokens + block_tokens_ - 1) / block_tokens_; };
  if (!shared_) hit = 0;
  const auto from = static_cast<double>(in_blocks(request.tokens_to_compute()) - hit);
  const auto prompt = static_cast<double>(in_blocks(request.prompt_tokens));
  const auto end = static_cast<double>(in_blocks(request.prompt_tokens + request.answer_here()));
  double own = 0, alone = 0;
  before = 0;
  for (const WindowLayers& layers : layers_) {
    const auto most = static_cast<double>(layers.most);
    const double here = held(from, end - static_cast<double>(hit), most);
    own += layers.weight * here;
    alone += layers.weight * held(prompt, end, most);
    before += layers.weight * std::min(static_cast<double>(hit), most - here);
  }
  const double most = std::ceil(alone), taken = std::min(most, std::ceil(own));
  before = std::min(before, most - taken);
  return static_cast<std::int64_t>(taken);
}

std::int64_t WindowEntries::blocks_behind(const Request& request, std::int64_t hit, bool known) const {
  double before = 0;
  const std::int64_t own = own_blocks(request, hit, before);
  return known ? own : own + static_cast<std::int64_t>(std::ceil(before));
}

std::int64_t WindowEntries::tokens_of(std::size_t pool, std::int64_t from, std::int64_t to) const {
  const auto window = static_cast<double>(pools_[pool].window);
  return static_cast<std::int64_t>(std::ceil(held(static_cast<double>(from), static_cast<double>(to), window)));
}

bool WindowEntries::pools_fit(const Request& request, const PrefixTree::Match& hit) const {
  const std::int64_t behind = shared_ ? hit.blocks * block_tokens_ : 0;
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    std::int64_t more =
        tokens_of(i, request.tokens_to_compute() - behind, request.prompt_tokens + request.answer_here() - behind);
    if (!known(hit.tip)) more += std::min(behind, pools_[i].window - more);
    if (held_in_pools_[i] > 0 && held_in_pools_[i] + more > pools_[i].tokens) return false;
  }
  return true;
}

void WindowEntries::charge(const Sequence& sequence, std::int64_t sign) {
  for (std::size_t i = 0; i < pools_.size(); ++i)
    held_in_pools_[i] += sign * tokens_of(i, sequence.window_from, sequence.window_to);
}

// A later version of its prompt changes none of it: what is given back is what was taken.
std::int64_t WindowEntries::take(Request& request, std::int64_t hit_blocks, PrefixNode* tip) {
  if (layers_.empty() && pools_.empty()) return 0;
  Sequence& sequence = request.sequence;
  if (!shared_) hit_blocks = 0;
  double before = 0;
  std::int64_t taken = 0;
  if (!layers_.empty()) taken = sequence.window_blocks = own_blocks(request, hit_blocks, before);
  if (!pools_.empty()) {
    const std::int64_t behind = hit_blocks * block_tokens_;
    sequence.window_from = static_cast<std::int32_t>(request.tokens_to_compute() - behind);
    sequence.window_to = static_cast<std::int32_t>(request.prompt_tokens + request.answer_here() - behind);
    charge(sequence, 1);
  }
  if (hit_blocks == 0) return taken;
  sequence.window_behind = tip;
  ++tip->begun;
  Shared& shared = shares_[tip];
  if (shared.sequences++ > 0) return taken;
  shared.blocks = static_cast<std::int64_t>(std::ceil(before));
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    const std::int64_t own = tokens_of(i, sequence.window_from, sequence.window_to);
    shared.tokens.push_back(std::min(hit_blocks * block_tokens_, pools_[i].window - own));
    held_in_pools_[i] += shared.tokens.back();
  }
  return taken + shared.blocks;
}

std::int64_t WindowEntries::give_back(Sequence& sequence) {
  std::int64_t free = std::exchange(sequence.window_blocks, 0);
  if (sequence.window_to != 0) charge(sequence, -1);
  sequence.window_from = sequence.window_to = 0;
  if (PrefixNode* tip = std::exchange(sequence.window_behind, nullptr)) {
    --tip->begun;
    const auto shared = shares_.find(tip);
    if (--shared->second.sequences == 0) {
      free += shared->second.blocks;
      for (std::size_t i = 0; i < pools_.size(); ++i) held_in_pools_[i] -= shared->second.tokens[i];
      shares_.erase(shared);
    }
  }
  return free;
}

}  // namespace llmscape::serving
