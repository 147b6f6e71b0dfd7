// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "traces/content.hpp"

namespace llmscape::workloads {

// Earlier prompts, by their start, of which each is the head of one before it and a text of its own. As many are
// remembered as can be looked at: those up to the largest age that is drawn, in 32 bytes each, and 24 for each text
// that is left of them. Where they are more than `most`, every second is forgotten, and of those that come one in two,
// in four and so on is remembered: prompts of each age stay.
class PastPrompts {
 public:
  static constexpr std::size_t kMost = 1 << 21;  // some 120 MB
  struct Past {
    double start;
    std::uint64_t session;
    std::int64_t tokens;
    std::uint32_t last;  // its last text
  };

  // `largest_age` in seconds; `most` is at least 8,192.
  explicit PastPrompts(double largest_age, std::size_t most = kMost) : largest_age_(largest_age), most_(most) {}

  // The prompt that `head` tokens of `past` (nullptr: none) and `own` make; starts never decrease. `past` is not valid
  // behind it.
  void add(double start, std::uint64_t session, const Past* past, std::int64_t head, const Segment& own);

  // Of the prompts that started around then, the one whose length is the nearest to `tokens` from above: a context that
  // grows is continued where it has grown to. One of those further away, then a shorter one, where there is none;
  // nullptr where there is no prompt at all.
  [[nodiscard]] const Past* find(double start, std::int64_t tokens) const;

  // Its first tokens, as many as it has at most.
  [[nodiscard]] Prompt head_of(const Past& past, std::int64_t tokens) const;

  [[nodiscard]] std::size_t size() const { return past_.size(); }
  [[nodiscard]] std::size_t texts() const { return texts_.size() - free_.size(); }

 private:
  // A text behind the first `begin` tokens of the prompt that `before` ends. Prompts with a common head share it.
  struct Text {
    ContentId id;
    std::int64_t begin;
    std::uint32_t before;
    std::uint32_t users;  // prompts that it ends and texts behind it
  };

  // The text of the prompt that the token before `tokens` is of.
  [[nodiscard]] std::uint32_t text_at(const Past& past, std::int64_t tokens) const;
  void forget(std::uint32_t text);
  void remember(Past past);

  double largest_age_;
  std::size_t most_;
  std::uint64_t added_ = 0, stride_ = 1;  // one of so many is remembered
  std::deque<Past> past_;
  std::vector<Text> texts_;
  std::vector<std::uint32_t> free_;  // places in texts_
};

}  // namespace llmscape::workloads
