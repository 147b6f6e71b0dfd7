// SPDX-License-Identifier: Apache-2.0
#include "traces/span_tree.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"

namespace llmscape::traces {

void SpanTree::add(std::string_view trace, std::string_view span, std::string_view parent, Kind kind, ContentId content,
                   std::string_view conversation) {
  calls_ += kind == Kind::call ? 1 : 0;
  failed_ += kind == Kind::failed ? 1 : 0;
  if (span.empty() && parent.empty()) return;  // nothing lies in it, and it in nothing
  const std::uint64_t seed = hash64(trace);
  Entry entry{span.empty() ? 0 : hash64(span, seed), parent.empty() ? 0 : hash64(parent, seed), content, 0, kind};
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

void SpanTree::pass_over(const Entry& entry) {
  if (!passed_over_.insert(entry.content).second) return;
  --(entry.kind == Kind::failed ? failed_ : calls_);
}

void SpanTree::close() {
  constexpr int kDeepest = 64;  // broken files may have circles
  // Of copies the first that is a call comes first: a span may be exported before its end, without its counts.
  std::ranges::stable_sort(entries_, {}, [](const Entry& e) { return std::pair(e.span, e.kind); });
  std::vector<Entry> spans;
  for (const Entry& entry : entries_) {
    const bool copy = entry.span != 0 && !spans.empty() && spans.back().span == entry.span;
    if (!copy) spans.push_back(entry);
    else if (is_call(entry)) pass_over(entry);
  }
  entries_ = std::move(spans);
  for (const Entry& call : entries_) {
    if (!is_call(call)) continue;
    std::uint32_t conversation = call.conversation;
    const Entry* around = &call;
    bool answered = call.kind == Kind::call;
    for (int depth = 0; depth < kDeepest && around->parent != 0; ++depth) {
      around = find(around->parent);
      if (!around || around->kind == Kind::other || around == &call) break;
      if (!is_call(*around)) continue;
      answered |= around->kind == Kind::call;
      pass_over(call.kind == Kind::failed && answered ? call : *around);
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
