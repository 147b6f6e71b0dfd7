// SPDX-License-Identifier: Apache-2.0
#include "hardware/cim/macro.hpp"

#include <cmath>

namespace llmscape::hardware {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t active_rows(const Macro& macro) { return *macro.active_rows > 0 ? *macro.active_rows : *macro.rows; }
std::int64_t cells_of(const Macro& macro, const models::Format& weights) {
  return ceil_divide(std::lround(8 * weights.bytes), *macro.cell_bits);
}
std::int64_t input_cycles(const Macro& macro) { return ceil_divide(*macro.input_bits, *macro.bits_per_cycle); }

}  // namespace

std::int64_t weight_columns(const Macro& macro, const models::Format& weights) {
  return *macro.columns / cells_of(macro, weights);
}

std::int64_t vector_cycles(const Macro& macro) {
  return input_cycles(macro) * ceil_divide(*macro.rows, active_rows(macro)) * *macro.columns_per_adc +
         *macro.pipeline_cycles;
}

std::int64_t write_cycles(const Macro& macro) { return *macro.rows * *macro.row_write_cycles; }

Joules conversion_energy(Joules at_8_bits, std::int64_t bits) {
  const auto above = static_cast<double>(bits - 8);
  return at_8_bits * (above <= 0 ? std::exp2(above) : std::pow(4.0, above));
}

double conversions(const Macro& macro, const models::Format& weights) {
  if (*macro.adc_bits == 0) return 0;
  return static_cast<double>(input_cycles(macro) * cells_of(macro, weights)) / static_cast<double>(active_rows(macro));
}

const Fields<Macro>& macro_fields() {
  static const Fields<Macro> fields = [] {
    Fields<Macro> f("cim_macro", "an array of cells that multiplies inputs by the weights it holds");
    f.add("rows", &Macro::rows, "inputs of the array").required().at_least(1).power_of_two();
    f.add("columns", &Macro::columns, "cells across the array").required().at_least(1).power_of_two();
    f.add("cell_bits", &Macro::cell_bits, "weight bits that one cell holds").between(1, 8);
    f.add("input_bits", &Macro::input_bits, "width of an input; wider activations are quantised to it").between(1, 16);
    f.add("bits_per_cycle", &Macro::bits_per_cycle, "input bits that enter in one cycle").between(1, 16);
    f.add("active_rows", &Macro::active_rows, "rows that add in one cycle; 0: all").at_least(0);
    f.add("columns_per_adc", &Macro::columns_per_adc, "columns that take turns at one converter").at_least(1);
    f.add("adc_bits", &Macro::adc_bits, "resolution of the converters; 0: a digital macro").between(0, 16);
    f.add("pipeline_cycles", &Macro::pipeline_cycles, "cycles from the last input bit to the result").at_least(0);
    f.add("row_write_cycles", &Macro::row_write_cycles, "cycles to write one row").at_least(1);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
