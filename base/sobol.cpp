// SPDX-License-Identifier: Apache-2.0
#include "base/sobol.hpp"

#include "base/random.hpp"

#include <bit>

namespace llmscape {
namespace {

constexpr int kBits = 32;

// A primitive polynomial over GF(2), its inner coefficients as bits, and the first direction numbers.
struct Polynomial {
  int degree;
  std::uint32_t coefficients;
  std::array<std::uint32_t, 7> first;
};
// new-joe-kuo-6.21201, dimensions 2 to 21; the first dimension is van der Corput's sequence.
constexpr std::array<Polynomial, Sobol::kDimensions - 1> kPolynomials = {{{1, 0, {1}},
                                                                          {2, 1, {1, 3}},
                                                                          {3, 1, {1, 3, 1}},
                                                                          {3, 2, {1, 1, 1}},
                                                                          {4, 1, {1, 1, 3, 3}},
                                                                          {4, 4, {1, 3, 5, 13}},
                                                                          {5, 2, {1, 1, 5, 5, 17}},
                                                                          {5, 4, {1, 1, 5, 5, 5}},
                                                                          {5, 7, {1, 1, 7, 11, 19}},
                                                                          {5, 11, {1, 1, 5, 1, 1}},
                                                                          {5, 13, {1, 1, 1, 3, 11}},
                                                                          {5, 14, {1, 3, 5, 5, 31}},
                                                                          {6, 1, {1, 3, 3, 9, 7, 49}},
                                                                          {6, 13, {1, 1, 1, 15, 21, 21}},
                                                                          {6, 16, {1, 3, 1, 13, 27, 49}},
                                                                          {6, 19, {1, 1, 1, 15, 7, 5}},
                                                                          {6, 22, {1, 3, 1, 15, 13, 25}},
                                                                          {6, 25, {1, 1, 5, 5, 19, 61}},
                                                                          {7, 1, {1, 3, 7, 11, 23, 15, 103}},
                                                                          {7, 4, {1, 3, 7, 13, 13, 15, 69}}}};

using Directions = std::array<std::uint32_t, kBits>;

constexpr std::array<Directions, Sobol::kDimensions> directions() {
  std::array<Directions, Sobol::kDimensions> all{};
  for (int bit = 0; bit < kBits; ++bit) all[0][bit] = 1U << (kBits - 1 - bit);
  for (std::size_t d = 1; d < all.size(); ++d) {
    const Polynomial& p = kPolynomials[d - 1];
    Directions& v = all[d];
    for (int bit = 0; bit < kBits; ++bit) {
      if (bit < p.degree) {
        v[bit] = p.first[bit] << (kBits - 1 - bit);
        continue;
      }
      v[bit] = v[bit - p.degree] ^ (v[bit - p.degree] >> p.degree);
      for (int k = 1; k < p.degree; ++k)
        if ((p.coefficients >> (p.degree - 1 - k)) & 1U) v[bit] ^= v[bit - k];
    }
  }
  return all;
}
constexpr auto kDirections = directions();

std::uint32_t reversed(std::uint32_t x) {
  std::uint32_t out = 0;
  for (int bit = 0; bit < kBits; ++bit) out |= ((x >> bit) & 1U) << (kBits - 1 - bit);
  return out;
}

// Each bit is flipped or not by a hash of the bits above it.
std::uint32_t scrambled(std::uint32_t x, std::uint32_t seed) {
  x = reversed(x);
  x += seed;
  x ^= x * 0x6c50b47cU;
  x ^= x * 0xb82f1e52U;
  x ^= x * 0xc7afe638U;
  x ^= x * 0x8d22f6e6U;
  return reversed(x);
}

}  // namespace

Sobol::Sobol(std::uint64_t seed) {
  RandomStream random(seed);
  for (std::uint32_t& s : seeds_) s = static_cast<std::uint32_t>(random.bits());
}

Sobol::Point Sobol::next() {
  Point point{};
  for (std::size_t d = 0; d < point.size(); ++d) point[d] = scrambled(state_[d], seeds_[d]) * 0x1p-32;
  const int changed = std::countr_one(index_++);  // Gray code order (Antonov and Saleev 1979)
  for (std::size_t d = 0; d < point.size(); ++d) state_[d] ^= kDirections[d][changed];
  return point;
}

}  // namespace llmscape
