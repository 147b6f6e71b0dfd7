// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <set>
#include <string>

using namespace llmscape;
using llmscape::testing::approx;

TEST_CASE("hashes are the same in every version") {
  CHECK(hash64("") == 6235967106033911276u);
  CHECK(hash64("llmscape") == 16792845231059300806u);
  CHECK(hash64("a text longer than one word", 7) == 9923762850199111458u);
  CHECK(content_hash("") == "6ec85f1f8547bc0cae79f8b366208474");
  CHECK(content_hash("llmscape") == "318a00568b8a51b41d2a16eb69ce9939");
}

TEST_CASE("texts of zeros differ by their length, and texts by seed and order") {
  std::set<std::uint64_t> seen;
  for (std::size_t length = 0; length < 100; ++length) seen.insert(hash64(std::string(length, '\0')));
  CHECK(seen.size() == 100);
  CHECK(hash64("text", 1) != hash64("text", 2));
  CHECK(hash64("12345678abcdefgh") != hash64("abcdefgh12345678"));
}

TEST_CASE("each bit of a text changes each bit of the hash with probability one half") {
  const std::string text = "the quick brown fox jumps";
  int changed = 0, bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      changed += std::popcount(hash64(text) ^ hash64(other));
      bits += 64;
    }
  }
  CHECK(static_cast<double>(changed) / bits == approx(0.5).epsilon(0.02));  // standard error 0.0044
}
