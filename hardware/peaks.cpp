// SPDX-License-Identifier: Apache-2.0
#include "hardware/peaks.hpp"

namespace llmscape::hardware {

FlopsPerSecond Peaks::peak(const models::Format& weights, const models::Format& activations) const {
  const models::Format& wider = weights.bytes > activations.bytes ? weights : activations;
  if (wider.bytes > 2) return *peak_bf16 / 2;
  const bool integer = wider.name.starts_with("int");
  if (wider.bytes == 0.5 && !integer && peak_fp4) return **peak_fp4;
  const auto& peak_8bit = integer ? peak_int8 : peak_fp8;
  if (wider.bytes <= 1 && peak_8bit) return **peak_8bit;
  return *peak_bf16;
}

bool Peaks::states(const models::Format& operands) const {
  if (operands.bytes > 1) return true;
  const bool integer = operands.name.starts_with("int");
  return (operands.bytes == 0.5 && !integer && peak_fp4) || (integer ? peak_int8 : peak_fp8).has_value();
}

void Peaks::scale_peaks() {
  peak_bf16.value *= clock;
  for (auto* peak : {&peak_fp8, &peak_int8, &peak_fp4})
    if (*peak) (*peak)->value *= clock;
}

}  // namespace llmscape::hardware
