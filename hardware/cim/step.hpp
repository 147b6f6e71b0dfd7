// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/cim/chip.hpp"

namespace llmscape::hardware {

// What a step asks of the parts of a chip that computes in memory.
struct CimLoad {
  Bytes weights;             // streamed from memory
  Bytes kv;                  // read from memory and written to it
  Bytes written;             // into macros
  double vector_passes = 0;  // rounds times the vectors of each
  double write_rounds = 0;   // rounds whose macros are written first
  Flops vector;              // attention, norms, rope and the like
  double multiply_adds = 0;  // in the macros
  double additions = 0;      // of partial sums across macros
  Bytes activations;         // in and out of the macros
  CimLoad& operator+=(const CimLoad&);
};

// How long each part is busy, and the step: the longest of them where they overlap, else their sum, and the fill.
struct CimTimes {
  Seconds memory, macros, vector, step;
};

// cost-model 5: t_dram = (W_streamed + KV) / BW; t_lin = vector passes x t_mvm + write rounds x t_write, which rotating
// macros overlap too; t_vec = operations / P_vec.
CimTimes step_times(const CimDevice&, const CimLoad&);

// Dynamic energy: W_streamed (e_dram + e_write) + KV e_dram + MAC e_mac + activations e_sram (cost-model 5); e_write
// also for keys and values that enter macros, and e_vector for each operation of the vector unit and each addition of
// partial sums.
std::array<Joules, kEnergyComponents> step_energy(const CimDevice&, const CimLoad&, const models::Format& weights);

}  // namespace llmscape::hardware
