// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "traces/prefix_reuse.hpp"

using namespace llmscape;
using namespace llmscape::traces;

namespace {

using Token = std::pair<ContentId, std::int64_t>;

std::vector<Token> tokens_in(const Prompt& prompt) {
  std::vector<Token> tokens;
  for (const Segment& s : prompt)
    for (std::int64_t i = 0; i < s.tokens; ++i) tokens.emplace_back(s.id, s.offset + i);
  return tokens;
}

Prompt random_prompt(RandomStream& random) {
  Prompt prompt;
  for (std::int64_t left = random.integer(1, 6); left > 0; --left)
    prompt.push_back({random.below(3), random.integer(1, 9), random.integer(0, 2) * 3});
  return prompt;
}

}  // namespace

TEST_CASE("the tree finds the longest shared prefix to the token, however the segments are cut") {
  PrefixTree tree;
  CHECK(tree.add({{1, 100}}) == 0);
  CHECK(tree.add({{1, 100}}) == 100);
  CHECK(tree.add({{1, 40}, {2, 10}}) == 40);              // leaves inside an edge
  CHECK(tree.add({{1, 30}, {1, 10, 30}, {2, 5}}) == 45);  // the same tokens in other pieces
  CHECK(tree.add({{1, 120}}) == 100);                     // goes on behind what is known
  CHECK(tree.add({{1, 120}, {3, 1}}) == 120);
  CHECK(tree.add({{2, 10}}) == 0);     // known content, but not at the start
  CHECK(tree.add({{1, 10, 5}}) == 0);  // nor from the middle of it
}

TEST_CASE("on random prompts the tree agrees with a comparison against every earlier prompt") {
  RandomStream random(17);
  PrefixTree tree;
  std::vector<std::vector<Token>> earlier;
  std::int64_t longest_seen = 0;
  for (int round = 0; round < 2000; ++round) {
    const Prompt prompt = random_prompt(random);
    const auto tokens = tokens_in(prompt);
    std::int64_t expected = 0;
    for (const auto& other : earlier) {
      const auto [end, unused] = std::ranges::mismatch(tokens, other);
      expected = std::max<std::int64_t>(expected, end - tokens.begin());
    }
    REQUIRE(tree.add(prompt) == expected);
    longest_seen = std::max(longest_seen, expected);
    earlier.push_back(tokens);
  }
  CHECK(longest_seen > 20);  // the prompts do share something
}

TEST_CASE("only whole blocks count as reused") {
  PrefixReuse reuse(16);
  CHECK(reuse.add({{1, 40}}) == 0);
  CHECK(reuse.add({{1, 40}}) == 2);           // 40 shared tokens, 2 whole blocks
  CHECK(reuse.add({{1, 31}, {2, 50}}) == 1);  // 31 shared
  CHECK(reuse.add({{1, 15}}) == 0);
}

TEST_CASE("a prompt cached to its end computes the block of its last token again if asked") {
  const Prompt prompt = {{1, 32}};
  PrefixReuse all(16), engine(16, true);
  all.add(prompt);
  engine.add(prompt);
  CHECK(all.add(prompt) == 2);
  CHECK(engine.add(prompt) == 1);             // floor(31 / 16)
  CHECK(engine.add({{1, 32}, {2, 1}}) == 2);  // the last token is behind the blocks
}
