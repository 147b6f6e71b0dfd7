// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/carried_spread.hpp"

#include <array>

namespace llmscape::hardware {
namespace {

// All engines and formats together, latent attention or not: without it, prompts 0.499 and decodes 0.663.
struct CarriedWidth {
  OperatorFamily family;
  double half_width;
};
constexpr std::array kCarriedWidths = {
    CarriedWidth{OperatorFamily::gemm, 0.599}, CarriedWidth{OperatorFamily::grouped_gemm, 0.658},
    CarriedWidth{OperatorFamily::prefill_attention, 0.668}, CarriedWidth{OperatorFamily::decode_attention, 0.681},
    CarriedWidth{OperatorFamily::collective, 0.579}};
constexpr double kMiddle = 0.9;  // of the range

}  // namespace

std::optional<double> carried_half_width(OperatorFamily family) {
  for (const CarriedWidth& width : kCarriedWidths)
    if (width.family == family) return width.half_width;
  return std::nullopt;
}

Spread carried_spread(OperatorFamily family) {
  Spread spread = spread_of(Tag::assumed);
  if (const auto width = carried_half_width(family)) spread.fill({-*width / kMiddle, *width / kMiddle});
  return spread;
}

}  // namespace llmscape::hardware
