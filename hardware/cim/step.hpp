// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/cim/chip.hpp"

namespace llmscape::hardware {

// What a step asks of the parts of a chip that computes in memory.
struct CimLoad {
  Bytes weights;             // streamed from memory
  Bytes kv;                  // read from memory and written to it
  Bytes spilled;             // activations that the buffer cannot hold, through memory
  Bytes written;             // into macros
  double vector_passes = 0;  // rounds times the vectors of each
  double write_rounds = 0;   // rounds whose macros are written first
  Flops vector;              // attention, norms, rope and the like
  double multiply_adds = 0;  // in the macros
  double weight_bits = 0;    // multiply-adds times the bits of their weights
  double conversions = 0;    // of the macros' sums
  double additions = 0;      // of partial sums across macros
  Bytes activations;         // in and out of the macros
  CimLoad& operator+=(const CimLoad&);
  // Multiply-adds in macros by weights of that width.
  void multiply(double multiply_adds, const models::Format&, const Macro&);
  [[nodiscard]] Bytes traffic() const { return weights + kv + spilled; }
};

// How long each part is busy, and the step: the longest of them where they overlap, else their sum, and the fill.
struct CimTimes {
  Seconds memory, compute, write, vector;
  Seconds macros;  // compute and write: the longer where macros rotate, else the sum
  Seconds step;
};

// cost-model 5: t_dram = (W_streamed + KV + spilled activations) / BW; t_lin = vector passes x t_mvm + write rounds x
// t_write, which rotating macros overlap too; t_vec = operations / P_vec.
CimTimes step_times(const CimDevice&, const CimLoad&);

// Dynamic energy: W_streamed (e_dram + e_write) + KV e_dram + MAC e_mac + conversions e_adc + activations e_sram
// (cost-model 5); e_dram also for activations that the buffer cannot hold, e_write for keys and values that enter
// macros, and e_vector, as part of `compute`, for each operation of the vector unit and each addition of partial sums.
std::array<Joules, kEnergyComponents> step_energy(const CimDevice&, const CimLoad&);

}  // namespace llmscape::hardware
