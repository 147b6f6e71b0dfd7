// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

namespace llmscape {

// Points that fill the unit cube evenly: a Sobol sequence (direction numbers of Joe and Kuo 2008), scrambled by nested
// permutations of the bits (Owen 1995, hashed as by Laine and Karras 2011). Any prefix of the sequence is spread well.
class Sobol {
 public:
  static constexpr int kDimensions = 21;
  using Point = std::array<double, kDimensions>;  // each in [0, 1)

  explicit Sobol(std::uint64_t seed);
  Point next();

 private:
  std::array<std::uint32_t, kDimensions> seeds_{}, state_{};
  std::uint32_t index_ = 0;
};

}  // namespace llmscape
