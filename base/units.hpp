// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/quantity.hpp"

namespace llmscape {

// One spelling of a unit, prefix included: 10^decimal x 2^binary x times / over SI units. Powers of ten stand apart, so
// that they can shift a number's exponent before it is rounded.
struct Unit {
  std::string symbol;
  int decimal = 0;
  int binary = 0;
  double times = 1;
  double over = 1;
  bool printed = true;  // whether texts that we write may use it
};

// The units of a dimension, its SI unit first; none for `number`.
std::span<const Unit> units_of(Dimension dimension);
// nullptr if there is none of that spelling.
const Unit* find_unit(std::string_view symbol, Dimension dimension);
// The unit that was probably meant by an unknown one, or an empty text: the same letters in another case ("GIB"), a
// usual spelling ("TFLOPS", "Gbps"), a typing mistake.
std::string meant_unit(std::string_view written, Dimension dimension);

}  // namespace llmscape
