// SPDX-License-Identifier: Apache-2.0
#include "workloads/streams/past_prompts.hpp"

#include <algorithm>
#include <limits>

#include "workloads/streams/prompts.hpp"

namespace llmscape::workloads {
namespace {

constexpr std::size_t kNear = 32;   // prompts are compared around the age drawn ...
constexpr std::size_t kFar = 2048;  // ... and so many looked at before a shorter one is taken
constexpr std::uint32_t kNoText = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void PastPrompts::add(double start, std::uint64_t session, const Past* past, std::int64_t head, const Segment& own) {
  if (added_++ % stride_ != 0) return;
  std::uint32_t last = past && head > 0 ? text_at(*past, head) : kNoText;
  if (last != kNoText) ++texts_[last].users;
  if (own.tokens > 0) {
    std::uint32_t place = static_cast<std::uint32_t>(texts_.size());
    if (free_.empty()) {
      texts_.emplace_back();
    } else {
      place = free_.back();
      free_.pop_back();
    }
    texts_[place] = {own.id, head, last, 1};
    last = place;
  }
  remember({start, session, head + own.tokens, last});
}

void PastPrompts::remember(Past past) {
  past_.push_back(past);
  // No age reaches further back than the largest; around it kFar more may be looked at.
  while (past_.size() > kFar && past_[kFar].start < past.start - largest_age_) {
    forget(past_.front().last);
    past_.pop_front();
  }
  if (past_.size() <= most_) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < past_.size(); ++i) {
    if (i % 2 == 1) forget(past_[i].last);
    else past_[kept++] = past_[i];
  }
  past_.resize(kept);
  stride_ *= 2;
}

const PastPrompts::Past* PastPrompts::find(double start, std::int64_t tokens) const {
  auto later = static_cast<std::size_t>(std::ranges::lower_bound(past_, start, {}, &Past::start) - past_.begin());
  std::size_t earlier = later;  // one behind the next to look at
  const Past *fits = nullptr, *longest = nullptr;
  for (std::size_t seen = 0; seen < (fits ? kNear : kFar); ++seen) {
    const bool has_earlier = earlier > 0, has_later = later < past_.size();
    if (!has_earlier && !has_later) break;
    const bool back = has_earlier && (!has_later || seen % 2 == 0);
    const Past& past = back ? past_[--earlier] : past_[later++];
    if (past.tokens >= tokens && (!fits || past.tokens < fits->tokens)) fits = &past;
    if (!longest || past.tokens > longest->tokens) longest = &past;
  }
  return fits ? fits : longest;
}

Prompt PastPrompts::head_of(const Past& past, std::int64_t tokens) const {
  std::int64_t end = std::min(tokens, past.tokens);
  std::vector<Segment> backwards;
  for (std::uint32_t at = end > 0 ? text_at(past, end) : kNoText; at != kNoText; at = texts_[at].before) {
    backwards.push_back({texts_[at].id, end - texts_[at].begin, 0});
    end = texts_[at].begin;
  }
  Prompt out;
  for (auto text = backwards.rbegin(); text != backwards.rend(); ++text) append(out, *text);
  return out;
}

std::uint32_t PastPrompts::text_at(const Past& past, std::int64_t tokens) const {
  std::uint32_t at = past.last;
  while (texts_[at].begin >= tokens) at = texts_[at].before;
  return at;
}

void PastPrompts::forget(std::uint32_t text) {
  while (text != kNoText && --texts_[text].users == 0) {
    free_.push_back(text);
    text = texts_[text].before;
  }
}

}  // namespace llmscape::workloads
