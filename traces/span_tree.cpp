// SPDX-License-Identifier: Apache-2.0
#include "traces/span_tree.hpp"

#include <algorithm>

#include "base/hash.hpp"

namespace llmscape::traces {

void SpanTree::add(std::string_view trace, std::string_view span, std::string_view parent, Kind kind, ContentId content,
                   std::string_view conversation) {
  if (span.empty() && parent.empty()) return;  // nothing lies in it, and it in nothing
  const std::uint64_t seed = hash64(trace);
  Entry entry{hash64(span, seed), parent.empty() ? 0 : hash64(parent, seed), content, 0, kind};
  if (!conversation.empty()) {
    const auto next = static_cast<std::uint32_t>(conversations_.size() + 1);
    const auto [number, fresh] = numbers_.try_emplace(std::string(conversation), next);
    if (fresh) conversations_.emplace_back(conversation);
    entry.conversation = number->second;
  }
  entries_.push_back(entry);
}

const SpanTree::Entry* SpanTree::find(std::uint64_t span) const {
  const auto found = std::ranges::lower_bound(entries_, span, {}, &Entry::span);
  return found == entries_.end() || found->span != span ? nullptr : &*found;
}

void SpanTree::close() {
  constexpr int kDeepest = 64;  // broken files may have circles
  std::ranges::stable_sort(entries_, {}, &Entry::span);
  for (const Entry& call : entries_) {
    if (call.kind != Kind::call) continue;
    std::uint32_t conversation = call.conversation;
    const Entry* around = &call;
    for (int depth = 0; depth < kDeepest && around->parent != 0; ++depth) {
      around = find(around->parent);
      if (!around || around->kind == Kind::other || around->span == call.span) break;
      if (around->kind != Kind::call) continue;
      outer_.insert(around->content);
      if (conversation == 0) conversation = around->conversation;
    }
    if (conversation != call.conversation) around_[call.content] = conversation;
  }
  entries_ = {};
  numbers_.clear();
}

const std::string* SpanTree::conversation_around(ContentId call) const {
  const auto found = around_.find(call);
  return found == around_.end() ? nullptr : &conversations_[found->second - 1];
}

}  // namespace llmscape::traces
