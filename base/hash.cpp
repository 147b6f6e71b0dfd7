// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

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
  if (std::endian::native == std::endian::little && bytes.size() == sizeof word) {
    std::memcpy(&word, bytes.data(), sizeof word);
    return word;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i)
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

// The hashes for several seeds. Each waits for its last multiplication most of the time, so that two take little more
// time than one.
template <std::size_t N>
std::array<std::uint64_t, N> hashes(std::string_view bytes, std::array<std::uint64_t, N> seeds) {
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;
  const std::uint64_t length = bytes.size();
  auto& hash = seeds;
  for (std::uint64_t& each : hash) each = mixed(each + kStep);
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const std::uint64_t word = word_of(bytes.substr(0, 8));
    for (std::uint64_t& each : hash) each = mixed(each ^ word) + kStep;
  }
  const std::uint64_t rest = word_of(bytes);
  for (std::uint64_t& each : hash) each = mixed((mixed(each ^ rest) + kStep) ^ length);
  return hash;
}

}  // namespace

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) { return hashes<1>(bytes, {seed})[0]; }

std::string content_hash(std::string_view bytes) {
  const auto [first, second] = hashes<2>(bytes, {1, 2});
  return fmt::format("{:016x}{:016x}", first, second);
}

}  // namespace llmscape
