// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/fields.hpp"
#include "models/model.hpp"

namespace llmscape::hardware {

// An array of memory cells that multiplies a vector of inputs by the weights it holds. The inputs enter bit by bit. A
// digital macro adds the products in a tree; an analogue one adds them on a wire and reads the sum through a converter.
struct Macro {
  Sourced<std::int64_t> rows;                 // inputs
  Sourced<std::int64_t> columns;              // cells across
  Sourced<std::int64_t> cell_bits{1};         // weight bits that one cell holds
  Sourced<std::int64_t> input_bits{8};        // width of an input
  Sourced<std::int64_t> bits_per_cycle{1};    // input bits that enter at once
  Sourced<std::int64_t> active_rows{0};       // rows that add at once; 0: all of them
  Sourced<std::int64_t> columns_per_adc{1};   // columns that take turns at one converter
  Sourced<std::int64_t> adc_bits{0};          // resolution of the converter; 0: digital
  Sourced<std::int64_t> pipeline_cycles{0};   // from the last input bit to the result
  Sourced<std::int64_t> row_write_cycles{1};  // to write one row
};
const Fields<Macro>& macro_fields();

// Weights that fit side by side: columns over the cells of one weight.
std::int64_t weight_columns(const Macro&, const models::Format& weights);
// Cycles of one vector: ceil(input bits / bits per cycle) ceil(rows / active rows) columns per converter + pipeline
// (cost-model 5, first formula).
std::int64_t vector_cycles(const Macro&);
// Cycles to write the macro full, row after row (cost-model 5).
std::int64_t write_cycles(const Macro&);

// Energy of one conversion at a resolution of `bits`, given that at 8 bits: twofold per bit up to 8, fourfold above,
// where noise rather than the number of steps decides (cost-model 5).
Joules conversion_energy(Joules at_8_bits, std::int64_t bits);
// Conversions of one multiply-add: ceil(input bits / bits per cycle) ceil(weight bits / cell bits) / active rows
// (cost-model 5); none in a digital macro.
double conversions(const Macro&, const models::Format& weights);

}  // namespace llmscape::hardware
