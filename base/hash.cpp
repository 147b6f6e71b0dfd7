// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <fmt/format.h>

namespace llmscape {
namespace {

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit of `x` changes every bit of the result.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// Up to eight bytes as a little-endian number, whatever the machine.
std::uint64_t word_of(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

}  // namespace

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;
  std::uint64_t hash = mixed(seed + kStep);
  const std::uint64_t length = bytes.size();
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) hash = mixed(hash ^ word_of(bytes.substr(0, 8))) + kStep;
  hash = mixed(hash ^ word_of(bytes)) + kStep;
  return mixed(hash ^ length);
}

std::string content_hash(std::string_view bytes) {
  return fmt::format("{:016x}{:016x}", hash64(bytes, 1), hash64(bytes, 2));
}

}  // namespace llmscape
