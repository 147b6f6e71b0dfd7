// SPDX-License-Identifier: Apache-2.0
#include "hardware/operational_intensity.hpp"

#include "hardware/gpu/gpu.hpp"
#include "hardware/roofline.hpp"
#include "hardware/table/table_device.hpp"

namespace llmscape::hardware {

std::optional<double> operational_intensity(const Device& device) {
  if (const auto* gpu = dynamic_cast<const Gpu*>(&device))
    return gpu->peak_bf16.value.si() / gpu->hbm_bandwidth.value.si();
  if (const auto* roofline = dynamic_cast<const Roofline*>(&device))
    return roofline->peak_bf16.value.si() / roofline->memory_bandwidth.value.si();
  const auto* table = dynamic_cast<const TableDevice*>(&device);
  if (table && table->peak_bf16 && table->memory_bandwidth)
    return table->peak_bf16->value.si() / table->memory_bandwidth->value.si();
  return std::nullopt;
}

}  // namespace llmscape::hardware
