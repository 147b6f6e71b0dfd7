// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "traces/kernel_record.hpp"

namespace llmscape::traces {

// The lists of all cases.
inline auto lists_of(KernelTables& t) {
  return std::tie(t.gemm, t.grouped_gemm, t.expert_layer, t.decode_attention, t.prefill_attention, t.mixed_attention,
                  t.latent_attention, t.indexed_attention, t.elementwise, t.collective, t.copy, t.launch);
}

// Cases of one kind whose repeats differ by more than a tenth of the shortest.
struct UnlikeRepeats {
  std::string kind;  // "gemm"
  std::size_t cases = 0;
  std::string widest;  // the case whose repeats differ most
  Seconds shortest, longest;
};

// Sorts each list by case and engine; a case that stands several times gets its mean time.
std::vector<UnlikeRepeats> average_repeats(KernelTables& tables);

}  // namespace llmscape::traces
